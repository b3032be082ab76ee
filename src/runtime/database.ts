/** Opens DuckDB files the one way rekap opens them, and quotes what goes into SQL: no downloads, settings on purpose, closed completely. */

import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { readdir, realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { totalmem } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { RekapError } from '../errors.ts';

/** An open DuckDB file. One at a time per file and process: DuckDB does not guard against a second. */
export interface Database {
  readonly connection: DuckDBConnection;
  /** Runs one or several statements; gives the number of rows that the last one changed or wrote. */
  run(sql: string, values?: DuckDBValue[]): Promise<number>;
  /** The rows of a query as plain objects: BIGINT as bigint, everything else as DuckDB's client gives it. */
  rows<Row>(sql: string, values?: DuckDBValue[]): Promise<Row[]>;
  /** Another connection to the same file, for a statement that is to run at the same time; closed with this one. */
  beside(): Promise<Database>;
  /** Closes every connection and the instance; only then is the file's lock gone. */
  close(): void;
}

/** Settings of every DuckDB: a batch job must never reach for the network by itself. */
const noDownloads = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' } as const;

export interface OpenOptions {
  readonly readOnly?: boolean;
  /** DuckDB settings by name, over those that rekap always sets. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Ends the statement that is running, which fails, and every one that follows with its reason. */
  readonly signal?: AbortSignal;
}

/** Bytes of memory that a DuckDB may take: far more than most figures need, and not so much that a machine is brought to its knees. */
export const mostMemory = Math.min(
  2 * 1024 ** 3,
  totalmem() / 2,
  (process.constrainedMemory() || Number.POSITIVE_INFINITY) / 2,
);

/**
 * The logs beside a DuckDB file. DuckDB replays them whenever it opens the file, also for reading only, and has no setting against it: a
 * published file has none, so whatever stands there is not what was published.
 */
export async function findLogs(file: string): Promise<string[]> {
  // DuckDB follows links before it looks for a log.
  const real = await realpath(file).catch(() => resolve(file));
  const names = await readdir(dirname(real)).catch(() => []);
  return names.filter((name) => name.startsWith(`${basename(real)}.wal`)).toSorted();
}

async function refuseLogs(file: string): Promise<void> {
  const [log] = await findLogs(file);
  if (log === undefined) return;
  throw new RekapError(
    'warehouse',
    `${join(dirname(file), log)} exists next to the database file, and DuckDB would apply it to the published figures.`,
    'To find all files that do not belong to the snapshot, and the repair, run "rekap snapshots verify".',
  );
}

/**
 * Opens `file`, or a database in memory for ':memory:'.
 *
 * @throws `database-held` where another program has the file open for writing, RekapError where a log lies beside a file that is to
 *   be opened for reading only; else DuckDB's own error.
 */
export async function openDatabase(file: string, options: OpenOptions = {}): Promise<Database> {
  const settings = {
    ...noDownloads,
    ...(options.readOnly === true ? { access_mode: 'READ_ONLY' } : {}),
    ...options.settings,
  };
  // A name such as md:x is a path here, and no service of DuckDB's makers.
  const path = file === ':memory:' ? file : resolve(file);
  if (options.readOnly === true) await refuseLogs(file);
  const instance = await orHeld(file, () => duckdb().DuckDBInstance.create(path, settings));
  const { signal } = options;
  const ends: (() => void)[] = [];
  const close = (): void => {
    for (const end of ends) end();
    instance.closeSync();
  };
  const connect = async (): Promise<Database> => {
    const connection = await instance.connect();
    const interrupt = (): void => connection.interrupt();
    signal?.addEventListener('abort', interrupt, { once: true });
    ends.push(() => {
      signal?.removeEventListener('abort', interrupt);
      connection.closeSync();
    });
    return {
      connection,
      async run(sql, values) {
        signal?.throwIfAborted();
        return (await connection.run(sql, values)).rowsChanged;
      },
      async rows<Row>(sql: string, values?: DuckDBValue[]) {
        signal?.throwIfAborted();
        const reader = await connection.runAndReadAll(sql, values);
        return reader.getRowObjectsJS() as Row[];
      },
      beside: connect,
      close,
    };
  };
  try {
    // One that came in between may be in what was opened.
    if (options.readOnly === true) await refuseLogs(file);
    return await connect();
  } catch (error) {
    close();
    throw error;
  }
}

/** Attaches `file` under `name`, for reading only. Fails as `openDatabase` does. */
export async function attachReadOnly(database: Database, file: string, name: string): Promise<void> {
  await refuseLogs(file);
  await orHeld(file, () => database.run(`ATTACH ${quoteText(resolve(file))} AS ${quoteIdentifier(name)} (READ_ONLY)`));
  await refuseLogs(file);
}

async function orHeld<Value>(file: string, open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    const holder = holderOf(error);
    if (holder === null) throw error;
    throw new RekapError(
      'database-held',
      `${file} is open for writing in ${holder}.`,
      'Close it there. To read it in DuckDB at the same time as others, use duckdb -readonly.',
      { cause: error },
    );
  }
}

/** Who holds the file that DuckDB could not lock, such as "process 4711"; null for any other error. */
export function holderOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (!/could not set lock|conflicting lock|being used by another process/i.test(error.message)) return null;
  const id = /\(PID (\d+)\)/.exec(error.message)?.[1];
  return id === undefined ? 'another process' : `process ${id}`;
}

