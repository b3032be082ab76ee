/** Accepts one statement that reads, and prepares it. */

import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { type Database, duckdb } from '../../runtime/database.ts';
import { findReading } from '../../warehouse/find-reading.ts';
import { RekapError } from '../../errors.ts';

/** Values for the parameters of a statement by their names, as texts; `$code` is called code, the first `?` 1. */
export type QueryParameters = Readonly<Record<string, string>>;

const oneStatement = 'Use one statement, such as "SHOW TABLES".';

/**
 * Returns the text of the one statement that reads, without the semicolons and comments at its end.
 *
 * @throws `query` where the text is not one such statement.
 */
export async function requireReading({ connection }: Database, sql: string): Promise<string> {
  const count = await countStatements(connection, sql);
  if (count === 0) throw new RekapError('query', 'The query is empty.', oneStatement);
  const reading = await findReading(connection, sql);
  if (reading !== null) return reading;
  if (count > 1) throw new RekapError('query', `The query contains ${count} statements.`, oneStatement);
  throw new RekapError(
    'query',
    'Only read-only statements are allowed. A query never changes the warehouse.',
    'Start with SELECT, FROM, WITH, PIVOT, SHOW, DESCRIBE or SUMMARIZE, or with EXPLAIN and one of these.',
  );
}

/** Prepares a statement that `requireReading` has returned. */
export async function prepareReading(
  { connection }: Database,
  reading: string,
  parameters: QueryParameters = {},
): Promise<DuckDBPreparedStatement> {
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
  const example = `Add --param ${names[0] ?? 'name'}=value.`;
  const unknown = Object.keys(parameters).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new RekapError(
      'query',
      `The query does not contain the parameter $${unknown}.`,
      names.length === 0
        ? 'Use parameters in the query as $name.'
        : `Its parameters are ${names.map((name) => `$${name}`).join(', ')}.`,
    );
  for (const [index, name] of names.entries()) {
    const text = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (text === undefined)
      throw new RekapError('query', `The parameter $${name} of the query does not have a value.`, example);
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
