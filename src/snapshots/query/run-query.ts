/** Runs a read-only SQL statement on a snapshot, and explains why one is refused. */

import { writeFile } from 'node:fs/promises';
import { explainDamage, openPublished, type ReadBounds } from '../../warehouse/open-published.ts';
import { systemCode, isRekapError, RekapError } from '../../errors.ts';
import { whyDiskIsFull } from '../../warehouse/file-errors.ts';
import { asQueryResult, type QueryResult } from './query-result.ts';
import { prepareQuery, type QueryParameters, requireQuery } from './prepare-query.ts';
import { streamResult, type StreamedResult } from './stream-result.ts';
import { writeAside } from './write-aside.ts';
import { writeParquet } from './write-parquet-result.ts';

export interface QuerySettings extends ReadBounds {
  readonly parameters?: QueryParameters;
  readonly rows?: number | undefined;
}

/**
 * Opens the snapshot's database, runs `sql`, and passes its result to `use`.
 * @throws `query` if the SQL isn't a single read-only statement, DuckDB rejects it, or it exceeds the memory limit.
 */
export async function runQuery<Value>(
  databasePath: string,
  sql: string,
  use: (result: QueryResult) => Promise<Value>,
  bounds: QuerySettings = {},
): Promise<Value> {
  return withResult(databasePath, sql, bounds, (streamed) => use(asQueryResult(streamed)));
}

/** Writes the result of `sql` to a Parquet file, and returns the number of rows. Throws `query` like `runQuery` and `writeParquet`. */
export async function queryToParquet(
  databasePath: string,
  sql: string,
  target: string,
  bounds: QuerySettings = {},
): Promise<number> {
  return writeAside(target, async (aside) => {
    // Fails early if the file can't be written.
    await writeFile(aside, '');
    return withResult(databasePath, sql, bounds, (streamed) => writeParquet(streamed, aside, bounds));
  });
}

async function withResult<Value>(
  databasePath: string,
  sql: string,
  bounds: QuerySettings,
  use: (streamed: StreamedResult) => Promise<Value>,
): Promise<Value> {
  const database = await openPublished(databasePath, bounds);
  try {
    const query = {
      sql: await requireQuery(database, sql),
      prepare: (text: string) => prepareQuery(database, text, bounds.parameters),
    };
    return await streamResult(query, use, bounds);
  } catch (error) {
    bounds.signal?.throwIfAborted();
    const isOfTarget = error instanceof Error && whyDiskIsFull(error) !== null;
    throw (isOfTarget ? null : explainDamage(error, databasePath)) ?? explainRefusal(error);
  } finally {
    database.close();
  }
}

const hints: readonly (readonly [RegExp, string])[] = [
  [
    /referenced column .* not found/i,
    `To list the columns of a table or view, use "DESCRIBE NAME". Put strings in single quotes: name = 'text'.`,
  ],
  [
    /does not exist|not found/i,
    'To list tables and views, use "SHOW TABLES". To list the columns of one, use "DESCRIBE NAME".',
  ],
  [
    /disabled by configuration|with the LocalFileSystem disabled/i,
    'A query can read only the snapshot. To write its result to a file, use --out.',
  ],
  [/^Out of Range Error: Overflow/, 'Cast one of the numbers to BIGINT, such as total::BIGINT.'],
  [/^Parser Error/, 'For example queries, run "rekap query --help".'],
];

/** Converts DuckDB's error to a RekapError that keeps its first words and hints. Returns other errors unchanged. */
function explainRefusal(error: unknown): unknown {
  const cause = { cause: error };
  if (isTooLong(error)) {
    const what = 'A value or a row of the result is longer than 512 MB, the maximum.';
    return new RekapError('query', what, 'Select a part of the values, such as left(name, 1000).', cause);
  }
  if (!(error instanceof Error) || isRekapError(error, 'query') || !/ Error:|^Error:/i.test(error.message))
    return error;
  // Not the query's fault. `writeAside` explains it.
  if (error.message.startsWith('IO Error') && whyDiskIsFull(error) !== null) return error;
  if (error.message.startsWith('Out of Memory Error')) {
    const next = 'Select less data, or open the file in DuckDB: "rekap query" without a statement prints the command.';
    return new RekapError('query', 'The query exceeds the memory limit.', next, cause);
  }
  const problem = error.message.replace(/^Failed to extract statements: /, '').trim();
  const next = hints.find(([words]) => words.test(problem))?.[1] ?? '';
  return new RekapError('query', `DuckDB rejected the query. ${problem}`, next, cause);
}

function isTooLong(error: unknown): boolean {
  if (systemCode(error) === 'ERR_STRING_TOO_LONG') return true;
  return (
    error instanceof RangeError && /^Invalid (string|array|typed array) length|allocation failed/.test(error.message)
  );
}
