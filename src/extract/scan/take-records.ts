/** Takes a run of records out of a page. */

import type { Page } from '../../stages.ts';

/** A page of `taken` records from the one at `first` on, over the same bytes; nothing is copied. */
export function takeRecords(page: Page, first: number, taken: number): Page {
  const { width, length, ...records } = page.records;
  if (first === 0 && taken === length) return page;
  const end = first + taken;
  return {
    ...page,
    records: {
      width,
      length: taken,
      recordStart: records.recordStart.subarray(first, end),
      recordEnd: records.recordEnd.subarray(first, end),
      isObject: records.isObject.subarray(first, end),
      fieldStart: records.fieldStart.subarray(first * width, end * width),
      fieldEnd: records.fieldEnd.subarray(first * width, end * width),
      fieldKind: records.fieldKind.subarray(first * width, end * width),
    },
  };
}
