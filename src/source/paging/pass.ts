/** One pass over a list: what every kind of paging needs for it, and what it gives. */

import { RekapError } from '../../errors.ts';
import { formatNumber } from '../../runtime/text.ts';
import type { FetchedPage } from '../answer-reader.ts';
import type { Grade, Page } from '../../stages.ts';

/** Where a page is: query parameters beside those that filter, or a whole path and query below the base URL. */
export type PageAddress = Readonly<Record<string, string | number>> | string;

export interface PassQuestion {
  /** Asks for the first page, in the largest size that the source takes; `address` says where a first page of so many records is. */
  fetchFirst(address: (size: number) => PageAddress): Promise<FirstPage>;
  /** Asks for another page. `isBehind`: nothing should be there, so a refusal counts as an empty page. */
  fetch(address: PageAddress, isBehind: boolean): Promise<FetchedPage>;
  /** Takes the records of a page from the one at `first` on. */
  take(fetched: FetchedPage, first: number): void;
  /** The hash of a record's key and values. */
  contentOf(page: Page, row: number): string;
  /** Asked after the first page: whether the full listing says that this was all. */
  isAll(length: number): boolean;
  /** Leaves open, if one page was all, whether there is anything behind it; whoever asks for this pass asks it later. */
  readonly leavesEndOpen: boolean;
  readonly maxRecords: number;
}

export interface FirstPage extends FetchedPage {
  /** Records that were asked for. */
  readonly size: number;
}

/** A pass that came to its end. */
export interface PassEnd {
  readonly total: number;
  readonly pages: number;
  /** Records of its longest page. */
  readonly longest: number;
  /** When the last answer came. */
  readonly at: Date;
  readonly proof: 'own end' | 'full listing';
  /** Whether its one page held as many records as were asked for: the source may give no more to any question. */
  readonly isFull: boolean;
  /** What the source said where it has nothing at all. */
  readonly refusal: RekapError | null;
  /** The reported total: what every page with records reported at least. A source may mean by it all that there is. */
  readonly reported: number;
}

/** A kind of paging. */
export interface Pager {
  /**
   * Makes a pass.
   *
   * @throws `broken-reading` where its pages contradict each other; `StartOver`; `unprovable-source` where no pass can be proved; whatever
   *   `fetch` throws.
   */
  pass(question: PassQuestion): Promise<PassEnd>;
  /** Whether one pass shows its own gaps: then one pass of the list of all is enough to go on from. */
  readonly showsGaps: boolean;
  /** Whether a record that comes twice in a pass says that records have moved from page to page. */
  readonly movesRecords: boolean;
  /** Whether another page size makes another pass: each second pass then asks for one record fewer per page. */
  readonly repages: boolean;
  /** How strong the proof is that two passes agree, by the lengths of their longest pages. */
  grade(longest: readonly number[]): Grade;
}

/** The pass must begin again with pages of another size: the source gives no more at a time. */
export class StartOver extends Error {
  readonly size: number;

  constructor(size: number) {
    super(`the source returns pages of ${size} records`);
    this.size = size;
  }
}

/** Counts what a pass brings, and ends one that has no end. */
export class PassTally {
  total = 0;
  pages = 0;
  longest = 0;
  private at = new Date(0);
  private reported = Number.POSITIVE_INFINITY;
  private readonly question: PassQuestion;

  constructor(question: PassQuestion) {
    this.question = question;
  }

  noteAnswer({ at }: FetchedPage): void {
    if (at > this.at) this.at = at;
  }

  /** Takes a page's records from the one at `first` on. */
  take(fetched: FetchedPage, first: number, size: number | null): void {
    const { page } = fetched;
    const { length } = page.records;
    this.question.take(fetched, first);
    this.total += length - first;
    this.pages += 1;
    this.longest = Math.max(this.longest, length);
    this.reported = Math.min(this.reported, page.count === size ? 0 : page.count);
    if (this.total <= this.question.maxRecords) return;
    throw new RekapError(
      'unprovable-source',
      `${page.url} still returns records after ${formatNumber(this.question.maxRecords)}.`,
      'The list may never end. Contact the operator of the service.',
    );
  }

  end(first: FetchedPage, more: Pick<PassEnd, 'proof' | 'isFull'> = { proof: 'own end', isFull: false }): PassEnd {
    const { total, pages, longest, at, reported } = this;
    return { total, pages, longest, at, refusal: first.refusal, reported: pages === 0 ? 0 : reported, ...more };
  }
}

/** Requests for a page that brings records of an earlier one, before the pass is given up: a server may repeat a page for a moment. */
const mostRepeats = 4;

/** Tells whether a page is one that came before: no two pages of a list begin with the same record. */
export class MetPages {
  private readonly contentOf: PassQuestion['contentOf'];
  private readonly firsts = new Set<string>();

  constructor(contentOf: PassQuestion['contentOf']) {
    this.contentOf = contentOf;
  }

  /**
   * Gives a page that is new, or empty.
   *
   * @param fetch Asks for the page, each time again.
   * @param parameter What the source seems to ignore.
   * @throws `broken-reading` where the source gives a page that came before, again and again.
   */
  async fetchNew(fetch: () => Promise<FetchedPage>, parameter: string): Promise<FetchedPage> {
    for (let attempt = 1; ; attempt += 1) {
      const fetched = await fetch();
      const { page } = fetched;
      if (page.records.length === 0) return fetched;
      const first = this.contentOf(page, 0);
      if (!this.firsts.has(first)) {
        this.firsts.add(first);
        return fetched;
      }
      if (attempt < mostRepeats) continue;
      throw new RekapError(
        'broken-reading',
        `${page.url} returns the records of an earlier page again.`,
        `The source ignores ${parameter}, or repeats a page. Run the sync again, or contact its operator.`,
      );
    }
  }
}

/** The error for a key that came before in the same pass. */
export function repeatedRecord(url: string): RekapError {
  return new RekapError(
    'broken-reading',
    `${url} has a record whose key came before in the same pass.`,
    'The source repeats a page, or records moved from page to page during the pass; or the key does not identify a record. Run the sync again.',
  );
}
