/** Opens a published DuckDB file for reading, so that no statement, view or macro in it reaches anything else. */

import {
  type Database,
  mostMemory,
  openDatabase,
  quoteIdentifier,
  quoteText,
  readParquetSql,
} from '../runtime/database.ts';
import { messageOf, RekapError } from '../errors.ts';

/** What to do about a published file that is not as it was. */
export const verifyHint = 'To find the damage and its repair, run "rekap snapshots verify".';

/** A division by 0 gives NULL, as in the views. DuckDB would give Infinity, which no file of numbers holds. */
const nullForZeroDivisor = { ieee_floating_point_ops: 'false' } as const;

/** Bounds of what is read. */
export interface ReadBounds {
  /** Bytes that tables, sorts and joins may take. */
  readonly memory?: number;
  /** Ends the statement that is running; its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Parquet files by the names of the tables and views whose rows they hold. Statements read the files, and no view is computed again. */
  readonly parquet?: ReadonlyMap<string, string>;
}

/**
 * Opens the file read-only and sealed. A snapshot may come from a bucket that anyone can write to, and a view can hold `read_text('/path')`.
 *
 * @throws `database-held` where another program writes to the file, RekapError where it cannot be opened.
 */
export async function openPublished(
  file: string,
  { memory = mostMemory, parquet = new Map(), ...signal }: ReadBounds = {},
): Promise<Database> {
  const database = await openReadOnly(file, signal);
  try {
    // DuckDB looks for a name among temporary views first.
    for (const [name, path] of parquet)
      await database.run(`CREATE TEMP VIEW ${quoteIdentifier(name)} AS FROM ${readParquetSql(path)}`);
    await seal(database, memory, [...parquet.values()]);
    return namingDamage(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Takes the file system, extensions and settings away from an open database. Without external access alone, DuckDB would still let a
 * statement write to the file itself and to the log beside it. What does not fit into memory has no folder to go to.
 *
 * @param files Files that statements may still read. They could also write to them, so a caller that names files must run no SQL from outside.
 */
export async function seal(database: Database, memory = mostMemory, files: readonly string[] = []): Promise<void> {
  const paths = files.map((file) => quoteText(file)).join(', ');
  await database.run(
    `SET memory_limit = '${Math.floor(memory / 1024)}KiB'; SET temp_directory = ''; SET allowed_paths = [${paths}];
     SET enable_external_access = false; ${files.length === 0 ? "SET disabled_filesystems = 'LocalFileSystem';" : ''} SET lock_configuration = true`,
  );
}

/** The same database; what it throws of a damaged file names the file and what to do. */
function namingDamage(database: Database, file: string): Database {
  const read = async <Value>(act: () => Promise<Value>): Promise<Value> => {
    try {
      return await act();
    } catch (error) {
      throw explainDamage(error, file) ?? error;
    }
  };
  return {
    ...database,
    run: (sql, values) => read(() => database.run(sql, values)),
    rows: (sql, values) => read(() => database.rows(sql, values)),
    beside: async () => namingDamage(await database.beside(), file),
  };
}

/** The error for a file whose bytes DuckDB could not read or make sense of; null for any other error. */
export function explainDamage(error: unknown, file: string, next = verifyHint): RekapError | null {
  if (!(error instanceof Error) || !/^(IO|Serialization|Internal|Fatal) Error/i.test(error.message)) return null;
  // That is what a sealed database says of every other file.
  if (/disabled/i.test(error.message)) return null;
  return new RekapError('warehouse', `${file} cannot be read: ${error.message.split('\n')[0]}`, next, { cause: error });
}

async function openReadOnly(file: string, signal: Pick<ReadBounds, 'signal'>): Promise<Database> {
  try {
    return await openDatabase(file, { readOnly: true, settings: nullForZeroDivisor, ...signal });
  } catch (error) {
    if (error instanceof RekapError) throw error;
    const what = `${file} cannot be opened: ${messageOf(error).split('\n')[0]}`;
    throw new RekapError('warehouse', what, verifyHint, { cause: error });
  }
}
