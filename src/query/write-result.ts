/** Writes a query's result as CSV, JSON or an Arrow IPC file. */

import {
  Bool,
  Float64,
  Int32,
  Int64,
  RecordBatchFileWriter,
  Table,
  TimestampMicrosecond,
  Utf8,
  vectorFromArray,
  type DataType,
} from 'apache-arrow';
import type { JS } from '@duckdb/node-api';
import type { QueryResult, ResultColumn } from './run-query.ts';

/** Takes text piece by piece; waits where the reader is slow. */
export type Write = (text: string) => Promise<void>;

/** CSV after RFC 4180, with a header, LF line ends, NULL as nothing and an empty text as "". Gives the number of rows. */
export async function writeCsv(result: QueryResult, write: Write): Promise<number> {
  const { columns } = result;
  await write(`${columns.map(({ name }) => csvText(name)).join(',')}\n`);
  let rows = 0;
  for await (const group of result.groups()) {
    rows += group.length;
    await write(group.map((row) => `${row.map(csvValue).join(',')}\n`).join(''));
  }
  return rows;
}

/** A JSON array of one object per row, one row a line; whole numbers beyond 2^53 become texts, so that none is rounded. */
export async function writeJson(result: QueryResult, write: Write): Promise<number> {
  const { columns } = result;
  let rows = 0;
  await write('[');
  for await (const group of result.groups()) {
    const lines = group.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])), jsonValue),
    );
    if (lines.length > 0) await write(`${rows === 0 ? '' : ','}\n${lines.join(',\n')}`);
    rows += group.length;
  }
  await write(rows === 0 ? ']\n' : '\n]\n');
  return rows;
}

/** An Arrow IPC file; types that Arrow and this client do not share become text. Gives the bytes and the number of rows. */
export async function toArrowFile(result: QueryResult): Promise<{ bytes: Uint8Array; rows: number }> {
  const { columns } = result;
  const all: (readonly JS[])[] = [];
  for await (const group of result.groups()) all.push(...group);
  const vectors = columns.map((column, index) => {
    const { type, convert } = arrowType(column);
    return [
      column.name,
      vectorFromArray(
        all.map((row) => (row[index] === null || row[index] === undefined ? null : convert(row[index]))),
        type,
      ),
    ];
  });
  const writer = RecordBatchFileWriter.writeAll(new Table(Object.fromEntries(vectors)));
  return { bytes: await writer.toUint8Array(), rows: all.length };
}

/** A value as a person reads it, in a table or a CSV cell. */
export function displayText(value: JS): string {
  if (value === null) return '';
  if (value instanceof Date) return dateText(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return typeof value === 'object' ? JSON.stringify(value, jsonValue) : String(value);
}

function csvValue(value: JS): string {
  if (value === null) return '';
  return value === '' ? '""' : csvText(displayText(value));
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value;
}

/** Midnight is a date: DuckDB's DATE comes as one. */
function dateText(value: Date): string {
  const text = value.toISOString();
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text;
}

function arrowType({ type }: ResultColumn): { type: DataType; convert: (value: JS) => unknown } {
  switch (type) {
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
      return { type: new Int32(), convert: Number };
    case 'BIGINT':
      return { type: new Int64(), convert: (value) => value };
    case 'FLOAT':
    case 'DOUBLE':
      return { type: new Float64(), convert: Number };
    case 'BOOLEAN':
      return { type: new Bool(), convert: Boolean };
    case 'TIMESTAMP':
    case 'DATE':
      return { type: new TimestampMicrosecond(), convert: (value) => (value as Date).getTime() };
    default:
      return { type: new Utf8(), convert: displayText };
  }
}
