/** Runs one reading SQL statement on a snapshot, in a database that can neither write nor reach outside itself. */

import type {
  DuckDBConnection,
  DuckDBPreparedStatement,
  DuckDBResult,
  DuckDBValueConverter,
  JS,
} from '@duckdb/node-api';
import { writeFile } from 'node:fs/promises';
import { type Database, duckdb, mostMemory } from '../duckdb/database.ts';
import { isRekapError, RekapError, systemCode } from '../errors.ts';
import type { QueryResult, ResultColumn, ResultValue } from './query-result.ts';
import { findReading, openSandbox } from './sandbox.ts';
import { writeAside } from './write-aside.ts';
import { writeParquet } from './write-parquet.ts';
import { whyDiskIsFull } from '../warehouse/file-errors.ts';

/** Types whose JavaScript form loses digits, has bounds of its own or does not say what it is; lists and structs may hold some. */
const exactTypes = /^(DECIMAL\(\d+,\d+\)|DATE|TIME[A-Z_ ]*|INTERVAL|BIT|BLOB)$/;

const exactValue: DuckDBValueConverter<ResultValue> = (value, type, converter) =>
  exactTypes.test(String(type))
    ? (value as ResultValue)
    : duckdb().JSDuckDBValueConverter(value, type, converter as DuckDBValueConverter<JS>);

/** Whether a statement gives what a query asks for: SELECT and what DuckDB takes for one, such as DESCRIBE, and EXPLAIN. */
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
 * @throws `query` where the SQL is not one reading statement, DuckDB refuses it, or it needs more memory.
 */
export async function runQuery<Value>(
  databasePath: string,
  sql: string,
  use: (result: QueryResult) => Promise<Value>,
  bounds: QueryBounds = {},
): Promise<Value> {
  return withResult(databasePath, sql, bounds, (result) => use(asQueryResult(result)));
}

/** A result of DuckDB's as this folder's writers take it. */
export function asQueryResult(result: DuckDBResult): QueryResult {
  return { columns: columnsOf(result), groups: () => result.yieldConvertedRows(exactValue) };
}

/**
 * Writes the result of `sql` to a Parquet file at `target`: aside first, then renamed. Gives the number of rows.
 *
 * @throws `query` as `runQuery` and `writeParquet` do.
 */
export async function queryToParquet(
  databasePath: string,
  sql: string,
  target: string,
  bounds: QueryBounds = {},
): Promise<number> {
  return writeAside(target, async (aside) => {
    // Where it cannot be written, nobody waits for the rows first.
    await writeFile(aside, '');
    return withResult(databasePath, sql, bounds, (result) =>
      writeParquet(result, aside, { memory: mostMemory, ...bounds }),
    );
  });
}

async function withResult<Value>(
  databasePath: string,
  sql: string,
  { memory = mostMemory, signal }: QueryBounds,
  use: (result: DuckDBResult) => Promise<Value>,
): Promise<Value> {
  const database = await openSandbox(databasePath, { memory, ...(signal === undefined ? {} : { signal }) });
  try {
    const value = await orQueryError(async () => use(await (await prepareReading(database, sql)).stream()));
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

/** The one statement of a text that reads, ready to run. */
async function prepareReading({ connection }: Database, sql: string): Promise<DuckDBPreparedStatement> {
  const count = await countStatements(connection, sql);
  if (count === 0) throw new RekapError('query', 'The query is empty.', oneStatement);
  const reading = await findReading(connection, sql);
  if (reading === null) {
    throw count > 1
      ? new RekapError('query', `The query holds ${count} statements.`, oneStatement)
      : new RekapError(
          'query',
          'Only statements that read are allowed: the warehouse is never written by a query.',
          'Begin with SELECT, FROM, WITH, PIVOT, SHOW, DESCRIBE or SUMMARIZE, and EXPLAIN nothing else.',
        );
  }
  const statements = await connection.extractStatements(reading);
  for (let index = 0; ; index += 1) {
    const statement = await statements.prepare(index);
    if (!isReading(statement)) {
      // DuckDB makes several statements of a PIVOT: the first ones put the values that it finds into a type of this connection's own.
      await statement.run();
    } else if (statement.parameterCount > 0) {
      throw new RekapError(
        'query',
        'The query holds a parameter (? or $1) and no value for it.',
        'Write the value into the query.',
      );
    } else return statement;
  }
}

const oneStatement = 'Give one statement, such as rekap query "SELECT * FROM turnout_national".';

async function countStatements(connection: DuckDBConnection, sql: string): Promise<number> {
  try {
    return (await connection.extractStatements(sql)).count;
  } catch (error) {
    // The client's word for a text without any statement.
    if (error instanceof Error && error.message.includes('native callback')) return 0;
    throw error;
  }
}

/** What to do next, by what DuckDB complains of; the first that fits. */
const hints: readonly (readonly [RegExp, string])[] = [
  [
    /referenced column .* not found/i,
    `"DESCRIBE NAME" shows the columns of a table or view. A text goes into single quotes: name = 'text'.`,
  ],
  [/does not exist|not found/i, '"SHOW TABLES" lists the tables and views, "DESCRIBE NAME" shows the columns of one.'],
  [
    /disabled by configuration|with the LocalFileSystem disabled/i,
    'A query reads the snapshot alone; --out names a file for what it gives.',
  ],
  [/^Parser Error/, '"rekap query --help" has queries that work.'],
];

/** DuckDB's complaint as a message of ours, its first word ("Binder Error") and its hints kept. */
async function orQueryError<Value>(run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    if (isTooLong(error)) {
      throw new RekapError(
        'query',
        'The result holds a value, or values side by side, longer than the 512 MB that a text can have here.',
        'Ask for a part of them, such as left(name, 1000).',
        { cause: error },
      );
    }
    if (!(error instanceof Error) || isRekapError(error, 'query') || !/ Error:|^Error:/i.test(error.message))
      throw error;
    // No fault of the query's: `writeAside` knows the file that there is no room for.
    if (error.message.startsWith('IO Error') && whyDiskIsFull(error) !== null) throw error;
    if (error.message.startsWith('Out of Memory Error')) {
      throw new RekapError(
        'query',
        'The query needs more memory than it may take.',
        'Ask for less at a time, or open the snapshot in the DuckDB shell: "rekap connect" prints how.',
        { cause: error },
      );
    }
    const complaint = error.message.replace(/^Failed to extract statements: /, '').trim();
    const next = hints.find(([words]) => words.test(complaint))?.[1] ?? '';
    throw new RekapError('query', `DuckDB refuses the query. ${complaint}`, next, { cause: error });
  }
}

/** What JavaScript says of a text or a list that no memory would be enough for. */
function isTooLong(error: unknown): boolean {
  if (systemCode(error) === 'ERR_STRING_TOO_LONG') return true;
  return (
    error instanceof RangeError && /^Invalid (string|array|typed array) length|allocation failed/.test(error.message)
  );
}

function columnsOf(result: DuckDBResult): ResultColumn[] {
  const types = result.columnTypes();
  return result.deduplicatedColumnNames().map((name, index) => ({ name, type: String(types[index]) }));
}
