/** Opens a snapshot's database so that no statement whatever reaches a file: neither this one, nor the log beside it, nor any other. */

import { openDatabase, type Database } from '../duckdb/database.ts';
import { RekapError } from '../errors.ts';

export interface SandboxOptions {
  /** Bytes that DuckDB may take for tables, sorts and joins. */
  readonly memory: number;
  readonly signal?: AbortSignal;
}

/**
 * The database, open for reading only. Without external access alone DuckDB would still let a statement write to the file itself and to the
 * log beside it; without a file system nothing can be opened any more. What does not fit into memory has no folder to go to.
 *
 * @throws `database-held` where another program writes to the file, RekapError where it cannot be opened.
 */
export async function openSandbox(databasePath: string, { memory, signal }: SandboxOptions): Promise<Database> {
  const database = await openReadOnly(databasePath, signal);
  try {
    await database.run(
      `SET memory_limit = '${Math.floor(memory / 1024)}KiB'; SET temp_directory = ''; SET enable_external_access = false;
       SET disabled_filesystems = 'LocalFileSystem'; SET lock_configuration = true`,
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

async function openReadOnly(databasePath: string, signal: AbortSignal | undefined): Promise<Database> {
  try {
    return await openDatabase(databasePath, { readOnly: true, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (error instanceof RekapError) throw error;
    throw new RekapError(
      'warehouse',
      `${databasePath} cannot be opened: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
      '"rekap snapshots verify" tells what is damaged.',
      { cause: error },
    );
  }
}
