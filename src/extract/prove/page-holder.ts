/** Holds pages in memory until they are built into tables, within a bound; beyond it a page is read again from the landing. */

import type { AcceptedPage, Page } from '../../stages.ts';
import type { FetchedPage } from '../ask/answer-reader.ts';
import { takeRecords } from '../scan/take-records.ts';

export class PageHolder {
  private held = 0;
  private bound: number;
  private readonly waiting: (() => void)[] = [];

  /** @param bound Bytes of answers that may be held at once. */
  constructor(bound: number) {
    this.bound = bound;
  }

  /** Whether more than half of the bound is in use: then what waits long does so in the landing. */
  get isHalfFull(): boolean {
    return this.held > this.bound / 2;
  }

  /** Resolves when there is room for another district. What waits long takes half at most, so room always comes. */
  async room(): Promise<void> {
    while (this.held > this.bound * 0.75) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Nobody waits for room any more, because nobody takes the pages. */
  close(): void {
    this.bound = Number.POSITIVE_INFINITY;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /**
   * Holds some records of a page.
   *
   * @param share Part of the bound that may be in use; half of it for what waits until all districts were read.
   * @param reopen Makes the page of its landed bytes again; a function that does not hold the page itself.
   */
  hold(
    { page: fetched, landed }: FetchedPage,
    { first, taken }: { readonly first: number; readonly taken: number },
    reopen: (bytes: Buffer) => Page,
    share = 1,
  ): AcceptedPage {
    const size = fetched.bytes.length;
    let page: Page | null = null;
    if (this.held + size <= this.bound * share) {
      page = takeRecords(fetched, first, taken);
      this.held += size;
    }
    return {
      answer: landed.answer,
      first,
      taken,
      read: async () => page ?? takeRecords(reopen(await landed.read()), first, taken),
      release: () => {
        if (page === null) return;
        page = null;
        this.held -= size;
        for (const resolve of this.waiting.splice(0)) resolve();
      },
    };
  }
}
