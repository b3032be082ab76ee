/** Chooses records of a page. */

import type { Page, RecordIndex } from '../../stages.ts';

/** A page of some of another page's records, over the same bytes. */
export function selectRecords(page: Page, rows: readonly number[]): Page {
  const { width } = page.records;
  const pick = <Type extends Int32Array | Uint8Array>(array: Type, each: number): Type => {
    const picked = array.slice(0, rows.length * each) as Type;
    rows.forEach((row, place) => picked.set(array.subarray(row * each, (row + 1) * each), place * each));
    return picked;
  };
  const records: RecordIndex = {
    length: rows.length,
    width,
    recordStart: pick(page.records.recordStart, 1),
    recordEnd: pick(page.records.recordEnd, 1),
    isObject: pick(page.records.isObject, 1),
    fieldStart: pick(page.records.fieldStart, width),
    fieldEnd: pick(page.records.fieldEnd, width),
    fieldKind: pick(page.records.fieldKind, width),
  };
  return { ...page, records };
}
