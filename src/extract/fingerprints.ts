/** Tells records apart by 64-bit fingerprints, so that a million of them fit in a few megabytes. */

import type { Page } from '../stages.ts';

/** A fingerprint as two 32-bit halves, written into by `fingerprintRecord`. */
export interface Fingerprint {
  high: number;
  low: number;
}

/**
 * Writes the fingerprint of a record into `into`: of its key fields where it has them all, of the whole record otherwise.
 * Two records of one key are one to a walk, whatever their other values are.
 */
export function fingerprintRecord(page: Page, row: number, keyColumns: readonly number[], into: Fingerprint): void {
  const { records, bytes } = page;
  into.high = 0x811c9dc5;
  into.low = 0x9747b28c;
  const base = row * records.width;
  if (records.isObject[row] === 1 && keyColumns.every((column) => records.fieldKind[base + column] !== 0)) {
    for (const column of keyColumns) {
      mix(bytes, records.fieldStart[base + column]!, records.fieldEnd[base + column]!, into);
    }
  } else mix(bytes, records.recordStart[row]!, records.recordEnd[row]!, into);
}

/** Two independent multiplicative hashes over the bytes, ended by the length so that neighbouring fields cannot run together. */
function mix(bytes: Uint8Array, start: number, end: number, into: Fingerprint): void {
  let { high, low } = into;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at]!;
    high = Math.imul(high ^ byte, 0x01000193);
    low = Math.imul(low ^ byte, 0x5bd1e995);
    low ^= low >>> 15;
  }
  into.high = Math.imul(high ^ (end - start), 0x01000193) ^ (high >>> 13);
  into.low = Math.imul(low ^ (end - start), 0x5bd1e995) ^ (low >>> 13);
}

/** A set of fingerprints: open addressing in one typed array, doubled when two thirds full. */
export class FingerprintSet {
  size = 0;
  private slots = new Int32Array(2 * 64);
  private used = new Uint8Array(64);

  /** Adds a fingerprint and says whether it is new. */
  add({ high, low }: Fingerprint): boolean {
    if (this.size * 3 >= this.used.length * 2) this.grow();
    const added = this.place(high | 0, low | 0);
    if (added) this.size += 1;
    return added;
  }

  has({ high, low }: Fingerprint): boolean {
    const mask = this.used.length - 1;
    const [first, second] = [high | 0, low | 0];
    for (let slot = (first ^ Math.imul(second, 0x9e3779b1)) & mask; this.used[slot] === 1; slot = (slot + 1) & mask) {
      if (this.slots[slot * 2] === first && this.slots[slot * 2 + 1] === second) return true;
    }
    return false;
  }

  private place(high: number, low: number): boolean {
    const mask = this.used.length - 1;
    for (let slot = (high ^ Math.imul(low, 0x9e3779b1)) & mask; ; slot = (slot + 1) & mask) {
      if (this.used[slot] === 0) {
        this.used[slot] = 1;
        this.slots[slot * 2] = high;
        this.slots[slot * 2 + 1] = low;
        return true;
      }
      if (this.slots[slot * 2] === high && this.slots[slot * 2 + 1] === low) return false;
    }
  }

  private grow(): void {
    const { slots, used } = this;
    this.slots = new Int32Array(slots.length * 2);
    this.used = new Uint8Array(used.length * 2);
    for (let slot = 0; slot < used.length; slot += 1) {
      if (used[slot] === 1) this.place(slots[slot * 2]!, slots[slot * 2 + 1]!);
    }
  }
}
