/** Defines passes over a list: how a pager fetches pages, and what it yields. */

import { RekapError } from '../../errors.ts';
import { formatNumber } from '../../runtime/text.ts';
import type { FetchedPage } from '../response-reader.ts';
import { totalsIn } from '../envelope-signs.ts';
import { emptyStatuses } from '../source-messages.ts';
import type { EndSign, Grade, Page } from '../../stages.ts';

/** Query parameters of a page in addition to the filter, or a whole path and query below the base URL. */
export type PageAddress = Readonly<Record<string, string | number>> | string;

export interface PageFetcher {
  /** Fetches the first page in the largest size that the source accepts. `address` returns the address of a first page of this size. */
  fetchFirst(address: (size: number) => PageAddress): Promise<FirstPage>;
  /**
   * Fetches another page. Past the end of a list, status 204, 404, 410 or 416 counts as an empty page. An unneeded page may also be refused
   * in any other way.
   */
  fetch(address: PageAddress, need: 'page' | 'past end' | 'unneeded'): Promise<FetchedPage>;
  /** True if this pass has shorter pages than the list, so that it must have a second page. */
  readonly isShortened: boolean;
  hashOf(page: Page, row: number): string;
  /** How many pages may be requested at a time, and the number of records in the list; null if it is unknown. */
  readonly lookahead: { readonly pages: number; readonly total: number | null };
}

export interface FirstPage extends FetchedPage {
  readonly size: number;
  /** True if the source refused the size that the pass wanted. */
  readonly isFallback?: boolean;
}

export interface PassPage {
  readonly fetched: FetchedPage;
  /** Row of the first record that the pages before don't have; the number of records if all are known. */
  readonly first: number;
  /** Records that were requested; null if the source decides how many it returns. */
  readonly size: number | null;
  /** The sign that the list ends here; null if the pass goes on. */
  readonly end: EndSign | null;
}

/** Returns the sign that a page past the end gives; null if it has records. */
export function signPastEnd({ page, refusal }: FetchedPage): EndSign | null {
  if (page.records.length > 0) return null;
  if (refusal === null) return 'empty page';
  return emptyStatuses.has(refusal.status) ? 'status' : 'total';
}

export interface Pager {
  /**
   * Reads all pages of a filter, also those that only show where the list ends. The pass is complete when the generator returns.
   *
   * @throws `broken-reading` if pages contradict each other; `StartOver`; `unprovable-source` if no pass can be proved; errors of `fetch`.
   */
  pass(fetcher: PageFetcher): AsyncGenerator<PassPage, void, undefined>;
  /** True if one pass shows its own gaps: then one pass of the full listing is enough. */
  readonly showsGaps: boolean;
  /** True if a key that occurs twice in a pass means that records moved between pages. */
  readonly movesRecords: boolean;
  /** True if the page size can vary between passes: each second pass requests one record fewer per page. */
  readonly repages: boolean;
  /** Returns the strength of the proof that passes agree. `sizesDiffer` is true if their longest pages differ in length. */
  grade(agreement: { readonly records: number; readonly sizesDiffer: boolean }): Grade;
  /** Returns what is wrong if no response of the run has the declared place of the next page; null if one has it. */
  unseen(): string | null;
}

/**
 * The pass must start over with pages of another size. `cap`: the source returns no more at a time. `short list`: only shorter pages show
 * whether the list has one page or the rest is hidden.
 */
export class StartOver extends Error {
  readonly size: number;
  readonly why: 'cap' | 'short list';

  constructor(size: number, why: StartOver['why']) {
    super(`the pass starts over with pages of ${size} records`);
    this.size = size;
    this.why = why;
  }
}

