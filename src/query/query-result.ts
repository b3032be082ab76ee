/** What a query gives: columns, and rows in groups; and how its widest numbers become those of files. */

import type { DuckDBDateValue, DuckDBDecimalValue, DuckDBTimestampValue, JS } from '@duckdb/node-api';
import { quoteIdentifier, quoteText } from '../duckdb/database.ts';
import { RekapError } from '../errors.ts';

/** A value as DuckDB's client gives it to JavaScript; what JavaScript would round or refuse stays DuckDB's own, which prints itself. */
export type ResultValue = JS | DuckDBDecimalValue | DuckDBDateValue | DuckDBTimestampValue;

/** A column of a result; `type` is DuckDB's name of it. */
export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** A result whose rows come in groups, so that its size does not matter. */
export interface QueryResult {
  readonly columns: readonly ResultColumn[];
  groups(): AsyncIterable<readonly (readonly ResultValue[])[]>;
}

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
