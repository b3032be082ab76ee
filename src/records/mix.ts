/** Mixes bytes into 64 bits, by which records are told apart without being kept. */

import { unescapedBytes } from './fields.ts';
import type { Page } from '../stages.ts';

/** What was mixed so far, as two 32-bit halves. */
export interface Mixed {
  high: number;
  low: number;
}

/** Nothing yet. */
export function begin(into: Mixed): void {
  into.high = 0x811c9dc5;
  into.low = 0x9747b28c;
}

/** Mixes a field's value in, the same however it is escaped. */
export function mixValue(page: Page, slot: number, into: Mixed): void {
  const unescaped = unescapedBytes(page, slot);
  if (unescaped === null) mix(page.bytes, page.records.fieldStart[slot]!, page.records.fieldEnd[slot]!, into);
  else mix(unescaped, 0, unescaped.length, into);
}

/**
 * Two independent multiplicative hashes over the bytes, four at a time and each step a bijection of its state. The last step takes what is
 * left, three bytes at most, and the length, so that neighbouring fields cannot run together.
 */
export function mix(bytes: Uint8Array, start: number, end: number, into: Mixed): void {
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

/** Mixes a whole number of at most 32 bits in. */
export function mixNumber(number: number, into: Mixed): void {
  const high = Math.imul(into.high ^ spread(number), 0x85ebca6b);
  const low = Math.imul(into.low + number, 0x5bd1e995);
  into.high = high ^ (high >>> 15);
  into.low = low ^ (low >>> 13);
}

/** Digits differ in few bits of a word, which are spread before they meet the state. */
function spread(word: number): number {
  const half = Math.imul(word, 0xcc9e2d51);
  return Math.imul(half ^ (half >>> 15), 0x1b873593);
}
