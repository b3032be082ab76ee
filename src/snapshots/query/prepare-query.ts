/** Checks that a text is a single read-only statement, and prepares it. */

import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { type Database, duckdb } from '../../runtime/database.ts';
import { findQuery } from '../../warehouse/find-query.ts';
import { RekapError } from '../../errors.ts';

/** Values of parameters by name, without the `$`. The name of the first `?` is 1. */
export type QueryParameters = Readonly<Record<string, string>>;

const oneStatement = 'Use one statement, such as "SHOW TABLES".';

/** Returns the statement without final semicolons and comments. Throws `query` if the text isn't a single read-only statement. */
export async function requireQuery({ connection }: Database, sql: string): Promise<string> {
  const count = await countStatements(connection, sql);
  if (count === 0) throw new RekapError('query', 'The query is empty.', oneStatement);
  const query = await findQuery(connection, sql);
  if (query !== null) return query;
  if (count > 1) throw new RekapError('query', `The query contains ${count} statements.`, oneStatement);
  const next = 'Start with SELECT, FROM, WITH, PIVOT, SHOW, DESCRIBE or SUMMARIZE, or with EXPLAIN and one of these.';
  throw new RekapError('query', 'Only read-only statements are allowed. A query never changes the warehouse.', next);
}

export async function prepareQuery(
  { connection }: Database,
  query: string,
  parameters: QueryParameters = {},
): Promise<DuckDBPreparedStatement> {
  const { SELECT, EXPLAIN } = duckdb().StatementType;
  const statements = await connection.extractStatements(query);
  for (let index = 0; ; index += 1) {
    const statement = await statements.prepare(index);
    const isQuery = statement.statementType === SELECT || statement.statementType === EXPLAIN;
    // DuckDB splits a PIVOT into several statements. The first ones store the values found in a temporary type.
    if (!isQuery) await statement.run();
    else return bind(statement, parameters);
  }
}

/** Binds digits as numbers, and NULL, true and false as such. Anything in single quotes is a string. */
function bind(statement: DuckDBPreparedStatement, parameters: QueryParameters): DuckDBPreparedStatement {
  const names = Array.from({ length: statement.parameterCount }, (_, index) => statement.parameterName(index + 1));
  const example = `Add --param ${names[0] ?? 'name'}=value.`;
  const unknown = Object.keys(parameters).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const next =
      names.length === 0
        ? 'Use parameters in the query as $name.'
        : `Its parameters are ${names.map((name) => `$${name}`).join(', ')}.`;
    throw new RekapError('query', `The query does not contain the parameter $${unknown}.`, next);
  }
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
    if (error instanceof Error && error.message.includes('native callback')) return 0;
    throw error;
  }
}
