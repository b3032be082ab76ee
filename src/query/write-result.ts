/** Writes a query's result as CSV, JSON or an Arrow IPC file. */

import {
  Bool,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  Utf8,
  vectorFromArray,
  type Data,
  type DataType,
} from 'apache-arrow';
import { DuckDBDateValue, DuckDBTimestampValue, type DuckDBDecimalValue } from '@duckdb/node-api';
import { escapeDeceptive } from './json-text.ts';
import type { QueryResult, ResultColumn, ResultValue } from './run-query.ts';

/** Takes text piece by piece; waits where the reader is slow. */
export type Write = (text: string) => Promise<void>;

/**
 * CSV after RFC 4180, with a header, LF line ends, NULL as nothing and an empty text as "". A text that a spreadsheet would
 * take for a formula gets an apostrophe. Gives the number of rows.
 */
export async function writeCsv(result: QueryResult, write: Write): Promise<number> {
  const { columns } = result;
  await write(`${columns.map(({ name }) => csvText(withoutFormula(name))).join(',')}\n`);
  let rows = 0;
  for await (const group of result.groups()) {
    rows += group.length;
    await write(group.map((row) => `${row.map(csvValue).join(',')}\n`).join(''));
  }
  return rows;
}

/** A JSON array of one object per row, one row a line; whole numbers beyond 2^53 become texts, so that none is rounded. */
export async function writeJson(result: QueryResult, write: Write): Promise<number> {
  // Written member by member: an object would put columns with names like 2024 first.
  const names = result.columns.map(({ name }) => escapeDeceptive(JSON.stringify(name)));
  let rows = 0;
  await write('[');
  for await (const group of result.groups()) {
    const lines = group.map(
      (row) =>
        `{${row.map((value, index) => `${names[index]}:${escapeDeceptive(JSON.stringify(plainValue(value), jsonValue))}`).join(',')}}`,
    );
    if (lines.length > 0) await write(`${rows === 0 ? '' : ','}\n${lines.join(',\n')}`);
    rows += group.length;
  }
  await write(rows === 0 ? ']\n' : '\n]\n');
  return rows;
}

/** An Arrow IPC file; types that Arrow and this client do not share become text. Gives the bytes and the number of rows. */
export async function toArrowFile(result: QueryResult): Promise<{ bytes: Uint8Array; rows: number }> {
  const all: (readonly ResultValue[])[] = [];
  for await (const group of result.groups()) all.push(...group);
  const children = result.columns.map((column, index) =>
    arrowData(
      column,
      all.map((row) => row[index] ?? null),
    ),
  );
  const schema = new Schema(result.columns.map(({ name }, index) => new Field(name, children[index]!.type, true)));
  const struct = makeData({ type: new Struct(schema.fields), length: all.length, nullCount: 0, children });
  const writer = RecordBatchFileWriter.writeAll(new Table(schema, [new RecordBatch(schema, struct)]));
  return { bytes: await writer.toUint8Array(), rows: all.length };
}

/** A value as a person reads it, in a table or a CSV cell. */
export function displayText(value: ResultValue): string {
  const plain = plainValue(value);
  if (plain === null) return '';
  if (plain instanceof Uint8Array) return `\\x${Buffer.from(plain).toString('hex')}`;
  return typeof plain === 'object' ? JSON.stringify(plain, jsonValue) : String(plain);
}

type PlainValue = Exclude<ResultValue, DuckDbValue>;

/** DuckDB's own values as the text that DuckDB prints; everything else as it is. */
function plainValue(value: ResultValue): PlainValue {
  return isDuckDbs(value) ? duckDbText(value) : value;
}

type DuckDbValue = DuckDBDecimalValue | DuckDBDateValue | DuckDBTimestampValue;

/** Also the values of kinds that this client knows and the type does not name, such as timestamps in seconds. */
function isDuckDbs(value: unknown): value is DuckDbValue {
  return typeof value === 'object' && value !== null && value.constructor?.name.startsWith('DuckDB');
}

