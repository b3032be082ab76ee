/** Reads decimal numbers from their digits, stored as integers of the smallest unit. They never pass through a float. */

import { LongColumn } from './column.ts';
import { describeMalformed, type Kind } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { readNumberText } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import { withPoint } from './separators.ts';
import type { Separator } from '../project/declaration.ts';
import { FieldKind } from '../stages.ts';

interface DecimalNumber {
  /** Total number of digits, at most 38. */
  readonly precision: number;
  /** Digits after the point. */
  readonly scale: number;
  /** Decimal separator in texts. Default: a point. */
  readonly point?: Separator;
  /** Separator of groups of three digits in texts. */
  readonly group?: Separator;
}

export function decimalKind({ precision, scale, point = '.', group }: DecimalNumber): Kind {
  const bound = 10n ** BigInt(precision);
  return {
    sqlType: `DECIMAL(${precision},${scale})`,
    stagedType: `DECIMAL(38,${scale})`,
    ...describeMalformed(
      `is not a decimal number of at most ${precision} digits, ${scale} of them after the point`,
      `bukan bilangan desimal dengan paling banyak ${precision} angka, ${scale} di antaranya di belakang koma`,
    ),
    schema: { type: 'string', pattern: '^-?[0-9]+([.][0-9]+)?$' },
    newColumn: (rows) =>
      new LongColumn(
        {
          read(page, record, column) {
            const written = readNumberText(page, record, column);
            if (typeof written === 'number') return written;
            const isPlain =
              (point === '.' && group === undefined) ||
              page.records.fieldKind[record * page.records.width + column] === FieldKind.number;
            const units = readDecimal(isPlain ? written : (withPoint(written, point, group) ?? ''), scale);
            return units >= bound || units <= -bound ? NullReason.malformed : units;
          },
          print: (units) => formatDecimal(units, scale, precision),
          toData: ({ buffer }, validity) =>
            arrow.makeData({
              ...validity,
              type: new arrow.Decimal(scale, precision, 128),
              data: new Uint32Array(buffer, 0, validity.length * 4),
            }),
        },
        rows,
        2,
      ),
  };
}

/** Formats a decimal like DuckDB, which omits the zero before the point if the type has no digit there. Sums have 38 digits. */
export function formatDecimal(units: bigint, scale: number, precision = 38): string {
  const digits = String(units < 0n ? -units : units).padStart(precision > scale ? scale + 1 : scale, '0');
  const point = digits.length - scale;
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}${scale === 0 ? '' : `.${digits.slice(point)}`}`;
}

/**
 * Returns a decimal in the smallest unit; a code of `NullReason` if it has too many digits after the point. A JSON number may have an
 * exponent, which is exact: some servers write 12345678.9 as 1.23456789E7.
 */
export function readDecimal(text: string, scale: number): bigint | number {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?$/.exec(text) ?? [];
  if (whole === undefined || text.length > 100) return NullReason.malformed;
  // Power of ten from the digits without a point to the smallest unit.
  const shift = scale - fraction.length + Number(exponent);
  let units = BigInt(whole + fraction);
  if (shift >= 0) units *= 10n ** BigInt(shift);
  else {
    const divisor = 10n ** BigInt(-shift);
    if (units % divisor !== 0n) return NullReason.malformed;
    units /= divisor;
  }
  return sign === '-' ? -units : units;
}