export interface PassEnd {
  readonly total: number;
  readonly pages: number;
  readonly longest: number;
  readonly at: Date;
  readonly isFull: boolean;
  readonly refusal: RekapError | null;
  /** The smallest count that a page with records reports. It may count all matching records. */
  readonly reported: number;
  /** True if a count was larger than its page, so that it counts all records. */
  readonly countsAll: boolean;
  /** The largest count that the source calls a lower bound; 0 without one. */
  readonly atLeast: number;
  /** The smallest value of each well-known total that the declaration doesn't name. */
  readonly totals: ReadonlyMap<string, number>;
  readonly end: EndSign | null;
}

/** Counts the pages and records of a pass. */
export class PassTally {
  private readonly maxRecords: number;
  private readonly result: { -readonly [Name in keyof PassEnd]: PassEnd[Name] } = {
    total: 0,
    pages: 0,
    longest: 0,
    at: new Date(0),
    isFull: false,
    refusal: null,
    reported: Number.POSITIVE_INFINITY,
    countsAll: false,
    atLeast: 0,
    totals: new Map(),
    end: null,
  };
  private readonly totals = new Map<string, number>();
  private isFirst = true;

  constructor(maxRecords: number) {
    this.maxRecords = maxRecords;
  }

  /** Adds a page; returns false if it has no new records. @throws `unprovable-source` if there are too many. */
  add({ fetched: { page, at, refusal }, first, size, end }: PassPage): boolean {
    const { result, totals } = this;
    const { count, isCountExact, records } = page;
    const { length } = records;
    result.end = end ?? result.end;
    if (at > result.at) result.at = at;
    if (this.isFirst) result.refusal = refusal;
    this.isFirst = false;
    // Past the end, some services report a total of 0.
    const counted = length > 0 || result.pages === 0 ? totalsIn(page.envelope) : [];
    for (const [place, total] of counted)
      totals.set(place, Math.min(total, totals.get(place) ?? Number.POSITIVE_INFINITY));
    if (first === length) return false;
    result.total += length - first;
    result.pages += 1;
    result.longest = Math.max(result.longest, length);
    result.isFull = result.pages === 1 && size !== null && length >= size;
    if (count !== null) result.reported = Math.min(result.reported, count === size ? 0 : count);
    if (count !== null && !isCountExact) result.atLeast = Math.max(result.atLeast, count);
    if (count !== null && isCountExact && count !== size) result.countsAll ||= count > length;
    if (result.total <= this.maxRecords) return true;
    throw new RekapError(
      'unprovable-source',
      `${page.url} still returns records after ${formatNumber(this.maxRecords)}.`,
      'The list may never end. Contact the operator of the service.',
    );
  }

  end(): PassEnd {
    const { result, totals } = this;
    return { ...result, totals, reported: Number.isFinite(result.reported) ? result.reported : 0 };
  }
}

/** Requests for a repeated page before the pass fails: a server may repeat a page once. */
const maxRepeats = 4;

/**
 * Returns a function that fetches a page until it is new or empty. Its parameter `ignored` names the parameter that the source seems to ignore.
 *
 * @throws `broken-reading` if the source keeps returning an earlier page.
 */
export function withoutRepeats(hashOf: PageFetcher['hashOf']) {
  const firsts = new Set<string>();
  return async (fetch: () => Promise<FetchedPage>, ignored: string): Promise<FetchedPage> => {
    for (let attempt = 1; ; attempt += 1) {
      const fetched = await fetch();
      const { page } = fetched;
      if (page.records.length === 0) return fetched;
      const first = hashOf(page, 0);
      if (!firsts.has(first)) {
        firsts.add(first);
        return fetched;
      }
      if (attempt < maxRepeats) continue;
      throw new RekapError(
        'broken-reading',
        `${page.url} returns the records of an earlier page again.`,
        `The source ignores ${ignored}, or repeats a page. Run the sync again, or contact its operator.`,
      );
    }
  };
}

export function repeatedRecord(url: string): RekapError {
  return new RekapError(
    'broken-reading',
    `${url} repeats the key of an earlier record of the same pass.`,
    'The source repeats a page, or records moved between pages during the pass. Run the sync again. If it fails again, the key of the dataset may not identify a record.',
  );
}
