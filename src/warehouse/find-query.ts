/** Checks with DuckDB's parser that a text is a single query. */

import type { DuckDBConnection } from '@duckdb/node-api';

/** Matches comments as in DuckDB, except nested ones. A statement with nested comments is refused. */
const comment = String.raw`--[^\n]*(?:\n|$)|/\*(?:(?!\*/)[^])*\*/`;

const prefixes = ['', String.raw`EXPLAIN(?:\s+ANALYZE)?\b`, String.raw`EXPLAIN\s*\([\w\s,]*\)`].map(
  (words) => new RegExp(`^(?:\\s|${comment})*?(${words})`, 'i'),
);

/** Matches the text after a query: semicolons and comments. A text may end like a comment, so simple ends are tried first. */
const ends = [/$/, /[\s;]+$/, new RegExp(`(?:[\\s;]|${comment})+$`)];

/**
 * Returns the text as a single query without final semicolons, or null if it isn't one.
 *
 * A query is a text that parses both alone and inside EXISTS (…), where the grammar allows only queries.
 * EXPLAIN executes any statement, so the rest of an EXPLAIN must be a query.
 */
export async function findQuery(connection: DuckDBConnection, sql: string): Promise<string | null> {
  for (const end of ends) {
    const text = sql.replace(end, '');
    for (const prefix of prefixes) {
      const [before, explain] = prefix.exec(text) ?? [];
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
