/**
 * Pages of a reading that are to begin elsewhere than those of the one before, from a source that knows no limit: it gives more than was asked
 * for, and every reading in the same pages. What comes beyond the limit is cut off, and must be what comes next.
 */

import { keyPlaces, type AnyPipeline } from '../../pipeline.ts';
import type { Page, PageRequest } from '../../stages.ts';
import { fingerprintRecord, type Fingerprint } from '../scan/fingerprints.ts';
import { requireRecord } from './offset-probe.ts';

/** The page without what came beyond its limit, where that is less than a whole page. */
export function cutShort(page: Page, request: PageRequest, pageSize: number): Page {
  if (!isLong(page, request, pageSize)) return page;
  return { ...page, records: { ...page.records, length: request.limit } };
}

function isLong({ records }: Page, { limit }: PageRequest, pageSize: number): boolean {
  return limit < pageSize && records.length > limit;
}

/** Looks whether what was cut off comes next, over one reading of a district. */
export class CutPages {
  private readonly pipeline: AnyPipeline;
  private readonly pageSize: number;
  /** The first record that was cut off, and the offset that it must stand at. */
  private next: { readonly offset: number; readonly record: Fingerprint } | null = null;

  constructor(pipeline: AnyPipeline, pageSize: number) {
    this.pipeline = pipeline;
    this.pageSize = pageSize;
  }

  /**
   * Takes a page as it came; one that is empty may be so for a moment, until it is asked for again.
   *
   * @throws RepeatedPageError where it begins with another record than the one that was cut off before.
   */
  follow(page: Page, request: PageRequest, again: boolean): void {
    if (this.next?.offset === request.offset && (again || page.records.length > 0))
      requireRecord(this.pipeline, this.next.record, page);
    if (!isLong(page, request, this.pageSize)) return;
    const record = { high: 0, low: 0 };
    fingerprintRecord(page, request.limit, keyPlaces(this.pipeline), record);
    this.next = { offset: request.offset + request.limit, record };
  }
}
