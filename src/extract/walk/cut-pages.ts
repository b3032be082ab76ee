/**
 * Pages of a reading that begin elsewhere than those of the account before. They are asked for like all others, for not every source takes
 * every limit: its first page counts only so far, and what was cut off must be what comes next.
 */

import { keyPlaces, placeOf, type AnyPipeline } from '../../pipeline.ts';
import type { Page } from '../../stages.ts';
import { FingerprintTable } from '../../records/fingerprint-table.ts';
import { fingerprintRecord, type Fingerprint } from '../scan/fingerprints.ts';
import { districtOf } from './listing.ts';
import { requireRecord } from './offset-probe.ts';
import type { Shown } from './tally.ts';

/** The first records of a page; all of them where `wanted` is null. */
export function cutShort(page: Page, wanted: number | null): Page {
  if (!isLonger(page, wanted)) return page;
  return { ...page, records: { ...page.records, length: wanted } };
}

function isLonger({ records }: Page, wanted: number | null): wanted is number {
  return wanted !== null && records.length > wanted;
}

/** One reading of a district. */
export class CutPages {
  private readonly pipeline: AnyPipeline;
  private readonly first: number | null;
  /** The first record that was cut off, and the offset that it must stand at. */
  private next: { readonly offset: number; readonly record: Fingerprint } | null = null;
  private readonly cutOff = new FingerprintTable();
  /** All that was cut off: the pages behind must bring it. */
  readonly beyond: Shown;

  /** @param first Records that come first, in one page or several, before the pages begin elsewhere; null where they need not. */
  constructor(pipeline: AnyPipeline, first: number | null) {
    this.pipeline = pipeline;
    this.first = first;
    const { cutOff } = this;
    this.beyond = {
      said: 'one of its answers showed',
      get distinct() {
        return cutOff.size;
      },
      has: (fingerprint) => cutOff.has(fingerprint),
    };
  }

  /** Records that a page counts for; null for all that it holds. */
  wanted(offset: number): number | null {
    return this.first !== null && offset < this.first ? this.first - offset : null;
  }

  /**
   * Takes the page at an offset as it came; one that is empty may be so for a moment, until it is asked for again.
   *
   * @throws RepeatedPageError where it begins with another record than the one that was cut off before.
   */
  follow(page: Page, offset: number, again: boolean): void {
    if (this.next?.offset === offset && (again || page.records.length > 0))
      requireRecord(this.pipeline, this.next.record, page);
    const wanted = this.wanted(offset);
    if (!isLonger(page, wanted)) return;
    const record = { high: 0, low: 0 };
    const key = keyPlaces(this.pipeline);
    const districtColumn = placeOf(this.pipeline, this.pipeline.district);
    for (let row = page.records.length - 1; row >= wanted; row -= 1) {
      fingerprintRecord(page, row, key, record);
      if (districtOf(page, row, districtColumn) !== null) this.cutOff.meet(record, 1);
    }
    this.next = { offset: offset + wanted, record };
  }
}
