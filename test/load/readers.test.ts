/** Parquet files are read by others than DuckDB: hyparquet here, and Python's readers where `make readers` has them. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { expect, it } from 'vitest';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { exported, load, user, voter } from './support.ts';

const hostile = { regency: "KOTA \u{1F5F3} 'é'\n", dpt_male: 'x' };

it('hyparquet reads every file: the same rows, numbers as numbers, and the words about them', async () => {
  const { folder, rows } = await load({ voters: [[voter(), voter(hostile), 5]], voting_rights_users: [[user()]] });
  for (const table of exported) {
    const bytes = await readFile(join(folder, parquetPath(table)));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const read = await parquetReadObjects({ file, compressors });
    const inDatabase = await rows(`FROM ${table}`);
    const sorted = (all: readonly unknown[]): string[] =>
      all
        .map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)))
        .toSorted();
    expect(sorted(read), table).toEqual(sorted(inDatabase));
    const words = parquetMetadata(file).key_value_metadata ?? [];
    expect(words.find(({ key }) => key === 'rekap.table')?.value).toBe(table);
  }
});
