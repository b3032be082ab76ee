/** Defines a kind of column: how its values are read, kept in a batch, stored and described. */

import type { Data } from 'apache-arrow';
import type { FingerprintHash } from './fingerprints.ts';
import type { Page } from '../stages.ts';

type Json = Readonly<Record<string, unknown>>;

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

export interface Phrase {
  readonly en: string;
  readonly id: string;
}

export interface Kind {
  readonly sqlType: string;
  /** Type with the memory layout of the Arrow batch. DuckDB casts it to `sqlType`. */
  readonly stagedType: string;
  /** Describes a value that can't be read, such as "is not valid text". `raw` is the text from the source. */
  malformed(raw: string | null): Phrase;
  readonly unusable: string;
  /** Minimum and maximum of a whole number. */
  readonly bounds?: readonly [least: bigint, most: bigint];
  readonly schema: Json;
  newColumn(rows?: number): Column;
}

/** Packs flags into one bit per row, least significant first, as in Arrow and DuckDB. */
export function packBits(flags: Uint8Array, rows: number): Uint8Array {
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