/** The client prints an infinite date as the day beyond its calendar. */
function duckDbText(value: DuckDbValue): string {
  if ((value instanceof DuckDBDateValue || value instanceof DuckDBTimestampValue) && !value.isFinite) {
    const isPositive = value instanceof DuckDBDateValue ? value.days > 0 : value.micros > 0n;
    return isPositive ? 'infinity' : '-infinity';
  }
  return String(value);
}

function csvValue(value: ResultValue): string {
  if (value === null) return '';
  if (value === '') return '""';
  const text = displayText(value);
  // Numbers, and DuckDB's own values that print as such, may be negative; lists and structs hold texts too.
  const holdsText = typeof value === 'string' || (typeof value === 'object' && !isDuckDbs(value));
  return csvText(holdsText ? withoutFormula(text) : text);
}

/** What begins a formula, for some spreadsheets also in full width. */
const formula = /[=+\-@\uff1d\uff0b\uff0d\uff20]/;

/**
 * A text that no spreadsheet runs: an apostrophe in front makes it text (OWASP, CSV injection). White space and what does not
 * show may stand before the formula. So may a semicolon, tab or line break: where the decimal sign is a comma, as in
 * Indonesia, a spreadsheet separates CSV at semicolons, and then our quotes do not hold a text together.
 */
function withoutFormula(text: string): string {
  if (!formula.test(text) && !/^[\t\r\n]/.test(text)) return text;
  // Whole runs, then a look at what follows: a pattern that looks ahead would take the square of the time on a long run.
  const guarded = text.replace(/[;"\s\p{C}]+/gu, (run, at: number) => {
    if (!formula.test(text.charAt(at + run.length))) return run;
    const cellAt = 1 + Math.max(...[';', '\t', '\r', '\n'].map((separator) => run.lastIndexOf(separator)));
    return cellAt === 0 && at > 0 ? run : `${run.slice(0, cellAt)}'${run.slice(cellAt)}`;
  });
  return formula.test(guarded.charAt(0)) || /^[\t\r\n]/.test(guarded) ? `'${guarded}` : guarded;
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Whole numbers beyond 2^53 and what JSON has no number for become texts. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return isDuckDbs(value) ? duckDbText(value) : value;
}

function arrowData({ type }: ResultColumn, values: readonly ResultValue[]): Data {
  switch (type) {
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
      return vectorFromArray(values as (number | null)[], new Int32()).data[0] ?? emptyData(new Int32());
    case 'BIGINT':
      return vectorFromArray(values as (bigint | null)[], new Int64()).data[0] ?? emptyData(new Int64());
    case 'FLOAT':
    case 'DOUBLE':
      return vectorFromArray(values as (number | null)[], new Float64()).data[0] ?? emptyData(new Float64());
    case 'BOOLEAN':
      return vectorFromArray(values as (boolean | null)[], new Bool()).data[0] ?? emptyData(new Bool());
    case 'DATE':
    case 'TIMESTAMP':
      return timestampData(values);
    default:
      return (
        vectorFromArray(
          values.map((value) => (value === null ? null : displayText(value))),
          new Utf8(),
        ).data[0] ?? emptyData(new Utf8())
      );
  }
}

function emptyData(type: DataType): Data {
  return makeData({ type, length: 0, nullCount: 0 });
}

/** Microseconds as DuckDB has them: JavaScript's dates stop at the millisecond. */
function timestampData(values: readonly ResultValue[]): Data {
  const micros = new BigInt64Array(values.length);
  const valid = new Uint8Array(Math.ceil(values.length / 64) * 8);
  let nullCount = 0;
  for (const [row, value] of values.entries()) {
    if (value instanceof DuckDBTimestampValue) micros[row] = value.micros;
    else if (value instanceof DuckDBDateValue) micros[row] = BigInt(value.days) * 86_400_000_000n;
    else {
      nullCount += 1;
      continue;
    }
    valid[row >> 3]! |= 1 << (row & 7);
  }
  return makeData({
    type: new TimestampMicrosecond(),
    length: values.length,
    nullCount,
    nullBitmap: valid,
    data: micros,
  });
}
