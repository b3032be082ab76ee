/** Reads and writes the cursor of an incremental sync: in requests, records and SQL. */

import { unitsOf } from './column.ts';
import { createKeyReader } from './key-reader.ts';
import { kindOf } from './kinds.ts';
import { type AnyPipeline, type ColumnDefinition, placeOf } from '../project/declaration.ts';
import { formatted } from '../project/time-format.ts';
import type { Page } from '../stages.ts';

const second = 1_000_000n;

/** Returns the precision with which a request can name a value, in its unit: days, microseconds or 1. */
export function precisionOf(column: ColumnDefinition): bigint {
  if (column.kind !== 'timestamp') return 1n;
  const { format } = column;
  if (format === undefined || format === 's' || format.includes('ss')) return second;
  if (format === 'ms') return second / 1000n;
  return format.includes('mm') ? 60n * second : format.includes('HH') ? 3600n * second : 86_400n * second;
}

/** Returns milliseconds in the unit of a date or a timestamp, rounded up. */
export function inUnits(column: ColumnDefinition, milliseconds: number): bigint {
  return column.kind === 'date' ? BigInt(Math.ceil(milliseconds / 86_400_000)) : BigInt(milliseconds) * 1000n;
}

/** Writes a value as the source writes those of the column. */
export function writeCursor(column: ColumnDefinition, units: bigint): string {
  if (column.kind === 'date') {
    const iso = new Date(Number(units) * 86_400_000).toISOString();
    return column.format === undefined ? iso.slice(0, 10) : formatted(iso, column.format);
  }
  if (column.kind !== 'timestamp') return String(units);
  const { format, offset } = column;
  if (format === 's') return String(units / second);
  if (format === 'ms') return String((units * 1000n) / second);
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d{2}):(\d{2})$/.exec(offset ?? '') ?? [];
  const shift = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  const iso = new Date(Number(units / 1000n) + shift).toISOString().slice(0, 19);
  if (format !== undefined) return formatted(iso, format);
  return offset === undefined ? `${iso}Z` : iso;
}

/** Returns SQL for the value of a column of a relation in its unit. */
export function cursorSql({ kind }: ColumnDefinition, name: string, relation: string): string {
  const value = `${relation}."${name}"`;
  if (kind === 'date') return `(${value} - DATE '1970-01-01')::BIGINT`;
  return kind === 'timestamp' ? `epoch_us(${value})` : `${value}::BIGINT`;
}

/** SQL for the key of a row as a text, equal to what `createCursorReader` returns. */
export function keySql({ key }: Pick<AnyPipeline, 'key'>): string {
  return `concat_ws(chr(0), ${key.map((name) => `"${name}"::VARCHAR`).join(', ')})`;
}

/** Returns a function that reads key and cursor of a record; null if the record is in quarantine, or has no cursor. */
export function createCursorReader(
  pipeline: AnyPipeline,
  cursor: string,
): (page: Page, row: number) => { readonly key: string; readonly cursor: bigint } | null {
  const readKey = createKeyReader(pipeline);
  const place = placeOf(pipeline, cursor);
  const column = kindOf(pipeline.columns[cursor]!).newColumn(1);
  return (page, row) => {
    const key = readKey(page, row);
    return key === null || column.fill(page, row, place, 0) !== 0
      ? null
      : { key: key.join('\0'), cursor: unitsOf(column, 0) };
  };
}