/** A column as DuckDB describes it. */
export interface DescribedColumn {
  readonly column_name: string;
  readonly column_type: string;
}

/**
 * The columns of a table, in their order; none where the file has no such table.
 *
 * @param attached Name of the attached database that holds the table; null for the open file itself.
 */
export async function tableColumns(
  database: Database,
  attached: string | null,
  table: string,
): Promise<DescribedColumn[]> {
  const file = attached === null ? 'current_database()' : quoteText(attached);
  // Not from duckdb_columns(): it binds every view of every file before it says what one table has.
  const found = await database.rows(
    `SELECT 1 FROM duckdb_tables() WHERE database_name = ${file} AND table_name = ${quoteText(table)}`,
  );
  if (found.length === 0) return [];
  const prefix = attached === null ? '' : `${quoteIdentifier(attached)}.`;
  return database.rows<DescribedColumn>(`DESCRIBE ${prefix}${quoteIdentifier(table)}`);
}

/** Something that the open file defines. */
interface DefinedObject {
  readonly kind: 'table' | 'view' | 'macro' | 'type' | 'index' | 'sequence' | 'schema';
  readonly name: string;
  /** The CREATE statement and the comments of a table or view; empty for the rest. */
  readonly definition: string;
}

/** Everything that the open file defines. A name outside the schema main has its schema before it. */
export async function readDefinitions(database: Database): Promise<DefinedObject[]> {
  const own = 'WHERE database_name = current_database() AND NOT internal';
  const nameOf = (name: string): string => `concat_ws('.', nullif(schema_name, 'main'), ${name})`;
  const found = await database.rows<DefinedObject>(
    `WITH comments AS (
       SELECT schema_name, table_name AS name, list(comment ORDER BY column_index)::VARCHAR AS text FROM duckdb_columns() ${own} GROUP BY ALL
     ), relations AS (
       SELECT 'table' AS kind, schema_name, table_name AS name, sql, comment FROM duckdb_tables() ${own}
       UNION ALL SELECT 'view', schema_name, view_name, sql, comment FROM duckdb_views() ${own}
     )
     SELECT kind, ${nameOf('name')} AS name, concat_ws(' ', sql, comment, text) AS definition
       FROM relations LEFT JOIN comments USING (schema_name, name)
     UNION ALL SELECT DISTINCT 'macro', ${nameOf('function_name')}, '' FROM duckdb_functions() ${own}
     UNION ALL SELECT 'type', ${nameOf('type_name')}, '' FROM duckdb_types() ${own}
     UNION ALL SELECT 'index', ${nameOf('index_name')}, '' FROM duckdb_indexes() WHERE database_name = current_database()
     UNION ALL SELECT 'sequence', ${nameOf('sequence_name')}, '' FROM duckdb_sequences() WHERE database_name = current_database()
     UNION ALL SELECT 'schema', schema_name, '' FROM duckdb_schemas() ${own} AND schema_name <> 'main'
     ORDER BY ALL`,
  );
  // DuckDB keeps the names of an EXCLUDE in a hash table, and writes them in any order.
  const sorted = (_: string, names: string): string => `EXCLUDE (${names.split(', ').toSorted().join(', ')})`;
  return found.map((one) => ({ ...one, definition: one.definition.replaceAll(/EXCLUDE \(([^()]*)\)/g, sorted) }));
}

/** A name as an SQL identifier. NUL, which no SQL can hold, is refused. */
export function quoteIdentifier(name: string): string {
  if (name.includes('\0')) throw new RangeError('an SQL identifier cannot hold a NUL character');
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as an SQL literal. NUL, which no SQL literal can hold, is refused. */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw new RangeError('an SQL literal cannot hold a NUL character');
  return `'${text.replaceAll("'", "''")}'`;
}

/** SQL of a Parquet file as a table. DuckDB would else make columns of folders in its path that are called year=2024. */
export function readParquetSql(file: string): string {
  return `read_parquet(${quoteText(file)}, hive_partitioning = false)`;
}

/** `"a", "b"` for a list of column names. */
export function columnList(names: readonly string[]): string {
  return names.map(quoteIdentifier).join(', ');
}

/** SQL of a text that is the same for the same rows in any order: their number and two sums over hashes of theirs. */
export function contentSql(relation: string): string {
  return `(SELECT concat_ws(' ', count(*), sum(hash(r)), bit_xor(hash(r))) FROM ${relation} r)`;
}

type DuckDB = typeof import('@duckdb/node-api');

const require = createRequire(import.meta.url);
let loaded: DuckDB | null = null;

/**
 * DuckDB's client, loaded when it is first needed. It is required, not imported: Node reads each file of such a package twice for an
 * import, in search of the names it exports, which costs every command 0.1 s.
 */
export function duckdb(): DuckDB {
  return (loaded ??= keepNames(require('@duckdb/node-api') as DuckDB));
}

/** The client reads a struct into a plain object, which would lose an entry called __proto__. */
function keepNames(client: DuckDB): DuckDB {
  const { DuckDBStructValue, DuckDBStructVector } = client;
  DuckDBStructVector.prototype.getItem = function (row) {
    if (!this.isItemValid(row)) return null;
    const entries = Object.create(null) as Record<string, DuckDBValue>;
    for (const [place, name] of this.type.entryNames.entries()) entries[name] = this.getItemValue(row, place);
    return new DuckDBStructValue(entries);
  };
  return client;
}
