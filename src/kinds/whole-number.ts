/** Reads whole numbers, stored in 32 bits if their bounds fit, and otherwise in 64 bits. */

import { batchRows, type Column, type Kind, validityOf, type Phrase } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { maxCount, readInteger, readNumberText } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import type { FingerprintHash } from './fingerprints.ts';
import { formatNumber } from '../runtime/text.ts';
import type { Page } from '../stages.ts';

const least64 = -(2n ** 63n);
const most64 = 2n ** 63n - 1n;

export const countKind: Kind = wholeNumberKind(0, maxCount);

/** @param min Lower bound, inclusive; undefined for the minimum of 64 bits. `max` is the upper bound. */
export function wholeNumberKind(min: number | undefined, max: number | undefined): Kind {
  const [least, most] = [min === undefined ? least64 : BigInt(min), max === undefined ? most64 : BigInt(max)];
  const isSmall = least >= -BigInt(maxCount) - 1n && most <= BigInt(maxCount);
  const isUnsigned = least >= 0n;
  const sqlType = isSmall ? 'INTEGER' : 'BIGINT';
  return {
    sqlType,
    stagedType: sqlType,
    malformed(raw): Phrase {
      // The first digits decide, and a number may have any length.
      const number = /^-?[0-9]+$/.test(raw ?? '') ? BigInt(raw!.slice(0, 38)) : null;
      if (number !== null && number < least)
        return {
          en: `is less than ${formatNumber(least)}, the minimum of the column`,
          id: `kurang dari ${formatNumber(least)}, nilai minimum kolom`,
        };
      if (number !== null && number > most)
        return {
          en: `is more than ${formatNumber(most)}, the maximum of the column`,
          id: `lebih dari ${formatNumber(most)}, nilai maksimum kolom`,
        };
      return { en: 'is not a whole number', id: 'bukan bilangan bulat' };
    },
    unusable: `is not a whole number in digits, or is not between ${least} and ${most}`,
    bounds: [least, most],
    schema: { type: 'string', pattern: isUnsigned ? '^[0-9]+$' : '^-?[0-9]+$' },
    newColumn: (rows) => {
      if (!isSmall) return new LongColumn(least, most, rows);
      return isUnsigned ? new CountColumn(Number(least), Number(most), rows) : new IntegerColumn(least, most, rows);
    },
  };
}

export abstract class SmallColumn implements Column {
  readonly valid: Uint8Array;
  readonly values: Int32Array;

  constructor(rows = batchRows) {
    this.valid = new Uint8Array(rows);
    this.values = new Int32Array(rows);
  }

  abstract fill(page: Page, record: number, column: number, row: number): number;

  mix(row: number, into: FingerprintHash): void {
    into.addNumber(this.values[row]!);
  }

  value(row: number): number | null {
    return this.valid[row] === 1 ? this.values[row]! : null;
  }

  toData(rows: number) {
    return arrow.makeData({
      ...validityOf(this.valid, rows),
      type: new arrow.Int32(),
      data: this.values.subarray(0, rows),
    });
  }
}

class CountColumn extends SmallColumn {
  private readonly min: number;
  private readonly max: number;

  constructor(min: number, max: number, rows?: number) {
    super(rows);
    this.min = min;
    this.max = max;
  }

  fill(page: Page, record: number, column: number, row: number): number {
    let value = readInteger(page, record, column);
    if (value >= 0 && (value < this.min || value > this.max)) value = NullReason.malformed;
    this.valid[row] = value < 0 ? 0 : 1;
    this.values[row] = value < 0 ? 0 : value;
    return value < 0 ? value : 0;
  }
}

class IntegerColumn extends SmallColumn {
  private readonly least: bigint;
  private readonly most: bigint;

  constructor(least: bigint, most: bigint, rows?: number) {
    super(rows);
    this.least = least;
    this.most = most;
  }

  fill(page: Page, record: number, column: number, row: number): number {
    const value = readWhole(page, record, column, this.least, this.most);
    this.valid[row] = typeof value === 'bigint' ? 1 : 0;
    this.values[row] = typeof value === 'bigint' ? Number(value) : 0;
    return typeof value === 'bigint' ? 0 : value;
  }
}

export class LongColumn implements Column {
  readonly valid: Uint8Array;
  private readonly values: BigInt64Array;
  private readonly least: bigint;
  private readonly most: bigint;

  constructor(least: bigint, most: bigint, rows = batchRows) {
    this.valid = new Uint8Array(rows);
    this.values = new BigInt64Array(rows);
    this.least = least;
    this.most = most;
  }

  fill(page: Page, record: number, column: number, row: number): number {
    const value = readWhole(page, record, column, this.least, this.most);
    this.valid[row] = typeof value === 'bigint' ? 1 : 0;
    this.values[row] = typeof value === 'bigint' ? value : 0n;
    return typeof value === 'bigint' ? 0 : value;
  }

  units(row: number): bigint {
    return this.values[row]!;
  }

  mix(row: number, into: FingerprintHash): void {
    mixLong(this.values[row]!, into);
  }

  value(row: number): bigint | null {
    return this.valid[row] === 1 ? this.values[row]! : null;
  }

  toData(rows: number) {
    return arrow.makeData({
      ...validityOf(this.valid, rows),
      type: new arrow.Int64(),
      data: this.values.subarray(0, rows),
    });
  }
}

export function mixLong(value: bigint, into: FingerprintHash): void {
  into.addNumber(Number(BigInt.asIntN(32, value)));
  into.addNumber(Number(BigInt.asIntN(32, value >> 32n)));
}

function readWhole(page: Page, record: number, column: number, least: bigint, most: bigint): bigint | number {
  const text = readNumberText(page, record, column);
  if (typeof text === 'number') return text;
  if (!/^-?[0-9]{1,40}$/.test(text)) return NullReason.malformed;
  const value = BigInt(text);
  return value < least || value > most ? NullReason.malformed : value;
}
