/** What a query may ask and reach: one statement that reads, in a database that opens no file but its own, and that one for reading. */

import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { type Database, duckdb, mostMemory, openDatabase } from '../duckdb/database.ts';
import { messageOf, RekapError } from '../errors.ts';

/** Bounds of a query. */
export interface QueryBounds {
  /** Bytes that it may take for tables, sorts and joins. */
  readonly memory?: number;
  /** Ends the query; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** Values for the parameters of a statement by their names, as texts; `$dapil` is called dapil, the first `?` 1. */
export type QueryParameters = Readonly<Record<string, string>>;

/**
 * The database, open for reading only. Without external access alone DuckDB would still let a statement write to the file itself and to the
 * log beside it; without a file system nothing can be opened any more. What does not fit into memory has no folder to go to.
 *
 * @throws `database-held` where another program writes to the file, RekapError where it cannot be opened.
 */
export async function openSandbox(
  databasePath: string,
  { memory = mostMemory, ...signal }: QueryBounds,
): Promise<Database> {
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

async function openReadOnly(databasePath: string, signal: Pick<QueryBounds, 'signal'>): Promise<Database> {
  try {
    return await openDatabase(databasePath, { readOnly: true, ...signal });
  } catch (error) {
    if (error instanceof RekapError) throw error;
    const what = `${databasePath} cannot be opened: ${messageOf(error).split('\n')[0]}`;
    throw new RekapError('warehouse', what, '"rekap snapshots verify" tells what is damaged.', { cause: error });
  }
}

const oneStatement = 'Give one statement, such as rekap query "SELECT * FROM turnout_national".';

/** The one statement of a text that reads, ready to run. */
export async function prepareReading(
  { connection }: Database,
  sql: string,
  parameters: QueryParameters = {},
): Promise<DuckDBPreparedStatement> {
  const count = await countStatements(connection, sql);
  if (count === 0) throw new RekapError('query', 'The query is empty.', oneStatement);
  const reading = await findReading(connection, sql);
  if (reading === null && count > 1)
    throw new RekapError('query', `The query holds ${count} statements.`, oneStatement);
  if (reading === null)
    throw new RekapError(
      'query',
      'Only statements that read are allowed: the warehouse is never written by a query.',
      'Begin with SELECT, FROM, WITH, PIVOT, SHOW, DESCRIBE or SUMMARIZE, and EXPLAIN nothing else.',
    );
  const { SELECT, EXPLAIN } = duckdb().StatementType;
  const statements = await connection.extractStatements(reading);
  for (let index = 0; ; index += 1) {
    const statement = await statements.prepare(index);
    const isReading = statement.statementType === SELECT || statement.statementType === EXPLAIN;
    // DuckDB makes several statements of a PIVOT: the first ones put the values that it finds into a type of this connection's own.
    if (!isReading) await statement.run();
    else return bind(statement, parameters);
  }
}

/** A text of digits becomes a number, NULL and true or false what they say, anything in single quotes the text between them. */
function bind(statement: DuckDBPreparedStatement, parameters: QueryParameters): DuckDBPreparedStatement {
  const names = Array.from({ length: statement.parameterCount }, (_, index) => statement.parameterName(index + 1));
  const example = `Give it with --param ${names[0] ?? 'name'}=value.`;
  const unknown = Object.keys(parameters).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new RekapError(
      'query',
      `The query holds no parameter $${unknown}.`,
      names.length === 0
        ? 'Write it into the query as $name.'
        : `It holds ${names.map((name) => `$${name}`).join(', ')}.`,
    );
  for (const [index, name] of names.entries()) {
    const text = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (text === undefined)
      throw new RekapError('query', `The query holds the parameter $${name} and no value for it.`, example);
    const place = index + 1;
    if (/^-?\d{1,18}$/.test(text)) statement.bindBigInt(place, BigInt(text));
    else if (/^-?\d+\.\d+$/.test(text)) statement.bindDouble(place, Number(text));
    else if (/^(true|false)$/i.test(text)) statement.bindBoolean(place, /^true$/i.test(text));
    else if (/^null$/i.test(text)) statement.bindNull(place);
    else statement.bindVarchar(place, /^'(.*)'$/s.exec(text)?.[1] ?? text);
  }
  return statement;
}

async function countStatements(connection: DuckDBConnection, sql: string): Promise<number> {
  try {
    return (await connection.extractStatements(sql)).count;
  } catch (error) {
    // The client's word for a text without any statement.
    if (error instanceof Error && error.message.includes('native callback')) return 0;
    throw error;
  }
}

/** Comments as DuckDB has them, but for one within another: a statement is refused that needs such a one understood. */
const comment = String.raw`--[^\n]*(?:\n|$)|/\*(?:(?!\*/)[^])*\*/`;

/** What may stand before a query: nothing, or EXPLAIN with options that are words. Whatever else is no query, and is refused as such. */
const beginnings = ['', String.raw`EXPLAIN(?:\s+ANALYZE)?\b`, String.raw`EXPLAIN\s*\([\w\s,]*\)`].map(
  (words) => new RegExp(`^(?:\\s|${comment})*?(${words})`, 'i'),
);

/** What may stand after it: DuckDB takes semicolons and comments. A text may end like a comment, so the plain ways are tried first. */
const ends = [/$/, /[\s;]+$/, new RegExp(`(?:[\\s;]|${comment})+$`)];

/**
 * The text as one statement that reads, without the semicolons at its end; null where it is none.
 *
 * A query is what the parser takes both by itself and in the parentheses of EXISTS, where the grammar allows a query alone: no COPY, no
 * INSERT, no SET and no second statement can stand there. Of an EXPLAIN, which executes whatever it is given, the rest must be a query, and
 * the statement is put together from that.
 */
export async function findReading(connection: DuckDBConnection, sql: string): Promise<string | null> {
  for (const end of ends) {
    const text = sql.replace(end, '');
    for (const beginning of beginnings) {
      const [before, explain] = beginning.exec(text) ?? [];
      if (before === undefined) continue;
      const query = text.slice(before.length);
      if (await isQuery(connection, query)) return explain === '' ? query : `${explain}\n${query}`;
    }
  }
  return null;
}

async function isQuery(connection: DuckDBConnection, text: string): Promise<boolean> {
  return (await parses(connection, text)) && (await parses(connection, `SELECT EXISTS (\n${text}\n)`));
}

async function parses(connection: DuckDBConnection, sql: string): Promise<boolean> {
  try {
    return (await connection.extractStatements(sql)).count > 0;
  } catch {
    return false;
  }
}
