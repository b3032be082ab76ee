/** Requests the pages of a list with offsets before they are needed. */

import type { FetchedPage } from '../response-reader.ts';
import type { PageFetcher } from './pass.ts';

export class PagesAhead {
  private readonly fetch: (offset: number, mayBePastEnd: boolean) => Promise<FetchedPage>;
  private readonly limit: number;
  /** Pages that were requested, and not taken yet, by offset. */
  private readonly requested = new Map<number, Promise<FetchedPage>>();
  /** Offset of the first page that isn't taken yet. */
  private next = 0;
  private step = 0;
  /** The largest offset that is known to have records. */
  private lastFound: number;
  /** Pages from the last found page to the next scout; null if the end is known or a scout is on its way. */
  private reach: number | null;

  /** @param lookahead `total`: the number of records in the list; null if unknown. */
  constructor(fetch: PagesAhead['fetch'], { pages, total }: PageFetcher['lookahead']) {
    this.fetch = fetch;
    this.limit = pages;
    this.lastFound = total === null ? 0 : total - 1;
    this.reach = total === null ? 1 : null;
  }

  /** Requests pages from offset `next` on, assuming that each page is `step` records after the one before. */
  advance(next: number, step: number): void {
    this.next = next;
    this.step = step;
    this.requestAhead();
  }

  take(offset: number): Promise<FetchedPage> {
    const page = this.requested.get(offset) ?? this.fetch(offset, false);
    this.requested.delete(offset);
    this.next = offset + this.step;
    return page;
  }

  async settle(): Promise<void> {
    await Promise.allSettled(this.requested.values());
  }

  private requestAhead(): void {
    const { next, step, limit, requested } = this;
    if (limit < 2) return;
    // First, because the next pages depend on it.
    if (this.reach !== null && this.lastFound < next + limit * step) this.scout(this.reach);
    for (let offset = next; offset <= this.lastFound && requested.size <= limit; offset += step)
      if (!requested.has(offset)) this.request(offset, false).catch(() => undefined);
  }

  /**
   * Requests a page far ahead. If it has records, so have all pages before it, which can then be requested at once. If not, the rest of the list
   * is read page by page: so at most one request goes past the end.
   */
  private scout(before: number): void {
    const reach = Math.min(before * 2, this.limit);
    const offset = Math.max(this.lastFound, this.next) + reach * this.step;
    this.reach = null;
    this.request(offset, true).then(
      ({ page }) => {
        // An empty page may be wrong, so it isn't kept.
        if (page.records.length === 0) return this.requested.delete(offset);
        this.lastFound = offset;
        this.reach = reach;
        return this.requestAhead();
      },
      () => this.requested.delete(offset),
    );
  }

  private request(offset: number, mayBePastEnd: boolean): Promise<FetchedPage> {
    const page = this.fetch(offset, mayBePastEnd);
    this.requested.set(offset, page);
    return page;
  }
}
