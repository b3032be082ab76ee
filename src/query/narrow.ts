/** Brings DuckDB's whole numbers of 128 bits, such as sums, into the 64 bits that Parquet and Arrow have whole numbers of. */

import { RekapError } from '../errors.ts';
import { quoteIdentifier, quoteText } from '../duckdb/sql-text.ts';
import type { ResultColumn } from './query-result.ts';

/** Whether a column's whole numbers have 128 bits. */
function isHuge({ type }: ResultColumn): boolean {
  return type === 'HUGEINT' || type === 'UHUGEINT';
}

/** What a column is refused with that holds a number beyond 64 bits. */
export function beyondBigint(column: string): RekapError {
  return new RekapError(
    'query',
    `The column ${JSON.stringify(column)} holds a whole number beyond 64 bits, which the file has no type for.`,
    'Cast it in the query: to VARCHAR, which keeps every digit, or to DOUBLE, which rounds.',
  );
}

/** Begins the error by which SQL of ours says which column it could not narrow. */
const mark = 'rekap: beyond BIGINT in column ';

/**
 * A query of all rows of a table whose columns are called c0, c1 and so on: they get their names, and those of 128 bits become BIGINT.
 * Where a number does not fit the query fails by `whichBeyond`.
 */
export function selectNarrowed(table: string, columns: readonly ResultColumn[]): string {
  const selected = columns.map((column, place) => {
    const value = `c${place}`;
    const failing = `CASE WHEN ${value} IS NOT NULL THEN error(${quoteText(`${mark}${place}`)}) END`;
    const fitting = isHuge(column) ? `coalesce(try_cast(${value} AS BIGINT), ${failing})` : value;
    return `${fitting} AS ${quoteIdentifier(column.name)}`;
  });
  return `SELECT ${selected.join(', ')} FROM ${table}`;
}

/** The column of which a narrowed query says that a number does not fit; null for any other failure. */
export function whichBeyond(error: Error, columns: readonly ResultColumn[]): ResultColumn | null {
  const place = new RegExp(`${mark}(\\d+)$`).exec(error.message.trim())?.[1];
  return place === undefined ? null : (columns[Number(place)] ?? null);
}
