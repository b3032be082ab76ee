/** Streams the rows of a statement, and proves that the stream is complete. No other code fetches rows in chunks. */

import type { DuckDBDataChunk, DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api';
import { duckdb } from '../../runtime/database.ts';
import { verifyHint } from '../../warehouse/open-published.ts';
import { RekapError } from '../../errors.ts';
import { countOf, formatNumber } from '../../runtime/text.ts';

/** The rows ended early because of an error, which DuckDB's client doesn't report. */
class CutShort extends Error {
  readonly rows: number;

  constructor(rows: number) {
    super(`the result ended after ${countOf(rows, 'row')}`);
    this.rows = rows;
  }
}

export interface StreamedResult {
  readonly result: DuckDBResult;
  chunks(): AsyncGenerator<DuckDBDataChunk>;
}

export interface Statement {
  readonly sql: string;
  prepare(sql: string): Promise<DuckDBPreparedStatement>;
}

/**
 * Runs a statement and passes its rows to `use`.
 * @param bounds `rows` is the expected number of rows. An aborted `signal` explains an interruption.
 * @throws the error that ended the rows early; `warehouse` if the number of rows isn't the expected one.
 */
export async function streamResult<Value>(
  statement: Statement,
  use: (streamed: StreamedResult) => Promise<Value>,
  { rows, signal }: { readonly rows?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Value> {
  const result = await (await statement.prepare(statement.sql)).stream();
  try {
    return await use({ result, chunks: () => readChunks(result, rows) });
  } catch (error) {
    // DuckDB's message doesn't say why a statement was interrupted.
    signal?.throwIfAborted();
    throw error instanceof CutShort ? await findCause(statement, error) : error;
  }
}

async function* readChunks(result: DuckDBResult, expected: number | undefined): AsyncGenerator<DuckDBDataChunk> {
  let rows = 0;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) break;
    rows += chunk.rowCount;
    yield chunk;
  }
  // After an error, a fetch returns nothing, as at the end. Only the type of the result differs.
  if (result.returnType !== duckdb().ResultReturnType.QUERY_RESULT) throw new CutShort(rows);
  if (expected === undefined || rows === expected) return;
  const what = `The result has ${countOf(rows, 'row')}, but the manifest says ${formatNumber(expected)}.`;
  throw new RekapError('warehouse', what, verifyHint);
}

/** Runs the statement again, reduced to one row, to get its error. The alias has a name that no column uses. */
async function findCause({ sql, prepare }: Statement, cutShort: CutShort): Promise<unknown> {
  const reduced = await prepare(`SELECT bit_xor(hash("whole row")) FROM (\n${sql}\n) "whole row"`).catch(() => null);
  try {
    await reduced?.run();
  } catch (error) {
    return error;
  }
  const what = `DuckDB ended the result after ${countOf(cutShort.rows, 'row')} because of an unknown error.`;
  return new RekapError('query', what, 'Run the query again.', { cause: cutShort });
}
