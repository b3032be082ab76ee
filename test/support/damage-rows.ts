/** Damages the block of a DuckDB file that holds the last rows of a table, as a failing disk would. */

import { openDatabase, quoteText } from '../../src/runtime/database.ts';
import { alterFile } from './alter-file.ts';

/** DuckDB's file begins with three headers of 4 kB; blocks of 256 kB follow. */
const blocksBegin = 3 * 4096;
const blockBytes = 262_144;

/** The table must be so large that its first rows lie in another block. */
export async function damageLastRows(file: string, table: string): Promise<void> {
  const database = await openDatabase(file, { readOnly: true });
  const [last] = await database.rows<{ block: bigint }>(
    `SELECT block_id AS block FROM pragma_storage_info(${quoteText(table)}) WHERE block_id >= 0
     ORDER BY row_group_id DESC, start DESC, block_id DESC LIMIT 1`,
  );
  database.close();
  await alterFile(file, (bytes) => {
    const middle = blocksBegin + Number(last!.block) * blockBytes + blockBytes / 2;
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 0xff, middle);
    return bytes;
  });
}
