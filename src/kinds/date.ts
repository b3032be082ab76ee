/** Reads dates such as `2024-02-14`, stored as days since 1970. */

import { batchRows, type Column, type Kind, validityOf } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { readStringText } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import type { FingerprintHash } from './fingerprints.ts';
import type { Page } from '../stages.ts';

const millisecondsPerDay = 86_400_000;

export const dateKind: Kind = {
  sqlType: 'DATE',
  stagedType: 'DATE',
  malformed: () => ({ en: 'is not a date such as 2024-02-14', id: 'bukan tanggal seperti 2024-02-14' }),
  unusable: 'is not a date such as 2024-02-14',
  schema: { type: 'string', format: 'date' },
  newColumn: (rows) => new DateColumn(rows),
};

class DateColumn implements Column {
  readonly valid: Uint8Array;
  private readonly days: Int32Array;

  constructor(rows = batchRows) {
    this.valid = new Uint8Array(rows);
    this.days = new Int32Array(rows);
  }

  fill(page: Page, record: number, column: number, row: number): number {
    const text = readStringText(page, record, column);
    const milliseconds = typeof text === 'number' ? null : readDay(text);
    this.valid[row] = milliseconds === null ? 0 : 1;
    this.days[row] = milliseconds === null ? 0 : milliseconds / millisecondsPerDay;
    if (milliseconds !== null) return 0;
    return typeof text === 'number' ? text : NullReason.malformed;
  }

  mix(row: number, into: FingerprintHash): void {
    into.addNumber(this.days[row]!);
  }

  value(row: number): string | null {
    return this.valid[row] === 1 ? new Date(this.days[row]! * millisecondsPerDay).toISOString().slice(0, 10) : null;
  }

  toData(rows: number) {
    return arrow.makeData({
      ...validityOf(this.valid, rows),
      type: new arrow.DateDay(),
      data: this.days.subarray(0, rows),
    });
  }
}

/** Returns the start of a day in UTC, in milliseconds since 1970; null if the date doesn't exist. */
export function readDay(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return null;
  const milliseconds = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text) ? milliseconds : null;
}
