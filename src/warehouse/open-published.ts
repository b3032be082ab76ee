/** Opens a published DuckDB file for reading, so that statements, views and macros can't access anything else. */

import {
  type Database,
  maxMemory,
  openDatabase,
  quoteIdentifier,
  quoteText,
  readParquetSql,
} from '../runtime/database.ts';
import { messageOf, RekapError } from '../errors.ts';
import { type Manifest, parquetPath } from './snapshot-format.ts';

export const verifyHint = 'To find the damage and its repair, run "rekap snapshots verify".';

/** Division by 0 returns NULL, as in the views. DuckDB's default is Infinity, which JSON can't represent. */
const nullForZeroDivisor = { ieee_floating_point_ops: 'false' } as const;

export interface ReadBounds {
  readonly memory?: number;
  /** Interrupts the running statement. Its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Folder for what doesn't fit into memory. By default, statements can't write anything. */
  readonly spill?: string;
  /** Parquet files by table or view. Statements read the files instead of computing views again. */
  readonly parquet?: ReadonlyMap<string, string>;
}

/**
 * Returns the memory limit in bytes for reading all tables of a snapshot. DuckDB keeps the blocks that it has read, up to this limit. More is
 * only necessary to count many changed records, and for long violations and quarantined records, because neither can spill.
 */
export function memoryToRead({ datasets, files }: Pick<Manifest, 'datasets' | 'files'>): number {
  const changed = Object.values(datasets).flatMap(({ changes }) => Object.values(changes));
  const notes = files.filter(({ path }) => path === parquetPath('violations') || path === parquetPath('quarantine'));
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  return Math.min(maxMemory, Math.max(384e6, sum(changed) * 256, sum(notes.map(({ bytes }) => bytes)) * 64));
}

/**
 * Opens the file read-only and sealed. A snapshot may come from an untrusted bucket, and a view can contain `read_text('/path')`.
 * @throws `database-held` if another program writes to the file, RekapError if it can't be opened.
 */
export async function openPublished(
  file: string,
  { memory = maxMemory, parquet = new Map(), spill, ...signal }: ReadBounds = {},
): Promise<Database> {
  const database = await openReadOnly(file, signal);
  try {
    for (const [name, path] of parquet)
      await database.run(`CREATE TEMP VIEW ${quoteIdentifier(name)} AS FROM ${readParquetSql(path)}`);
    await seal(database, { memory, files: [...parquet.values()], ...(spill !== undefined && { spill }) });
    return nameDamagedFile(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
}

interface SealOptions {
  readonly memory?: number;
  /**
   * Files that statements may read and write, in addition to the open database. If there are none, the database is read-only too. Callers that pass
   * files must only run queries.
   */
  readonly files?: readonly string[];
  /** Without it, no folder is left to spill to. */
  readonly spill?: string;
  /** Settings that may still change. */
  readonly settings?: readonly string[];
}

/** Disables the file system, extensions and settings of an open database, and makes results independent of the machine's time zone. */
export async function seal(
  database: Database,
  { memory = maxMemory, files = [], spill = '', settings = [] }: SealOptions = {},
): Promise<void> {
  const list = (texts: readonly string[]): string => `[${texts.map(quoteText).join(', ')}]`;
  await database.run(
    `SET memory_limit = '${Math.floor(memory / 1024)}KiB'; SET temp_directory = ${quoteText(spill)}; SET TimeZone = 'UTC';
     SET allowed_paths = ${list(files)}; SET allowed_configs = ${list(settings)}; SET enable_external_access = false;
     ${files.length === 0 ? "SET disabled_filesystems = 'LocalFileSystem';" : ''} SET lock_configuration = true`,
  );
}

/** Wraps a database so that errors about a damaged file name the file and the next step. */
function nameDamagedFile(database: Database, file: string): Database {
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
    beside: async () => nameDamagedFile(await database.beside(), file),
  };
}

/** Returns the error for a file that DuckDB couldn't read. Null for other errors. */
export function explainDamage(error: unknown, file: string, next = verifyHint): RekapError | null {
  if (!(error instanceof Error) || !/^(IO|Serialization|Internal|Fatal) Error/i.test(error.message)) return null;
  // A sealed database reports this for every other file.
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
