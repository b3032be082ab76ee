/** Reads timestamps in RFC 3339 format, stored in UTC as microseconds since 1970. */

import { readDay } from './date.ts';
import { batchRows, type Column, type Kind, validityOf } from './kind.ts';
import { mixLong } from './whole-number.ts';
import * as arrow from '../runtime/arrow.ts';
import { readStringText } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import type { FingerprintHash } from './fingerprints.ts';
import type { Page } from '../stages.ts';

const [first, last] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];

/** @param offset Offset such as +07:00 for values without one. If undefined, such values are malformed. */
export function timestampKind(offset: string | undefined): Kind {
  const unusable = `is not a time such as 2024-02-14T07:00:00${offset === undefined ? 'Z, with Z or an offset' : ''}`;
  return {
    sqlType: 'TIMESTAMP',
    stagedType: 'TIMESTAMP',
    malformed: () => ({
      en: unusable,
      id: `bukan waktu seperti 2024-02-14T07:00:00${offset === undefined ? 'Z, dengan Z atau selisih waktu' : ''}`,
    }),
    unusable,
    schema: { type: 'string', format: 'date-time' },
    newColumn: (rows) => new TimestampColumn(offset, rows),
  };
}

class TimestampColumn implements Column {
  readonly valid: Uint8Array;
  private readonly microseconds: BigInt64Array;
  private readonly offset: string | undefined;

  constructor(offset: string | undefined, rows = batchRows) {
    this.offset = offset;
    this.valid = new Uint8Array(rows);
    this.microseconds = new BigInt64Array(rows);
  }

  fill(page: Page, record: number, column: number, row: number): number {
    const text = readStringText(page, record, column);
    const moment = typeof text === 'number' ? null : readMoment(text, this.offset);
    this.valid[row] = moment === null ? 0 : 1;
    this.microseconds[row] = moment ?? 0n;
    if (moment !== null) return 0;
    return typeof text === 'number' ? text : NullReason.malformed;
  }

  mix(row: number, into: FingerprintHash): void {
    mixLong(this.microseconds[row]!, into);
  }

  value(row: number): string | null {
    if (this.valid[row] !== 1) return null;
    const moment = this.microseconds[row]!;
    const fraction = ((moment % 1_000_000n) + 1_000_000n) % 1_000_000n;
    const seconds = new Date(Number((moment - fraction) / 1000n)).toISOString().slice(0, 19).replace('T', ' ');
    return fraction === 0n ? seconds : `${seconds}.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`;
  }

  toData(rows: number) {
    return arrow.makeData({
      ...validityOf(this.valid, rows),
      type: new arrow.TimestampMicrosecond(),
      data: this.microseconds.subarray(0, rows),
    });
  }
}

/** Returns microseconds since 1970; null if the text isn't a timestamp, or has more than six nonzero digits of a second. */
export function readMoment(text: string, offset: string | undefined): bigint | null {
  const [, date, hour, minute, second, fraction = '', zone = offset] =
    /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?([Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/.exec(
      text,
    ) ?? [];
  const begin = date === undefined ? null : readDay(date);
  if (begin === null || zone === undefined || /[1-9]/.test(fraction.slice(6))) return null;
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second ?? 0) - secondsOf(zone);
  const moment = begin + seconds * 1000;
  if (moment < first || moment > last) return null;
  return BigInt(moment) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

function secondsOf(zone: string): number {
  if (zone.length === 1) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}
