/** Reads decimal numbers from their digits, stored as integers of the smallest unit. They never pass through a float. */

import { batchRows, type Column, type Kind, validityOf } from './kind.ts';
import { mixLong } from './whole-number.ts';
import * as arrow from '../runtime/arrow.ts';
import { readNumberText } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import type { FingerprintHash } from './fingerprints.ts';
import type { Page } from '../stages.ts';

/** @param precision Total number of digits, at most 38; `scale` of them after the point. */
export function decimalKind(precision: number, scale: number): Kind {
  const unusable = `is not a decimal number of at most ${precision} digits, ${scale} of them after the point`;
  return {
    sqlType: `DECIMAL(${precision},${scale})`,
    stagedType: `DECIMAL(38,${scale})`,
    malformed: () => ({
      en: unusable,
      id: `bukan bilangan desimal dengan paling banyak ${precision} angka, ${scale} di antaranya di belakang koma`,
    }),
    unusable,
    schema: { type: 'string', pattern: '^-?[0-9]+([.][0-9]+)?$' },
    newColumn: (rows) => new DecimalColumn(precision, scale, rows),
  };
}

/** Formats a decimal like DuckDB, which omits the zero before the point if the type has no digit there. Sums have 38 digits. */
export function formatDecimal(units: bigint, scale: number, precision = 38): string {
  const digits = String(units < 0n ? -units : units).padStart(precision > scale ? scale + 1 : scale, '0');
  const point = digits.length - scale;
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}${scale === 0 ? '' : `.${digits.slice(point)}`}`;
}

export class DecimalColumn implements Column {
  readonly valid: Uint8Array;
  readonly scale: number;
  private readonly halves: BigInt64Array;
  private readonly precision: number;
  private readonly bound: bigint;

  constructor(precision: number, scale: number, rows = batchRows) {
    this.valid = new Uint8Array(rows);
    this.halves = new BigInt64Array(rows * 2);
    this.precision = precision;
    this.scale = scale;
    this.bound = 10n ** BigInt(precision);
  }

  fill(page: Page, record: number, column: number, row: number): number {
    const text = readNumberText(page, record, column);
    const units = typeof text === 'number' ? text : readDecimal(text, this.scale);
    const isIn = typeof units === 'bigint' && units < this.bound && units > -this.bound;
    this.valid[row] = isIn ? 1 : 0;
    this.halves[2 * row] = isIn ? BigInt.asIntN(64, units) : 0n;
    this.halves[2 * row + 1] = isIn ? units >> 64n : 0n;
    if (isIn) return 0;
    return typeof units === 'number' ? units : NullReason.malformed;
  }

  units(row: number): bigint {
    return (this.halves[2 * row + 1]! << 64n) | BigInt.asUintN(64, this.halves[2 * row]!);
  }

  mix(row: number, into: FingerprintHash): void {
    mixLong(this.halves[2 * row]!, into);
    mixLong(this.halves[2 * row + 1]!, into);
  }

  value(row: number): string | null {
    return this.valid[row] === 1 ? formatDecimal(this.units(row), this.scale, this.precision) : null;
  }

  toData(rows: number) {
    return arrow.makeData({
      ...validityOf(this.valid, rows),
      type: new arrow.Decimal(this.scale, this.precision, 128),
      data: new Uint32Array(this.halves.buffer, 0, rows * 4),
    });
  }
}

/**
 * Returns a decimal in the smallest unit; a code of `NullReason` if it has too many digits after the point. A JSON number may have an
 * exponent, which is exact: some servers write 12345678.9 as 1.23456789E7.
 */
function readDecimal(text: string, scale: number): bigint | number {
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
