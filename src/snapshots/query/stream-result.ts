/** Streams the rows of a statement to their proved end. No other code fetches rows piece by piece. */

import type { DuckDBDataChunk, DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api';
import { duckdb } from '../../runtime/database.ts';
import { verifyHint } from '../../warehouse/open-published.ts';
import { RekapError } from '../../errors.ts';
import { countOf, formatNumber } from '../../runtime/text.ts';

/** The rows ended early because of an error. DuckDB's client doesn't say which one. */
class CutShort extends Error {
  readonly rows: number;

  constructor(rows: number) {
    super(`the result ended after ${countOf(rows, 'row')}`);
    this.rows = rows;
  }
}

/** A result whose rows arrive in chunks. */
export interface StreamedResult {
  readonly result: DuckDBResult;
  /** Throws where the rows end because of an error. */
  chunks(): AsyncGenerator<DuckDBDataChunk>;
}

/** A statement that can be prepared again, within another one. */
export interface Statement {
  readonly sql: string;
  prepare(sql: string): Promise<DuckDBPreparedStatement>;
}

/**
 * Runs a statement and passes its rows to `use`.
 *
 * @param bounds `rows` is the number of rows that the result must have; `signal` says that the statement was interrupted.
 * @throws the error that ended the rows early; `warehouse` where their number is not the expected one.
 */
export async function streamResult<Value>(
  statement: Statement,
  use: (streamed: StreamedResult) => Promise<Value>,
  { rows, signal }: { readonly rows?: number | undefined; readonly signal?: AbortSignal } = {},
): Promise<Value> {
  const result = await (await statement.prepare(statement.sql)).stream();
  try {
    return await use({ result, chunks: () => readChunks(result, rows) });
  } catch (error) {
    // DuckDB's message about an interrupted statement doesn't say why it was interrupted.
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
  // After an error, a fetch returns nothing, exactly as at the end. Only the type of the result tells the two apart.
  if (result.returnType !== duckdb().ResultReturnType.QUERY_RESULT) throw new CutShort(rows);
  if (expected === undefined || rows === expected) return;
  throw new RekapError(
    'warehouse',
    `The result has ${countOf(rows, 'row')}, but the manifest says ${formatNumber(expected)}.`,
    verifyHint,
  );
}

/** Runs the statement again, reduced to one row: what fails before the first row says why. A column of the alias's name would hide others. */
async function findCause({ sql, prepare }: Statement, cutShort: CutShort): Promise<unknown> {
  const reduced = await prepare(`SELECT bit_xor(hash("whole row")) FROM (\n${sql}\n) "whole row"`).catch(() => null);
  try {
    await reduced?.run();
  } catch (error) {
    return error;
  }
  return new RekapError(
    'query',
    `DuckDB ended the result after ${countOf(cutShort.rows, 'row')} because of an unknown error.`,
    'Run the query again.',
    { cause: cutShort },
  );
}
