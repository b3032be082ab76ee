/** Hashes records so that the same record met twice is known without keeping it. */

import { kindOfValue, unescapedBytes } from '../fields.ts';
import type { Page } from '../stages.ts';

/** A 53-bit hash of all declared fields and of what kind each is; neither the space between fields nor the escapes of a string count. */
export function hashValues(page: Page, row: number): number {
  const { width, fieldStart, fieldEnd } = page.records;
  const hash = begin();
  for (let slot = row * width; slot < (row + 1) * width; slot += 1) {
    mixByte(hash, kindOfValue(page, slot));
    const unescaped = unescapedBytes(page, slot);
    if (unescaped !== null) for (const byte of unescaped) mixByte(hash, byte);
    else for (let at = fieldStart[slot]!; at < fieldEnd[slot]!; at += 1) mixByte(hash, page.bytes[at]!);
    mixByte(hash, 0xff);
  }
  return finish(hash);
}

/** A 53-bit hash of a record's bytes. */
export function hashRecord(page: Page, row: number): number {
  const hash = begin();
  for (let at = page.records.recordStart[row]!; at < page.records.recordEnd[row]!; at += 1)
    mixByte(hash, page.bytes[at]!);
  return finish(hash);
}

interface Hash {
  high: number;
  low: number;
}

/** Two multiplicative hashes side by side (cyrb53), each step a bijection of its state. */
function begin(): Hash {
  return { high: 0xdeadbeef, low: 0x41c6ce57 };
}

function mixByte(hash: Hash, byte: number): void {
  hash.high = Math.imul(hash.high ^ byte, 2_654_435_761);
  hash.low = Math.imul(hash.low ^ byte, 1_597_334_677);
}

function finish({ high, low }: Hash): number {
  const first = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  const second = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(first ^ (first >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & second) + (first >>> 0);
}
