/** Finds out where the records and fields of a page lie, takes a run of them, and tells records apart by 64-bit fingerprints. */

import { kindOfValue } from '../../records/fields.ts';
import { begin, mix, type Mixed, mixValue } from '../../records/fingerprint-table.ts';
import { FieldKind, type Page, type RecordIndex } from '../../stages.ts';

/** Collects the bounds of records in typed arrays that grow by doubling. */
export class RecordIndexBuilder {
  readonly width: number;
  length = 0;
  fieldStart: Int32Array;
  fieldEnd: Int32Array;
  fieldKind: Uint8Array;
  private recordStart: Int32Array;
  private recordEnd: Int32Array;
  private isObject: Uint8Array;

  constructor(width: number, capacity: number) {
    this.width = width;
    this.recordStart = new Int32Array(capacity);
    this.recordEnd = new Int32Array(capacity);
    this.isObject = new Uint8Array(capacity);
    this.fieldStart = new Int32Array(capacity * width);
    this.fieldEnd = new Int32Array(capacity * width);
    this.fieldKind = new Uint8Array(capacity * width);
  }

  open(start: number): number {
    if (this.length === this.recordStart.length) this.grow();
    this.recordStart[this.length] = start;
    this.length += 1;
    return this.length - 1;
  }

  close(row: number, end: number, isObject: boolean): void {
    this.recordEnd[row] = end;
    this.isObject[row] = isObject ? 1 : 0;
  }

  finish(): RecordIndex {
    const { length, width, recordStart, recordEnd, isObject, fieldStart, fieldEnd, fieldKind } = this;
    return { length, width, recordStart, recordEnd, isObject, fieldStart, fieldEnd, fieldKind };
  }

  private grow(): void {
    this.recordStart = doubled(this.recordStart, Int32Array);
    this.recordEnd = doubled(this.recordEnd, Int32Array);
    this.isObject = doubled(this.isObject, Uint8Array);
    this.fieldStart = doubled(this.fieldStart, Int32Array);
    this.fieldEnd = doubled(this.fieldEnd, Int32Array);
    this.fieldKind = doubled(this.fieldKind, Uint8Array);
  }
}

function doubled<Type extends Int32Array | Uint8Array>(array: Type, Constructor: new (length: number) => Type): Type {
  const larger = new Constructor(array.length * 2);
  larger.set(array);
  return larger;
}

/** A page of `taken` records from the one at `first` on, over the same bytes; nothing is copied. */
export function takeRecords(page: Page, first: number, taken: number): Page {
  const { width, length, ...records } = page.records;
  if (first === 0 && taken === length) return page;
  const end = first + taken;
  return {
    ...page,
    records: {
      width,
      length: taken,
      recordStart: records.recordStart.subarray(first, end),
      recordEnd: records.recordEnd.subarray(first, end),
      isObject: records.isObject.subarray(first, end),
      fieldStart: records.fieldStart.subarray(first * width, end * width),
      fieldEnd: records.fieldEnd.subarray(first * width, end * width),
      fieldKind: records.fieldKind.subarray(first * width, end * width),
    },
  };
}

/** A record's, written into by `fingerprintRecord`. */
export type Fingerprint = Mixed;

/**
 * Writes the fingerprint of a record into `into`: of its key fields where it has them all, of the whole record otherwise.
 * Two records of one key are one to a reading, whatever their other values are.
 */
export function fingerprintRecord(page: Page, row: number, keyColumns: readonly number[], into: Fingerprint): void {
  const { records, bytes } = page;
  begin(into);
  const base = row * records.width;
  let isWhole = records.isObject[row] === 1;
  for (const column of keyColumns) if (records.fieldKind[base + column] === FieldKind.missing) isWhole = false;
  if (isWhole) {
    for (const column of keyColumns) mixValue(page, base + column, into);
  } else mix(bytes, records.recordStart[row]!, records.recordEnd[row]!, into);
}

/**
 * Writes the fingerprint of all of a record's declared values, however they are escaped; of all that it is where it lacks a part of its key.
 * `key` is the record's own fingerprint, so that only the `otherColumns`, those that are no part of the key, are read again.
 */
export function fingerprintContent(
  page: Page,
  row: number,
  key: Fingerprint,
  otherColumns: readonly number[],
  into: Fingerprint,
): void {
  const { records } = page;
  const base = row * records.width;
  let kinds = 0;
  for (let slot = base; slot < base + records.width; slot += 1) kinds = Math.imul(kinds, 31) + kindOfValue(page, slot);
  into.high = key.high ^ kinds;
  into.low = key.low ^ kinds;
  for (const column of otherColumns) mixValue(page, base + column, into);
}
