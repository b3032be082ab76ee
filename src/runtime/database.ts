/** Opens DuckDB files with safe settings and without downloads, and quotes names and texts for SQL. */

import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { setMaxListeners } from 'node:events';
import { readdir, realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { totalmem } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { RekapError } from '../errors.ts';

/** An open DuckDB file. Open each file only once per process, because DuckDB doesn't guard against a second time. */
export interface Database {
  readonly connection: DuckDBConnection;
  run(sql: string, values?: DuckDBValue[]): Promise<number>;
  /** Returns the rows of a query as plain objects, with BIGINT as bigint. */
  rows<Row>(sql: string, values?: DuckDBValue[]): Promise<Row[]>;
  /** Opens another connection to the same file for concurrent statements. It is closed with this one. */
  beside(): Promise<Database>;
  /** Closes all connections and the instance, which releases the lock on the file. */
  close(): void;
}

/** Returns the folder below that of a new snapshot into which DuckDB writes what doesn't fit into memory, and which it removes. */
export function spillFolder(folder: string): string {
  return join(folder, 'spill');
}

/** A batch job must never use the network by itself. */
const noDownloads = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' } as const;

export interface OpenOptions {
  readonly readOnly?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** Aborts the current statement and all later ones. */
  readonly signal?: AbortSignal | undefined;
}

/** Memory limit of DuckDB in bytes: more than most figures need, but at most half of the machine. */
export const maxMemory = Math.min(
  2 * 1024 ** 3,
  totalmem() / 2,
  (process.constrainedMemory() || Number.POSITIVE_INFINITY) / 2,
);

/**
 * Finds write-ahead logs next to a DuckDB file. DuckDB always replays them, even in read-only mode. A published file has none, so a log isn't
 * part of the published data.
 */
export async function findLogs(file: string): Promise<string[]> {
  // DuckDB resolves links before it searches for a log.
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
 * @throws `database-held` if another program has the file open for writing; `warehouse` if a log exists next to a read-only file; otherwise
 *   DuckDB's own error.
 */
export async function openDatabase(file: string, options: OpenOptions = {}): Promise<Database> {
  const settings = {
    ...noDownloads,
    ...(options.readOnly === true ? { access_mode: 'READ_ONLY' } : {}),
    ...options.settings,
  };
  // resolve makes a name such as md:x a path, not a MotherDuck database.
  const path = file === ':memory:' ? file : resolve(file);
  if (options.readOnly === true) await refuseLogs(file);
  const instance = await orHeld(file, () => duckdb().DuckDBInstance.create(path, settings));
  const { signal } = options;
  // Each connection adds a listener. Node warns about a leak above ten.
  if (signal !== undefined) setMaxListeners(0, signal);
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
    // A log that was created in the meantime may have been applied.
    if (options.readOnly === true) await refuseLogs(file);
    return await connect();
  } catch (error) {
    close();
    throw error;
  }
}

/** Attaches `file` as `name`, read-only. Throws as `openDatabase` does. */
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

/** Returns which process has locked the file, such as "process 4711"; null for any other error. */
export function holderOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (!/could not set lock|conflicting lock|being used by another process/i.test(error.message)) return null;
  const id = /\(PID (\d+)\)/.exec(error.message)?.[1];
  return id === undefined ? 'another process' : `process ${id}`;
}

export interface DescribedColumn {
  readonly column_name: string;
  readonly column_type: string;
}

export async function tableColumns(
  database: Database,
  attached: string | null,
  table: string,
): Promise<DescribedColumn[]> {
  const file = attached === null ? 'current_database()' : quoteText(attached);
  // Avoids duckdb_columns(), which binds every view of every file.
  const found = await database.rows(
    `SELECT 1 FROM duckdb_tables() WHERE database_name = ${file} AND table_name = ${quoteText(table)}`,
  );
  if (found.length === 0) return [];
  // Without the schema, DESCRIBE "variables" and some other names list something else.
  const schema = attached === null ? 'main' : `${quoteIdentifier(attached)}.main`;
  return database.rows<DescribedColumn>(`DESCRIBE ${schema}.${quoteIdentifier(table)}`);
}

export interface DefinedObject {
  readonly kind: 'table' | 'view' | 'macro' | 'type' | 'index' | 'sequence' | 'schema';
  readonly name: string;
  readonly definition: string;
  readonly comment: string | null;
}

/** What an open file defines. Names outside the schema main have a schema prefix. */
export interface Definitions {
  readonly objects: readonly DefinedObject[];
  /** The comments of the columns of each table and view, as one text. */
  readonly comments: ReadonlyMap<string, string>;
}

