/** Reads timestamps in RFC 3339 format, stored in UTC as microseconds since 1970. */

import { LongColumn } from './column.ts';
import { readDay } from './date.ts';
import { describeMalformed, type Kind } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { readDecimal } from './decimal.ts';
import { readNumberText, readStringText } from './read-field.ts';
import { exampleOf, reordered } from '../project/time-format.ts';
import { NullReason } from '../project/reserved.ts';

const [first, last] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];

interface Timestamp {
  /** Offset such as +07:00 for values without one. If undefined, such values are malformed. */
  readonly offset?: string;
  /** How the source writes times: `s` or `ms` since 1970, or a format such as DD/MM/YYYY HH:mm. */
  readonly format?: string;
  /** If true, digits after the sixth of a second are left out. Otherwise they make a value malformed, unless they are 0. */
  readonly cut?: true;
}

export function timestampKind({ offset, format, cut }: Timestamp): Kind {
  const example = format === undefined ? '2024-02-14T07:00:00' : isEpoch(format) ? '1707894000' : exampleOf(format);
  const isComplete = offset !== undefined || format !== undefined;
  return {
    sqlType: 'TIMESTAMP',
    stagedType: 'TIMESTAMP',
    ...describeMalformed(
      `is not a time such as ${example}${isComplete ? '' : 'Z, with Z or an offset'}`,
      `bukan waktu seperti ${example}${isComplete ? '' : 'Z, dengan Z atau selisih waktu'}`,
    ),
    schema: { type: 'string', format: 'date-time' },
    newColumn: (rows) =>
      new LongColumn(
        {
          read(page, record, column) {
            const text = (format === undefined ? readStringText : readNumberText)(page, record, column);
            if (typeof text === 'number') return text;
            return (
              (format === undefined ? readMoment(text, offset, cut) : readFormatted(text, format, offset)) ??
              NullReason.malformed
            );
          },
          print: printMoment,
          toData: (data, validity) => arrow.makeData({ ...validity, type: new arrow.TimestampMicrosecond(), data }),
        },
        rows,
      ),
  };
}

function isEpoch(format: string): boolean {
  return format === 's' || format === 'ms';
}

function readFormatted(text: string, format: string, offset = '+00:00'): bigint | null {
  if (!isEpoch(format)) return readMoment(reordered(text, format) ?? '', offset);
  const microseconds = readDecimal(text, format === 's' ? 6 : 3);
  if (typeof microseconds === 'number') return null;
  const milliseconds = Number(microseconds / 1000n);
  return milliseconds < first || milliseconds > last ? null : microseconds;
}

function printMoment(moment: bigint): string {
  const fraction = ((moment % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((moment - fraction) / 1000n)).toISOString().slice(0, 19).replace('T', ' ');
  return fraction === 0n ? seconds : `${seconds}.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`;
}

/** Returns microseconds since 1970; null if the text isn't a timestamp, or has more than six nonzero digits of a second. */
export function readMoment(text: string, offset: string | undefined, cut = false): bigint | null {
  const [, date, hour, minute, second, fraction = '', zone = offset] =
    /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?([Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/.exec(
      text,
    ) ?? [];
  const begin = date === undefined ? null : readDay(date);
  if (begin === null || zone === undefined || (!cut && /[1-9]/.test(fraction.slice(6)))) return null;
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
