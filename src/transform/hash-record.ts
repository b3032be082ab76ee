/** Hashes records so that the same record met twice is known without keeping it. */

import { kindOfValue } from '../records/fields.ts';
import { begin, mix, mixValue, type Mixed } from '../records/mix.ts';
import type { Page } from '../stages.ts';

/** Of the record at hand; the next one overwrites it. */
const mixed: Mixed = { high: 0, low: 0 };

/** A 53-bit hash of all declared fields and of what kind each is; neither the space between fields nor the escapes of a string count. */
export function hashValues(page: Page, row: number): number {
  const { width } = page.records;
  begin(mixed);
  let kinds = 0;
  for (let slot = row * width; slot < (row + 1) * width; slot += 1) {
    kinds = Math.imul(kinds, 31) + kindOfValue(page, slot);
    mixValue(page, slot, mixed);
  }
  mixed.high ^= kinds;
  return asNumber(mixed);
}

/** A 53-bit hash of a record's bytes. */
export function hashRecord(page: Page, row: number): number {
  begin(mixed);
  mix(page.bytes, page.records.recordStart[row]!, page.records.recordEnd[row]!, mixed);
  return asNumber(mixed);
}

/** As many bits as a number holds exactly. */
function asNumber({ high, low }: Mixed): number {
  return (high & 0x1f_ffff) * 2 ** 32 + (low >>> 0);
}
