/** What a query may ask and what it can reach: one reading statement, over one snapshot, without a file system. */

import type { DuckDBConnection } from '@duckdb/node-api';
import { type Database, openDatabase } from '../duckdb/database.ts';
import { RekapError } from '../errors.ts';

export interface SandboxOptions {
  /** Bytes that DuckDB may take for tables, sorts and joins. */
  readonly memory: number;
  readonly signal?: AbortSignal;
}

/**
 * The database, open for reading only. Without external access alone DuckDB would still let a statement write to the file itself and to the
 * log beside it; without a file system nothing can be opened any more. What does not fit into memory has no folder to go to.
 *
 * @throws `database-held` where another program writes to the file, RekapError where it cannot be opened.
 */
export async function openSandbox(databasePath: string, { memory, signal }: SandboxOptions): Promise<Database> {
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

async function openReadOnly(databasePath: string, signal: AbortSignal | undefined): Promise<Database> {
  try {
    return await openDatabase(databasePath, { readOnly: true, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (error instanceof RekapError) throw error;
    throw new RekapError(
      'warehouse',
      `${databasePath} cannot be opened: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
      '"rekap snapshots verify" tells what is damaged.',
      { cause: error },
    );
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
