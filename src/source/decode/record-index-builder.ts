/** Builds the index of the records and fields in a page, in typed arrays that grow by doubling. */

import type { Page, RecordIndex } from '../../stages.ts';

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

  get lastEnd(): number {
    return this.recordEnd[this.length - 1]!;
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

/** Returns a page with `count` records from row `first` on, over the same bytes. Nothing is copied. */
export function sliceRecords(page: Page, first: number, count: number): Page {
  const { width, length, ...records } = page.records;
  if (first === 0 && count === length) return page;
  const end = first + count;
  return {
    ...page,
    records: {
      width,
      length: count,
      recordStart: records.recordStart.subarray(first, end),
      recordEnd: records.recordEnd.subarray(first, end),
      isObject: records.isObject.subarray(first, end),
      fieldStart: records.fieldStart.subarray(first * width, end * width),
      fieldEnd: records.fieldEnd.subarray(first * width, end * width),
      fieldKind: records.fieldKind.subarray(first * width, end * width),
    },
  };
}
