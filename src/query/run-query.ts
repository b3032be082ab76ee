/** Runs one reading SQL statement on a snapshot, in a database that can neither write nor reach outside itself. */

import type { DuckDBPreparedStatement, DuckDBResult, DuckDBValueConverter, JS } from '@duckdb/node-api';
import { mostMemory, openDatabase, type Database } from '../duckdb/database.ts';
import { duckdb } from '../duckdb/duckdb.ts';
import { whyDiskIsFull } from '../warehouse/file-errors.ts';
import { quoteText } from '../duckdb/sql-text.ts';
import { DatabaseHeldError, QueryError, WarehouseError } from '../errors.ts';
import { beyondBigint, narrowed, whichBeyond } from './narrow.ts';
import type { QueryResult, ResultColumn, ResultValue } from './query-result.ts';
import { writeAside } from './write-aside.ts';

/** Types whose JavaScript form loses digits, has bounds of its own or does not say what it is; lists and structs may hold some. */
const exactTypes = /^(DECIMAL\(\d+,\d+\)|DATE|TIME[A-Z_ ]*|INTERVAL|BIT|BLOB)$/;

const exactValue: DuckDBValueConverter<ResultValue> = (value, type, converter) =>
  exactTypes.test(String(type))
    ? (value as ResultValue)
    : duckdb().JSDuckDBValueConverter(value, type, converter as DuckDBValueConverter<JS>);

/** Whether a statement only reads: SELECT and what DuckDB takes for one, such as DESCRIBE, and EXPLAIN. */
function isReading({ statementType }: DuckDBPreparedStatement): boolean {
  const { SELECT, EXPLAIN } = duckdb().StatementType;
  return statementType === SELECT || statementType === EXPLAIN;
}

