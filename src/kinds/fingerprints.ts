/** Computes 64-bit fingerprints of records, and stores a million of them in a few megabytes. */

import { randomBytes } from 'node:crypto';
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

/** Receives the values of a record one by one. */
export interface ValueSink {
  /** Adds the bytes of a value, after its kind and length, so that neighboring values can't run together. */
  add(kind: number, bytes: Uint8Array, start: number, end: number): void;
}

/** Kind of the bytes of a whole record, which is different from every `FieldKind`. */
const wholeRecord = 7;

/** Returns kind and length of a value as one word. A response has at most 2^26 bytes. */
export function headOf(kind: number, length: number): number {
  return (length << 3) | kind;
}

/** Adds all declared values, independent of escapes; for a record that isn't an object, its bytes. */
export function addRecord(page: Page, row: number, to: ValueSink): void {
  const { records } = page;
  if (records.isObject[row] !== 1) return addWhole(page, row, to);
  const base = row * records.width;
  for (let slot = base; slot < base + records.width; slot += 1) addField(page, slot, to);
}

function addWhole({ records, bytes }: Page, row: number, to: ValueSink): void {
  to.add(wholeRecord, bytes, records.recordStart[row]!, records.recordEnd[row]!);
}

function addField(page: Page, slot: number, to: ValueSink): void {
  const unescaped = unescapedBytes(page, slot);
  const kind = kindOfValue(page, slot);
  if (unescaped === null) to.add(kind, page.bytes, page.records.fieldStart[slot]!, page.records.fieldEnd[slot]!);
  else to.add(kind, unescaped, 0, unescaped.length);
}

const nothing = new Uint8Array();
const seed = randomBytes(8);
const [seed0, seed1] = [seed.readInt32LE(0), seed.readInt32LE(4)];

/**
 * Computes fingerprints with HalfSipHash-1-3 (https://github.com/veorq/SipHash). Its key is random in each process, so that a
 * source can't choose values with the same fingerprint.
 */
export class FingerprintHash implements ValueSink {
  private v0 = 0;
  private v1 = 0;
  private v2 = 0;
  private v3 = 0;

  begin(): void {
    this.v0 = seed0;
    this.v1 = seed1 ^ 0xee;
    this.v2 = 0x6c796765 ^ seed0;
    this.v3 = 0x74656462 ^ seed1;
  }

  add(kind: number, bytes: Uint8Array, start: number, end: number): void {
    this.mix(headOf(kind, end - start), bytes, start, end);
  }

  addNumber(number: number): void {
    this.mix(number, nothing, 0, 0);
  }

  finish(into: Fingerprint): void {
    this.v2 ^= 0xee;
    for (let round = 0; round < 3; round += 1) this.addNumber(0);
    into.high = this.v1 ^ this.v3;
    this.v1 ^= 0xdd;
    for (let round = 0; round < 3; round += 1) this.addNumber(0);
    into.low = this.v1 ^ this.v3;
  }

  /** Mixes in a word, and then bytes, four at a time. */
  private mix(first: number, bytes: Uint8Array, start: number, end: number): void {
    let { v0, v1, v2, v3 } = this;
    let word = first | 0;
    for (let at = start; ; at += 4) {
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
      if (at >= end) break;
      if (at + 4 <= end) word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      else for (word = 0; at < end; at += 1) word = (word << 8) | bytes[at]!;
    }
    this.v0 = v0;
    this.v1 = v1;
    this.v2 = v2;
    this.v3 = v3;
  }
}

const hash = new FingerprintHash();

/** Writes the fingerprint of a record's key into `into`, or of the whole record if a part of the key is missing or null. */
export function fingerprintRecord(page: Page, row: number, keyColumns: readonly number[], into: Fingerprint): void {
  const { records } = page;
  const base = row * records.width;
  let hasKey = records.isObject[row] === 1;
  for (const column of keyColumns) {
    const kind = records.fieldKind[base + column];
    if (kind === FieldKind.missing || kind === FieldKind.null) hasKey = false;
  }
  if (!hasKey) return fingerprintBytes(page, row, into);
  hash.begin();
  for (const column of keyColumns) addField(page, base + column, hash);
  hash.finish(into);
}

export function fingerprintBytes(page: Page, row: number, into: Fingerprint): void {
  hash.begin();
  addWhole(page, row, hash);
  hash.finish(into);
}

/** Writes the fingerprint of all declared values into `into`, independent of escapes. */
export function fingerprintContent(page: Page, row: number, into: Fingerprint): void {
  hash.begin();
  addRecord(page, row, hash);
  hash.finish(into);
}
