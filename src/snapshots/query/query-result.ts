/** Defines query results: columns, groups of rows, and the text of their values. */

import type {
  DuckDBDataChunk,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBTimestampValue,
  DuckDBValueConverter,
  JS,
} from '@duckdb/node-api';
import { duckdb } from '../../runtime/database.ts';
import { RekapError } from '../../errors.ts';
import type { StreamedResult } from './stream-result.ts';

type DuckDbValue = DuckDBDecimalValue | DuckDBDateValue | DuckDBTimestampValue;

export type ResultValue = JS | DuckDbValue;

/** Name and DuckDB type of a column. */
export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** Result of a query: its columns, and its rows in groups, as DuckDB returns them. */
export interface QueryResult {
  readonly columns: readonly ResultColumn[];
  groups(): AsyncIterable<readonly (readonly ResultValue[])[]>;
}

/** Types whose JavaScript form loses digits or precision. Lists and structs may contain them. */
const exactTypes = /^(DECIMAL\(\d+,\d+\)|DATE|TIME[A-Z_ ]*|INTERVAL|BIT|BLOB)$/;

const exactValue: DuckDBValueConverter<ResultValue> = (value, type, converter) => {
  if (exactTypes.test(String(type))) return value as ResultValue;
  const { DuckDBStructType, DuckDBStructValue, JSDuckDBValueConverter } = duckdb();
  if (!(value instanceof DuckDBStructValue && type instanceof DuckDBStructType))
    return JSDuckDBValueConverter(value, type, converter as DuckDBValueConverter<JS>);
  const struct = Object.create(null) as Record<string, ResultValue>;
  for (const [place, name] of type.entryNames.entries())
    struct[name] = converter(value.entries[name] ?? null, type.entryTypes[place]!, converter);
  return struct as ResultValue;
};

export function asQueryResult({ result, chunks }: StreamedResult): QueryResult {
  const types = result.columnTypes();
  const columns = uniqueNames(result.columnNames()).map((name, index) => ({ name, type: String(types[index]) }));
  return { columns, groups: () => convertRows(chunks()) };
}

async function* convertRows(chunks: AsyncIterable<DuckDBDataChunk>): AsyncGenerator<ResultValue[][]> {
  for await (const chunk of chunks) yield chunk.convertRows(exactValue);
}

/** Appends ":1", ":2" and so on to repeated names, and skips suffixes that are already used. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let count = 1; seen.has(unique) || (unique !== name && taken.has(unique)); count += 1)
      unique = `${name}:${count}`;
    seen.add(unique);
    return unique;
  });
}

export function plainValue(value: ResultValue): Exclude<ResultValue, DuckDbValue> {
  return isDuckDbValue(value) ? duckDbText(value) : value;
}

export function displayText(value: ResultValue): string {
  const plain = plainValue(value);
  if (plain === null) return '';
  return typeof plain === 'object' ? JSON.stringify(plain, jsonValue) : String(plain);
}

/** Replacer for JSON.stringify that converts integers beyond 2^53, infinity and NaN to strings. */
export function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return isDuckDbValue(value) ? duckDbText(value) : value;
}

/** Includes values of types that DuckDbValue doesn't list, such as timestamps in seconds. */
export function isDuckDbValue(value: unknown): value is DuckDbValue {
  if (typeof value !== 'object' || value === null) return false;
  // A struct may have a field named "constructor".
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype?.constructor.name.startsWith('DuckDB') === true;
}

/** The client prints infinite dates as finite ones. */
function duckDbText(value: DuckDbValue): string {
  const { DuckDBDateValue, DuckDBTimestampValue } = duckdb();
  if (value instanceof DuckDBDateValue && !value.isFinite) return value.days > 0 ? 'infinity' : '-infinity';
  if (value instanceof DuckDBTimestampValue && !value.isFinite) return value.micros > 0n ? 'infinity' : '-infinity';
  return String(value);
}

/** Returns whether a column has 128-bit integers, such as sums. Parquet columns have 64 bits. */
export function isHuge({ type }: ResultColumn): boolean {
  return type === 'HUGEINT' || type === 'UHUGEINT';
}

export function overflowError({ name }: ResultColumn): RekapError {
  const what = `The column ${JSON.stringify(name)} contains an integer larger than 64 bits, which the file format does not support.`;
  const next = 'Cast the column in the query: to VARCHAR to keep all digits, or to DOUBLE to round.';
  return new RekapError('query', what, next);
}
