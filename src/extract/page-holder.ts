/** Holds pages in memory up to a limit until they are built. Pages above the limit are read again from the landing. */

import type { FetchedPage } from '../source/response-reader.ts';
import { sliceRecords } from '../source/decode/record-index-builder.ts';
import type { AcceptedPage, Page } from '../stages.ts';

export class PageHolder {
  private held = 0;
  private bound: number;
  private readonly waiting: (() => void)[] = [];

  constructor(bound: number) {
    this.bound = bound;
  }

  /** True above half of the limit: then pages that wait long are read again from the landing. */
  get isHalfFull(): boolean {
    return this.held > this.bound / 2;
  }

  /** Resolves when there is room for another partition. Pages that wait long take at most half, so room always becomes free. */
  async room(): Promise<void> {
    while (this.held > this.bound * 0.75) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  close(): void {
    this.bound = Number.POSITIVE_INFINITY;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /**
   * Holds some records of a page.
   *
   * @param share Part of the limit that may be in use; 0.5 for pages that wait until all partitions are read.
   * @param reopen Scans the stored bytes again. It must not reference the page itself.
   */
  hold(
    { page: fetched, landed }: FetchedPage,
    { first, count }: { readonly first: number; readonly count: number },
    reopen: (bytes: Buffer) => Page,
    share = 1,
  ): AcceptedPage {
    const size = fetched.bytes.length;
    let held: Page | null = null;
    if (this.held + size <= this.bound * share) {
      held = sliceRecords(fetched, first, count);
      this.held += size;
    }
    return {
      response: landed.response,
      first,
      count,
      read: async () => held ?? sliceRecords(reopen(await landed.read()), first, count),
      release: () => {
        if (held === null) return;
        held = null;
        this.held -= size;
        for (const resolve of this.waiting.splice(0)) resolve();
      },
    };
  }
}
