/** Tells records apart by 64-bit fingerprints, so that a million of them fit in a few megabytes. */

import { kindOfValue } from '../fields.ts';
import { begin, mix, mixValue, type Mixed } from '../mix.ts';
import { FieldKind, type Page } from '../stages.ts';

/** A record's, written into by `fingerprintRecord`. */
export type Fingerprint = Mixed;

/**
 * Writes the fingerprint of a record into `into`: of its key fields where it has them all, of the whole record otherwise.
 * Two records of one key are one to a walk, whatever their other values are.
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

/** Fingerprints with the page that met each last: open addressing in typed arrays, doubled when two thirds full. */
export class MetFingerprints {
  size = 0;
  private slots = new Int32Array(2 * 64);
  /** 0 where the slot is free. */
  private pages = new Int32Array(64);

  /** Notes that a page, by its number from 1, has met a fingerprint; gives the page that met it last, 0 where none has. */
  meet({ high, low }: Fingerprint, page: number): number {
    if (this.size * 3 >= this.pages.length * 2) this.grow();
    const before = this.place(high | 0, low | 0, page);
    if (before === 0) this.size += 1;
    return before;
  }

  has({ high, low }: Fingerprint): boolean {
    const mask = this.pages.length - 1;
    const [first, second] = [high | 0, low | 0];
    for (let slot = (first ^ Math.imul(second, 0x9e3779b1)) & mask; this.pages[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.slots[slot * 2] === first && this.slots[slot * 2 + 1] === second) return true;
    }
    return false;
  }

  private place(high: number, low: number, page: number): number {
    const { slots, pages } = this;
    const mask = pages.length - 1;
    for (let slot = (high ^ Math.imul(low, 0x9e3779b1)) & mask; ; slot = (slot + 1) & mask) {
      const before = pages[slot]!;
      if (before === 0) {
        slots[slot * 2] = high;
        slots[slot * 2 + 1] = low;
      } else if (slots[slot * 2] !== high || slots[slot * 2 + 1] !== low) continue;
      pages[slot] = page;
      return before;
    }
  }

  private grow(): void {
    const { slots, pages } = this;
    this.slots = new Int32Array(slots.length * 2);
    this.pages = new Int32Array(pages.length * 2);
    for (const [slot, page] of pages.entries()) {
      if (page !== 0) this.place(slots[slot * 2]!, slots[slot * 2 + 1]!, page);
    }
  }
}