/** Bounds of a query. */
export interface QueryBounds {
  /** Bytes that it may take for tables, sorts and joins. */
  readonly memory?: number;
  /** Ends the query; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/**
 * Opens the snapshot's database, runs `sql`, and hands its result to `use`.
 *
 * @throws QueryError where the SQL is not one reading statement, DuckDB refuses it, or it needs more memory.
 */
export async function runQuery<Value>(
  databasePath: string,
  sql: string,
  use: (result: QueryResult) => Promise<Value>,
  bounds: QueryBounds = {},
): Promise<Value> {
  return withSandbox(databasePath, [], bounds, async (database) => {
    const statement = await prepareReading(database, sql);
    const result = await orQueryError(() => statement.stream());
    return orQueryError(() => use(asQueryResult(result)));
  });
}

/** A result of DuckDB's as this folder's writers take it. */
export function asQueryResult(result: DuckDBResult): QueryResult {
  return { columns: columnsOf(result), groups: () => result.yieldConvertedRows(exactValue) };
}

/**
 * Writes the result of `sql` to a Parquet file at `target`: aside first, then renamed. Sums, which DuckDB keeps in 128 bits, become
 * BIGINT, for Parquet would have them as DOUBLE. Gives the number of rows.
 *
 * @throws QueryError as `runQuery` does, and where such a number has no place in 64 bits.
 */
export async function queryToParquet(
  databasePath: string,
  sql: string,
  target: string,
  bounds: QueryBounds = {},
): Promise<number> {
  return writeAside(target, (aside) =>
    withSandbox(databasePath, [aside], bounds, async (database) => {
      const statement = await prepareReading(database, sql);
      const result = await copyTo(database, { sql, columns: columnsOfStatement(statement) }, aside);
      return result.rowsChanged;
    }),
  );
}

/**
 * COPY takes a query in parentheses, where a closing semicolon, a comment after it, or SHOW and its like do not fit: what DuckDB
 * cannot parse is tried again without the tail, and as a subquery.
 */
async function copyTo(
  database: Database,
  { sql, columns }: { readonly sql: string; readonly columns: readonly ResultColumn[] },
  target: string,
) {
  const bare = sql.trim().replace(/(?:\s*;)+$/, '');
  const forms = [bare, bare.replace(/;\s*(?:--[^\n]*\s*)*$/, ''), `SELECT * FROM (\n${bare}\n)`];
  for (const [index, form] of forms.entries()) {
    try {
      return await orQueryError(() =>
        database.connection.run(
          `COPY (\n${narrowed(form, columns)}\n) TO ${quoteText(target)} (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)`,
        ),
      );
    } catch (error) {
      const beyond = error instanceof Error ? whichBeyond(error, columns) : null;
      if (beyond !== null) throw beyondBigint(beyond.name);
      const isLast = index === forms.length - 1;
      if (isLast || !(error instanceof QueryError) || !/Parser Error|syntax error/i.test(error.message)) throw error;
    }
  }
  throw new QueryError('The query cannot be written to a file.');
}

async function withSandbox<Value>(
  databasePath: string,
  writable: readonly string[],
  { memory = mostMemory, signal }: QueryBounds,
  use: (database: Database) => Promise<Value>,
): Promise<Value> {
  const database = await openSnapshot(databasePath, signal);
  try {
    // Without a folder for what does not fit into memory, which DuckDB would make within the published snapshot.
    await database.run(
      `SET memory_limit = '${Math.floor(memory / 1024)}KiB'; SET temp_directory = '';
       SET allowed_paths = [${writable.map(quoteText).join(', ')}]; SET enable_external_access = false; SET lock_configuration = true`,
    );
    const value = await use(database);
    // Rows that are broken off end like rows that are all there.
    signal?.throwIfAborted();
    return value;
  } catch (error) {
    // What DuckDB says of a statement that was broken off is not why it was.
    signal?.throwIfAborted();
    throw error;
  } finally {
    database.close();
  }
}

async function openSnapshot(databasePath: string, signal: AbortSignal | undefined): Promise<Database> {
  try {
    return await openDatabase(databasePath, { readOnly: true, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (error instanceof DatabaseHeldError) throw error;
    throw new WarehouseError(
      `${databasePath} cannot be opened: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
      '"rekap snapshots verify" tells what is damaged.',
      { cause: error },
    );
  }
}

async function prepareReading(database: Database, sql: string): Promise<DuckDBPreparedStatement> {
  const statements = await orQueryError(async () => {
    try {
      return await database.connection.extractStatements(sql);
    } catch (error) {
      // The client's word for a text without any statement.
      if (error instanceof Error && error.message.includes('native callback')) return { count: 0, prepare: undefined };
      throw error;
    }
  });
  if (statements.count !== 1 || statements.prepare === undefined) {
    throw new QueryError(
      statements.count === 0 ? 'The query is empty.' : `The query holds ${statements.count} statements.`,
      `Give one statement, such as rekap query "SELECT * FROM turnout_national".${/\bpivot\b/i.test(sql) ? ' A PIVOT is one only with its values named: ON sex IN (…).' : ''}`,
    );
  }
  const statement = await orQueryError(() => statements.prepare(0));
  if (!isReading(statement)) {
    throw new QueryError(
      'Only statements that read are allowed: the warehouse is never written by a query.',
      'Begin with SELECT, FROM, WITH, SHOW, DESCRIBE or SUMMARIZE.',
    );
  }
  if (statement.parameterCount > 0)
    throw new QueryError(
      'The query holds a parameter (? or $1) and no value for it.',
      'Write the value into the query.',
    );
  return statement;
}

/** What to do next, by what DuckDB complains of; the first that fits. */
const hints: readonly (readonly [RegExp, string])[] = [
  [
    /referenced column .* not found/i,
    `"DESCRIBE NAME" shows the columns of a table or view. A text goes into single quotes: name = 'text'.`,
  ],
  [/does not exist|not found/i, '"SHOW TABLES" lists the tables and views, "DESCRIBE NAME" shows the columns of one.'],
  [/file system operations are disabled/i, 'A query reads the snapshot alone; --out names a file for what it gives.'],
  [/^Parser Error/, '"rekap query --help" has queries that work.'],
];

/** DuckDB's complaint as a message of ours, its first word ("Binder Error") and its hints kept. */
async function orQueryError<Value>(run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof QueryError || !/ Error:|^Error:/i.test(error.message))
      throw error;
    // No fault of the query's: `writeAside` knows the file that there is no room for.
    if (error.message.startsWith('IO Error') && whyDiskIsFull(error) !== null) throw error;
    if (error.message.startsWith('Out of Memory Error')) {
      throw new QueryError(
        'The query needs more memory than it may take.',
        'Ask for less at a time, or open the snapshot in the DuckDB shell: "rekap connect" prints how.',
        { cause: error },
      );
    }
    const complaint = error.message.replace(/^Failed to extract statements: /, '').trim();
    const next = hints.find(([words]) => words.test(complaint))?.[1] ?? '';
    throw new QueryError(`DuckDB refuses the query. ${complaint}`, next, { cause: error });
  }
}

function columnsOfStatement(statement: DuckDBPreparedStatement): ResultColumn[] {
  return Array.from({ length: statement.columnCount }, (_, index) => ({
    name: statement.columnName(index),
    type: String(statement.columnType(index)),
  }));
}

function columnsOf(result: DuckDBResult): ResultColumn[] {
  const types = result.columnTypes();
  return result.deduplicatedColumnNames().map((name, index) => ({ name, type: String(types[index]) }));
}
