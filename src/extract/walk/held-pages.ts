/** Holds pages until their district is proved, within a bound on memory: beyond it a page is read again from the landing. */

import type { Page } from '../../stages.ts';
import type { FetchedPage } from '../ask/answer-reader.ts';

/** A page that is held, or can be had again. */
export interface HeldPage {
  readonly length: number;
  readonly at: Date;
  read(): Promise<Page>;
  /** Gives its memory back; `read` then reads the landing. */
  release(): void;
}

export class PageHolder {
  private held = 0;
  private peak = 0;
  private readonly bound: number;

  /** @param bound Bytes of answers that may be held at once. */
  constructor(bound: number) {
    this.bound = bound;
  }

  /** The largest part of the bound that was in use since this was asked last; 1 where nothing may be held. */
  takePeakUse(): number {
    const { peak, bound } = this;
    this.peak = this.held;
    return bound === 0 ? 1 : peak / bound;
  }

  /** Whether less than half of the bound is in use, so that reading ahead is worth it. */
  get hasRoom(): boolean {
    return this.held < this.bound / 2;
  }

  hold(fetched: FetchedPage, reopen: (bytes: Buffer) => Page): HeldPage {
    const size = fetched.page.bytes.length;
    let page: Page | null = null;
    if (this.held + size <= this.bound) {
      page = fetched.page;
      this.held += size;
      this.peak = Math.max(this.peak, this.held);
    }
    const { at, landed } = fetched;
    return {
      length: fetched.page.records.length,
      at,
      read: async () => page ?? reopen(await landed()),
      release: () => {
        if (page === null) return;
        page = null;
        this.held -= size;
      },
    };
  }
}
