/** Checks with DuckDB's parser that a text is a single query. */

import type { DuckDBConnection } from '@duckdb/node-api';

/**
 * Matches white space, a comment, a quoted text or name, a word, or any other character. The end of a text closes what is open, so that
 * matching takes linear time. Nested comments aren't recognized, so a query that needs them to be cut off is refused.
 */
const token =
  /\s+|--[^\n\r]*|\/\*[^]*?(?:\*\/|$)|e'(?:\\[^]|[^\\])*?(?:'|$)|'[^]*?(?:'|$)|"[^]*?(?:"|$)|\$([\w\x80-\uffff]*)\$[^]*?(?:\$\1\$|$)|[\w\x80-\uffff][\w$\x80-\uffff]*|[^]/gi;

const prefixes = [/^/, /^EXPLAIN(?:\s+ANALYZE)?\b/i, /^EXPLAIN\s*\([\w\s,]*\)/i];

/**
 * Returns the text as a single query without final semicolons, or null if it isn't one.
 *
 * A query is a text that parses both alone and inside EXISTS (…), where the grammar allows only queries.
 * EXPLAIN executes any statement, so the rest of an EXPLAIN must be a query.
 */
export async function findQuery(connection: DuckDBConnection, sql: string): Promise<string | null> {
  let start = sql.length;
  let end = 0;
  for (const { 0: text, index } of sql.matchAll(token)) {
    if (/^(?:\s|--|\/\*[^]*\*\/$)/.test(text)) continue;
    start = Math.min(start, index);
    if (text !== ';') end = index + text.length;
  }
  // Comments after a query remain, if no semicolon precedes them.
  for (const last of [sql.length, end]) {
    for (const prefix of prefixes) {
      const [explain = null] = prefix.exec(sql.slice(start, last)) ?? [];
      if (explain === null) continue;
      const query = explain === '' ? sql.slice(0, last) : sql.slice(start + explain.length, last);
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
