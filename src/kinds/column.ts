/** Keeps the values of a column in a batch: each as a whole number of the smallest unit of its kind, such as days or microseconds. */

import type { Data } from 'apache-arrow';
import type { FingerprintHash } from './fingerprints.ts';
import type { Page } from '../stages.ts';

/** Rows of a full batch; a multiple of DuckDB's 2,048. */
export const batchRows = 16_384;

/** A value for comparing and printing. Texts of dates, timestamps and decimals are formatted like in DuckDB. */
type Value = number | bigint | string | boolean;

/** A column of a batch. Rows are filled in order, and a discarded row is filled again. */
export interface Column {
  readonly valid: Uint8Array;
  /**
   * Reads a record's field into a row.
   *
   * @param column Position of the field in the index of the page.
   * @returns 0, or a code of `NullReason`.
   */
  fill(page: Page, record: number, column: number, row: number): number;
  /** Mixes the published value of a row, which must not be NULL, into a fingerprint. */
  mix(row: number, into: FingerprintHash): void;
  value(row: number): Value | null;
  toData(rows: number): Data;
}

/** How the values of a kind become units and texts, and the Arrow data of a batch. */
export interface Units<Values> {
  /** Returns the units, or a code of `NullReason`. */
  read(page: Page, record: number, column: number): bigint | number;
  print(units: bigint): Value;
  toData(values: Values, validity: ReturnType<typeof validityOf>): Data;
}

abstract class UnitColumn<Values extends Int32Array | BigInt64Array> implements Column {
  readonly valid: Uint8Array;
  readonly values: Values;
  private readonly kind: Units<Values>;

  constructor(kind: Units<Values>, values: Values, rows: number) {
    this.kind = kind;
    this.values = values;
    this.valid = new Uint8Array(rows);
  }

  fill(page: Page, record: number, column: number, row: number): number {
    const units = this.kind.read(page, record, column);
    const isValid = typeof units === 'bigint';
    this.valid[row] = isValid ? 1 : 0;
    this.set(row, isValid ? units : 0n);
    return isValid ? 0 : units;
  }

  abstract mix(row: number, into: FingerprintHash): void;
  abstract units(row: number): bigint;
  protected abstract set(row: number, units: bigint): void;

  value(row: number): Value | null {
    return this.valid[row] === 1 ? this.kind.print(this.units(row)) : null;
  }

  toData(rows: number): Data {
    const width = this.values.length / this.valid.length;
    return this.kind.toData(this.values.subarray(0, rows * width) as Values, validityOf(this.valid, rows));
  }
}

/** Returns the value of a row of whole numbers, days or microseconds in its unit. */
export function unitsOf(column: Column, row: number): bigint {
  if (column instanceof UnitColumn) return column.units(row);
  throw new Error('the column has no units');
}

/** Keeps units of 32 bits. */
export class SmallColumn extends UnitColumn<Int32Array> {
  constructor(kind: Units<Int32Array>, rows = batchRows) {
    super(kind, new Int32Array(rows), rows);
  }

  mix(row: number, into: FingerprintHash): void {
    into.addNumber(this.values[row]!);
  }

  units(row: number): bigint {
    return BigInt(this.values[row]!);
  }

  protected set(row: number, units: bigint): void {
    this.values[row] = Number(units);
  }
}

/** Keeps units of 64 bits, or of 128 bits as two words, the lower one first. */
export class LongColumn extends UnitColumn<BigInt64Array> {
  private readonly words: number;

  constructor(kind: Units<BigInt64Array>, rows = batchRows, words: 1 | 2 = 1) {
    super(kind, new BigInt64Array(rows * words), rows);
    this.words = words;
  }

  mix(row: number, into: FingerprintHash): void {
    for (let at = row * this.words; at < (row + 1) * this.words; at += 1) {
      into.addNumber(Number(BigInt.asIntN(32, this.values[at]!)));
      into.addNumber(Number(BigInt.asIntN(32, this.values[at]! >> 32n)));
    }
  }

  units(row: number): bigint {
    const { words, values } = this;
    return words === 1 ? values[row]! : (values[2 * row + 1]! << 64n) | BigInt.asUintN(64, values[2 * row]!);
  }

  protected set(row: number, units: bigint): void {
    const { words, values } = this;
    values[row * words] = units;
    if (words === 2) values[2 * row + 1] = units >> 64n;
  }
}

export type NumberColumn = SmallColumn | LongColumn;

/** Packs flags into one bit per row, least significant first, as in Arrow and DuckDB. */
export function packBits(flags: ArrayLike<number>, rows: number): Uint8Array {
  const bits = new Uint8Array(Math.ceil(rows / 64) * 8);
  for (let row = 0; row < rows; row += 1) if (flags[row] === 1) bits[row >> 3]! |= 1 << (row & 7);
  return bits;
}

export function countOnes(flags: Uint8Array, rows: number): number {
  let ones = 0;
  for (let row = 0; row < rows; row += 1) ones += flags[row]!;
  return ones;
}

export function validityOf(valid: Uint8Array, rows: number) {
  return { length: rows, nullCount: rows - countOnes(valid, rows), nullBitmap: packBits(valid, rows) };
}
