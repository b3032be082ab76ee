/** What a query gives: columns, rows in groups, and how a value of them reads. */

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

/** Values of DuckDB's own, which JavaScript would round or refuse; they print themselves. */
type DuckDbValue = DuckDBDecimalValue | DuckDBDateValue | DuckDBTimestampValue;

/** A value as DuckDB's client gives it to JavaScript. */
export type ResultValue = JS | DuckDbValue;

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

/** Types whose JavaScript form loses digits, has bounds of its own or does not say what it is; lists and structs may hold some. */
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

/** Converts a streamed result to what the writers of this folder take. */
export function asQueryResult({ result, chunks }: StreamedResult): QueryResult {
  const types = result.columnTypes();
  const columns = uniqueNames(result.columnNames()).map((name, index) => ({ name, type: String(types[index]) }));
  return { columns, groups: () => convertRows(chunks()) };
}

async function* convertRows(chunks: AsyncIterable<DuckDBDataChunk>): AsyncGenerator<ResultValue[][]> {
  for await (const chunk of chunks) yield chunk.convertRows(exactValue);
}

/** The second column of a name gets ":1" behind it, the third ":2"; a number that another column has in its name is passed over. */
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

/** DuckDB's own values as the text that DuckDB prints; everything else as it is. */
export function plainValue(value: ResultValue): Exclude<ResultValue, DuckDbValue> {
  return isDuckDbs(value) ? duckDbText(value) : value;
}

/** A value as a person reads it, in a table or a CSV cell. */
export function displayText(value: ResultValue): string {
  const plain = plainValue(value);
  if (plain === null) return '';
  return typeof plain === 'object' ? JSON.stringify(plain, jsonValue) : String(plain);
}

/** For JSON.stringify: whole numbers beyond 2^53 and what JSON has no number for become texts. */
export function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return isDuckDbs(value) ? duckDbText(value) : value;
}

/** Also the values of kinds that this client knows and the type does not name, such as timestamps in seconds. */
export function isDuckDbs(value: unknown): value is DuckDbValue {
  if (typeof value !== 'object' || value === null) return false;
  // Not the value's own "constructor", which may be an entry of a struct.
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype?.constructor.name.startsWith('DuckDB') === true;
}

/** The client prints an infinite date as the day beyond its calendar. */
function duckDbText(value: DuckDbValue): string {
  const { DuckDBDateValue, DuckDBTimestampValue } = duckdb();
  if (value instanceof DuckDBDateValue && !value.isFinite) return value.days > 0 ? 'infinity' : '-infinity';
  if (value instanceof DuckDBTimestampValue && !value.isFinite) return value.micros > 0n ? 'infinity' : '-infinity';
  return String(value);
}

/** DuckDB's sums have 128 bits. Parquet and Arrow files have whole numbers of 64 bits, and these columns become such. */
export function isHuge({ type }: ResultColumn): boolean {
  return type === 'HUGEINT' || type === 'UHUGEINT';
}

/** What such a column is refused with where a number does not fit. */
export function beyondBigint({ name }: ResultColumn): RekapError {
  return new RekapError(
    'query',
    `The column ${JSON.stringify(name)} contains an integer larger than 64 bits, which the file format does not support.`,
    'Cast the column in the query: to VARCHAR to keep all digits, or to DOUBLE to round.',
  );
}
