/** Reads dates such as `2024-02-14`, stored as days since 1970. */

import { SmallColumn } from './column.ts';
import { describeMalformed, type Kind } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { readNumberText, readStringText } from './read-field.ts';
import { exampleOf, reordered } from '../project/time-format.ts';
import { NullReason } from '../project/reserved.ts';
import type { Page } from '../stages.ts';

const millisecondsPerDay = 86_400_000;

/** @param format How the source writes dates, such as DD/MM/YYYY. Default: YYYY-MM-DD. */
export function dateKind(format: string | undefined): Kind {
  const example = format ?? 'YYYY-MM-DD';
  return {
    sqlType: 'DATE',
    stagedType: 'DATE',
    ...describeMalformed(`is not a date such as ${exampleOf(example)}`, `bukan tanggal seperti ${exampleOf(example)}`),
    schema: { type: 'string', format: 'date' },
    newColumn: (rows) =>
      new SmallColumn(
        {
          read: (page, record, column) => readDate(page, record, column, format),
          print: (days) => new Date(Number(days) * millisecondsPerDay).toISOString().slice(0, 10),
          toData: (data, validity) => arrow.makeData({ ...validity, type: new arrow.DateDay(), data }),
        },
        rows,
      ),
  };
}

function readDate(page: Page, record: number, column: number, format: string | undefined): bigint | number {
  const written = format === undefined ? readStringText : readNumberText;
  const text = written(page, record, column);
  if (typeof text === 'number') return text;
  const milliseconds = format === undefined ? readDay(text) : readDay(reordered(text, format)?.slice(0, 10) ?? '');
  return milliseconds === null ? NullReason.malformed : BigInt(milliseconds / millisecondsPerDay);
}

/** Returns the start of a day in UTC, in milliseconds since 1970; null if the date doesn't exist. */
export function readDay(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return null;
  const milliseconds = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text) ? milliseconds : null;
}
