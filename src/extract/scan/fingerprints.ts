/** The 64-bit fingerprints by which extraction tells records apart: of their keys, and of all that they say. */

import { kindOfValue } from '../../records/fields.ts';
import { begin, mix, mixValue, type Mixed } from '../../records/mix.ts';
import { FieldKind, type Page } from '../../stages.ts';

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
