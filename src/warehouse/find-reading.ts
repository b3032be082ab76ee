/** Tells whether a text is one statement that reads, by DuckDB's own parser. */

import type { DuckDBConnection } from '@duckdb/node-api';

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
