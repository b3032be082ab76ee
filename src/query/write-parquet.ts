/** Writes a query's result as a Parquet file, by a DuckDB of its own: the one that runs the query can open no file. */

import type { DuckDBResult } from '@duckdb/node-api';
import { openDatabase, quoteText } from '../duckdb/database.ts';
import { RekapError } from '../errors.ts';
import { beyondBigint, type ResultColumn, selectNarrowed, whichBeyond } from './query-result.ts';
import { isOutOfMemory } from '../warehouse/file-errors.ts';

export interface ParquetOptions {
  /** Bytes that the result may take until it is written. */
  readonly memory: number;
  readonly signal?: AbortSignal;
}

/**
 * Writes all rows to `target`. Sums, which DuckDB keeps in 128 bits, become BIGINT, for Parquet would have them as DOUBLE. Gives the
 * number of rows.
 *
 * @throws `query` where such a number has no place in 64 bits, or the result is larger than `memory`.
 */
export async function writeParquet(
  result: DuckDBResult,
  target: string,
  { memory, signal }: ParquetOptions,
): Promise<number> {
  const types = result.columnTypes().map(String);
  const columns = result.columnNames().map((name, index): ResultColumn => ({ name, type: types[index]! }));
  const settings = { memory_limit: `${Math.floor(memory / 1024)}KiB`, temp_directory: '' };
  const database = await openDatabase(':memory:', { settings, ...(signal === undefined ? {} : { signal }) });
  try {
    await database.run(`CREATE TABLE result (${types.map((type, index) => `c${index} ${type}`).join(', ')})`);
    const appender = await database.connection.createAppender('result');
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      signal?.throwIfAborted();
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
    return await database.run(
      `COPY (${selectNarrowed('result', columns)}) TO ${quoteText(target)}
       (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, USE_TMP_FILE false)`,
    );
  } catch (error) {
    throw explain(error, columns);
  } finally {
    database.close();
  }
}

function explain(error: unknown, columns: readonly ResultColumn[]): unknown {
  if (!(error instanceof Error)) return error;
  const beyond = whichBeyond(error, columns);
  if (beyond !== null) return beyondBigint(beyond.name);
  if (!isOutOfMemory(error)) return error;
  return new RekapError(
    'query',
    'The query, or the result that is to become a Parquet file, needs more memory than it may take.',
    'Ask for less at a time, or write it as .csv or .arrow, which takes no memory for the result.',
    { cause: error },
  );
}
