/** Gives 64-bit fingerprints numbers, so that a million records or texts are told apart in a few megabytes. */

import type { Mixed } from './mix.ts';

/** Numbers in a slot: a fingerprint's two halves and the number that it has, which is 0 where the slot is free. */
const width = 3;

/** Fingerprints and the number that each got first: open addressing in one typed array, doubled when two thirds full. */
export class FingerprintTable {
  size = 0;
  private slots = new Int32Array(64 * width);
  /** Slots less one. */
  private mask = 63;

  /** The number that a fingerprint has. One that has none gets `number`, which is above 0, and the answer is 0. */
  meet({ high, low }: Mixed, number: number): number {
    if (this.size * 3 >= (this.mask + 1) * 2) this.grow();
    const at = this.find(high | 0, low | 0);
    const before = this.slots[at + 2]!;
    if (before !== 0) return before;
    this.put(at, high, low, number);
    this.size += 1;
    return 0;
  }

  /** Counts a fingerprint; gives how often it has been counted, this time included. */
  count(fingerprint: Mixed): number {
    if (this.meet(fingerprint, 1) === 0) return 1;
    return (this.slots[this.find(fingerprint.high | 0, fingerprint.low | 0) + 2]! += 1);
  }

  has({ high, low }: Mixed): boolean {
    return this.slots[this.find(high | 0, low | 0) + 2] !== 0;
  }

  /** Where a fingerprint stands, or the free slot where it belongs. */
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
