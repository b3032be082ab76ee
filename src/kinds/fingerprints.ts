/** Computes 64-bit fingerprints of records, and stores a million of them in a few megabytes. */

import { kindOfValue, unescapedBytes } from './read-field.ts';
import { FieldKind, type Page } from '../stages.ts';

/** Numbers per slot: the two halves of a fingerprint, and its value, which is 0 in a free slot. */
const width = 3;

/** A map from fingerprints to positive numbers: open addressing in one typed array, doubled when two thirds full. */
export class FingerprintTable {
  size = 0;
  private slots = new Int32Array(64 * width);
  private mask = 63;

  /** Adds a fingerprint with `number`, which is above 0. Returns 0 if it is new, and otherwise the number it already has. */
  insert({ high, low }: Fingerprint, number: number): number {
    if (this.size * 3 >= (this.mask + 1) * 2) this.grow();
    const at = this.find(high | 0, low | 0);
    const before = this.slots[at + 2]!;
    if (before !== 0) return before;
    this.put(at, high, low, number);
    this.size += 1;
    return 0;
  }

  /** Counts a fingerprint. Returns its count, including this time. */
  count(fingerprint: Fingerprint): number {
    if (this.insert(fingerprint, 1) === 0) return 1;
    return (this.slots[this.find(fingerprint.high | 0, fingerprint.low | 0) + 2]! += 1);
  }

  has({ high, low }: Fingerprint): boolean {
    return this.slots[this.find(high | 0, low | 0) + 2] !== 0;
  }

  private find(high: number, low: number): number {
    const { slots, mask } = this;
    for (let slot = (high ^ Math.imul(low, 0x9e3779b1)) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * width;
      if (slots[at + 2] === 0 || (slots[at] === high && slots[at + 1] === low)) return at;
    }
  }

  private put(at: number, high: number, low: number, number: number): void {
    const { slots } = this;
    slots[at] = high;
    slots[at + 1] = low;
    slots[at + 2] = number;
  }

  private grow(): void {
    const { slots } = this;
    this.mask = this.mask * 2 + 1;
    this.slots = new Int32Array((this.mask + 1) * width);
    for (let from = 0; from < slots.length; from += width) {
      const [high, low, number] = [slots[from]!, slots[from + 1]!, slots[from + 2]!];
      if (number !== 0) this.put(this.find(high, low), high, low, number);
    }
  }
}

/** Two halves of 32 bits. The functions below write into an object that is reused. */
export interface Fingerprint {
  high: number;
  low: number;
}

export function begin(into: Fingerprint): void {
  into.high = 0x811c9dc5;
  into.low = 0x9747b28c;
}

/** Writes the fingerprint of a record's key into `into`, or of the whole record if a part of the key is missing. */
export function fingerprintRecord(page: Page, row: number, keyColumns: readonly number[], into: Fingerprint): void {
  const { records } = page;
  const base = row * records.width;
  let isWhole = records.isObject[row] === 1;
  for (const column of keyColumns) if (records.fieldKind[base + column] === FieldKind.missing) isWhole = false;
  if (!isWhole) return fingerprintBytes(page, row, into);
  begin(into);
  for (const column of keyColumns) mixValue(page, base + column, into);
}

export function fingerprintBytes({ records, bytes }: Page, row: number, into: Fingerprint): void {
  begin(into);
  mix(bytes, records.recordStart[row]!, records.recordEnd[row]!, into);
}

/**
 * Writes the fingerprint of all declared values, independent of escapes.
 *
 * @param key Fingerprint of the key, to which the values of `columns` are added.
 */
export function fingerprintContent(
  page: Page,
  row: number,
  key: Fingerprint,
  columns: readonly number[],
  into: Fingerprint,
): void {
  const { records } = page;
  const base = row * records.width;
  let kinds = 0;
  for (let slot = base; slot < base + records.width; slot += 1) kinds = Math.imul(kinds, 31) + kindOfValue(page, slot);
  into.high = key.high ^ kinds;
  into.low = key.low ^ kinds;
  for (const column of columns) mixValue(page, base + column, into);
}

function mixValue(page: Page, slot: number, into: Fingerprint): void {
  const unescaped = unescapedBytes(page, slot);
  if (unescaped === null) mix(page.bytes, page.records.fieldStart[slot]!, page.records.fieldEnd[slot]!, into);
  else mix(unescaped, 0, unescaped.length, into);
}

/**
 * Mixes in bytes: two independent multiplicative hashes, four bytes at a time, each step a bijection of its state. The last step includes the
 * remaining bytes and the length, so that neighboring fields can't run together.
 */
export function mix(bytes: Uint8Array, start: number, end: number, into: Fingerprint): void {
  let { high, low } = into;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    high = Math.imul(high ^ spread(word), 0x85ebca6b);
    high ^= high >>> 15;
    low = Math.imul(low + word, 0x5bd1e995);
    low ^= low >>> 13;
  }
  let last = end - start;
  for (; at < end; at += 1) last = (last << 8) | bytes[at]!;
  high = Math.imul(high ^ spread(last), 0x01000193);
  low = Math.imul(low ^ last, 0xc2b2ae35);
  into.high = high ^ (high >>> 13);
  into.low = low ^ (low >>> 15);
}

export function mixNumber(number: number, into: Fingerprint): void {
  const high = Math.imul(into.high ^ spread(number), 0x85ebca6b);
  const low = Math.imul(into.low + number, 0x5bd1e995);
  into.high = high ^ (high >>> 15);
  into.low = low ^ (low >>> 13);
}

/** Spreads the bits of a word: digits differ in only a few of them. */
function spread(word: number): number {
  const half = Math.imul(word, 0xcc9e2d51);
  return Math.imul(half ^ (half >>> 15), 0x1b873593);
}
