/** Writes a query's result as a Parquet file with a second DuckDB, because the queried one can't open files. */

import { type Database, maxMemory, openDatabase, quoteIdentifier, quoteText } from '../../runtime/database.ts';
import type { ReadBounds } from '../../warehouse/open-published.ts';
import { isOutOfMemory } from '../../warehouse/file-errors.ts';
import { overflowError, isHuge, type ResultColumn } from './query-result.ts';
import type { StreamedResult } from './stream-result.ts';
import { RekapError } from '../../errors.ts';

/**
 * Writes all rows to `target`, and returns their number. All rows must fit in memory. Sums of 128 bits become BIGINT instead of DOUBLE.
 * @throws `query` if a sum exceeds 64 bits, or the result exceeds `memory`.
 */
export async function writeParquet(
  { result, chunks }: StreamedResult,
  target: string,
  { memory = maxMemory, ...signal }: ReadBounds,
): Promise<number> {
  const types = result.columnTypes().map(String);
  const columns = result.columnNames().map((name, index): ResultColumn => ({ name, type: types[index]! }));
  const settings = { memory_limit: `${Math.floor(memory / 1024)}KiB`, temp_directory: '' };
  const database = await openDatabase(':memory:', { settings, ...signal });
  try {
    await database.run(`CREATE TABLE result (${types.map((type, place) => `c${place} ${type}`).join(', ')})`);
    const appender = await database.connection.createAppender('result');
    for await (const chunk of chunks()) {
      signal.signal?.throwIfAborted();
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
    await requireInt64(database, columns);
    const selected = columns.map(
      (column, place) => `c${place}${isHuge(column) ? '::BIGINT' : ''} AS ${quoteIdentifier(column.name)}`,
    );
    return await database.run(
      `COPY (SELECT ${selected.join(', ')} FROM result) TO ${quoteText(target)}
       (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, USE_TMP_FILE false)`,
    );
  } catch (error) {
    if (!(error instanceof Error) || !isOutOfMemory(error)) throw error;
    const what = 'The query, or its result as a Parquet file, exceeds the memory limit.';
    const next = 'Select less data, or write a .csv file, which needs less memory.';
    throw new RekapError('query', what, next, { cause: error });
  } finally {
    database.close();
  }
}

async function requireInt64(database: Database, columns: readonly ResultColumn[]): Promise<void> {
  for (const [place, column] of columns.entries()) {
    if (!isHuge(column)) continue;
    const beyond = `c${place} IS NOT NULL AND try_cast(c${place} AS BIGINT) IS NULL`;
    if ((await database.rows(`SELECT 1 FROM result WHERE ${beyond} LIMIT 1`)).length > 0) throw overflowError(column);
  }
}
