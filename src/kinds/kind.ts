/** What a kind of column says of itself: how its values are read, kept in a batch, stored and described. */

import type { Data } from 'apache-arrow';
import { NullReason } from '../project/reserved.ts';
import type { Fingerprint } from './fingerprints.ts';
import { FieldKind, type Page } from '../stages.ts';

/** A piece of a JSON schema. */
type Json = Readonly<Record<string, unknown>>;

/** Rows of a full batch; a multiple of DuckDB's 2,048. */
export const batchRows = 16_384;

/** A value as it is compared and printed; the texts of dates, timestamps and decimals are those of DuckDB. */
export type Value = number | bigint | string | boolean;

/** A column of a batch while it is being filled. Rows come in their order; one that is not kept is filled again. */
export interface Column {
  /** 1 where the row has a value, 0 for NULL. */
  readonly valid: Uint8Array;
  /**
   * Reads a record's field into a row.
   *
   * @param column Place of the field among those of the page's records.
   * @returns 0, or the code of `NullReason` that says why the row has no value.
   */
  fill(page: Page, record: number, column: number, row: number): number;
  /** Mixes a row's value, as it is published, into a fingerprint. Only for rows that have one. */
  mix(row: number, into: Fingerprint): void;
  /** Null for NULL. */
  value(row: number): Value | null;
  /** The first `rows` rows as Arrow. */
  toData(rows: number): Data;
}

/** In words, as the rest of a sentence that begins with the column's name. */
export interface Words {
  readonly en: string;
  readonly id: string;
}

export interface Kind {
  /** The type of the column in DuckDB and, through it, in Parquet. */
  readonly sqlType: string;
  /** The type whose memory is laid out as in the Arrow batch; DuckDB casts it to `sqlType`. */
  readonly stagedType: string;
  /** What a value is that cannot be read, such as "is not text"; `raw` is what the source sent. */
  malformed(raw: string | null): Words;
  /** The same for a record that has no row because of it. */
  readonly unusable: string;
  /** A value as the service gives it, in a JSON schema; all of them are strings. */
  readonly schema: Json;
  /** @param rows As many as it has room for. */
  newColumn(rows?: number): Column;
}

/** Why a field that holds no string and no number has no value; `malformed` where it has one of another type. */
export function codeWithoutText(fieldKind: number | undefined): number {
  if (fieldKind === FieldKind.missing) return NullReason.missing;
  if (fieldKind === FieldKind.null) return NullReason.null;
  return NullReason.malformed;
}

/** One bit per row, least significant first, as Arrow and DuckDB both have it. */
export function packBits(flags: Uint8Array, rows: number): Uint8Array {
  // Arrow wants whole 8-byte words.
  const bits = new Uint8Array(Math.ceil(rows / 64) * 8);
  for (let row = 0; row < rows; row += 1) if (flags[row] === 1) bits[row >> 3]! |= 1 << (row & 7);
  return bits;
}

export function countOnes(flags: Uint8Array, rows: number): number {
  let ones = 0;
  for (let row = 0; row < rows; row += 1) ones += flags[row]!;
  return ones;
}

/** Length, NULLs and their bitmap, as Arrow wants them of each column. */
export function validityOf(valid: Uint8Array, rows: number) {
  return { length: rows, nullCount: rows - countOnes(valid, rows), nullBitmap: packBits(valid, rows) };
}