const ownObjects = 'WHERE database_name = current_database() AND NOT internal';

function nameSql(name: string): string {
  return `concat_ws('.', nullif(schema_name, 'main'), ${name})`;
}

/** Returns all objects that the open file defines, without running or binding a view. */
export async function readObjects(database: Database): Promise<DefinedObject[]> {
  const found = await database.rows<DefinedObject>(
    `SELECT 'table' AS kind, ${nameSql('table_name')} AS name, sql AS definition, comment FROM duckdb_tables() ${ownObjects}
     UNION ALL SELECT 'view', ${nameSql('view_name')}, sql, comment FROM duckdb_views() ${ownObjects}
     UNION ALL SELECT DISTINCT 'macro', ${nameSql('function_name')}, '', NULL FROM duckdb_functions() ${ownObjects}
     UNION ALL SELECT 'type', ${nameSql('type_name')}, '', NULL FROM duckdb_types() ${ownObjects}
     UNION ALL SELECT 'index', ${nameSql('index_name')}, '', NULL FROM duckdb_indexes() WHERE database_name = current_database()
     UNION ALL SELECT 'sequence', ${nameSql('sequence_name')}, '', NULL FROM duckdb_sequences() WHERE database_name = current_database()
     UNION ALL SELECT 'schema', schema_name, '', NULL FROM duckdb_schemas() ${ownObjects} AND schema_name <> 'main'
     ORDER BY ALL`,
  );
  // DuckDB writes the names of an EXCLUDE in no fixed order.
  const sorted = (_: string, names: string): string => `EXCLUDE (${names.split(', ').toSorted().join(', ')})`;
  return found.map((one) => ({ ...one, definition: one.definition.replaceAll(/EXCLUDE \(([^()]*)\)/g, sorted) }));
}

/** Returns the comments of all columns. DuckDB binds every view for that. */
export async function readComments(database: Database): Promise<Map<string, string>> {
  const found = await database.rows<{ name: string; comments: string }>(
    `SELECT ${nameSql('table_name')} AS name, list(comment ORDER BY column_index)::VARCHAR AS comments
     FROM duckdb_columns() ${ownObjects} GROUP BY ALL`,
  );
  return new Map(found.map(({ name, comments }) => [name, comments]));
}

/** Quotes a name as an SQL identifier. Throws for NUL, which SQL can't contain. */
export function quoteIdentifier(name: string): string {
  if (name.includes('\0')) throw new RangeError('an SQL identifier cannot hold a NUL character');
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text as an SQL literal. Throws for NUL, which SQL can't contain. */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw new RangeError('an SQL literal cannot hold a NUL character');
  return `'${text.replaceAll("'", "''")}'`;
}

/** Returns SQL that reads a Parquet file. By default, DuckDB would add columns for folders in its path such as year=2024. */
export function readParquetSql(file: string): string {
  return `read_parquet(${quoteText(file)}, hive_partitioning = false)`;
}

export function columnList(names: readonly string[]): string {
  return names.map(quoteIdentifier).join(', ');
}

/** Returns SQL of a text that depends on the rows but not on their order: their number and two sums of hashes. */
export function contentSql(relation: string): string {
  return `(SELECT concat_ws(' ', count(*), sum(hash(r)), bit_xor(hash(r))) FROM ${relation} r)`;
}

type DuckDB = typeof import('@duckdb/node-api');

const require = createRequire(import.meta.url);
let loaded: DuckDB | null = null;

/**
 * Loads DuckDB's client on first use. It uses require, because import reads each file of a CommonJS package twice to find its exports, which
 * costs 0.1 s per command.
 */
export function duckdb(): DuckDB {
  return (loaded ??= keepValues(require('@duckdb/node-api') as DuckDB));
}

/** Fixes two losses in the client: fields of a struct with names like __proto__, and U+FEFF at the start of a text. */
function keepValues(client: DuckDB): DuckDB {
  const accessors = require('@duckdb/node-api/lib/vectors/dataAccessors') as { textDecoder: unknown };
  accessors.textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const { DuckDBStructValue, DuckDBStructVector } = client;
  DuckDBStructVector.prototype.getItem = function (row) {
    if (!this.isItemValid(row)) return null;
    const entries = Object.create(null) as Record<string, DuckDBValue>;
    for (const [place, name] of this.type.entryNames.entries()) entries[name] = this.getItemValue(row, place);
    return new DuckDBStructValue(entries);
  };
  return client;
}
