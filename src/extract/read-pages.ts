/**
 * One reading: asks for page after page, from the first to the end. Two rules hold for every source. Pages join: each page is asked for
 * from the last record of the page before, and must begin with that record. A reading ends on a positive sign: the page from its last
 * record on brings that record alone, and the page behind it is empty. An empty page by itself ends nothing.
 */

import { RekapError } from '../errors.ts';
import { formatNumber } from '../runtime/text.ts';
import type { Page } from '../stages.ts';
import type { FetchedPage } from './ask/answer-reader.ts';

export interface ReadingQuestion {
  /** Asks for the page at an offset. `isBehind`: nothing should be there, so a refusal counts as an empty page. */
  fetch(offset: number, isBehind: boolean): Promise<FetchedPage>;
  /** Takes the records of a page from the one at `first` on. */
  take(fetched: FetchedPage, first: number): void;
  /** The hash of a record's key and values. */
  contentOf(page: Page, row: number): string;
  /** Asked after the first page: whether the full listing says that this was all. */
  isAll(length: number): boolean;
  /** Leaves open, if one page was all, whether there is anything behind it; whoever asks for this reading asks it later. */
  readonly leavesEndOpen: boolean;
  readonly maxRecords: number;
}

export interface ReadToEnd {
  readonly total: number;
  readonly pages: number;
  /** When the last answer came. */
  readonly at: Date;
  readonly proof: 'own end' | 'full listing';
  /** Whether its one page held as many records as were asked for: the source may give no more to any question. */
  readonly isFull: boolean;
  /** What the source said where it has nothing at all. */
  readonly refusal: RekapError | null;
  /** The reported total: what the "count" of every page with records said at least. A source may mean by it all that there is. */
  readonly reported: number;
}

/**
 * @throws `broken-reading` where pages do not join, or the end is in doubt; `unprovable-source` where no reading can be proved;
 * whatever `fetch` throws.
 */
export async function readPages(question: ReadingQuestion): Promise<ReadToEnd> {
  const { take, contentOf, isAll, leavesEndOpen, maxRecords } = question;
  let [total, pages, longest] = [0, 0, 0];
  let reported = Number.POSITIVE_INFINITY;
  let at = new Date(0);
  let last = { content: '', url: '' };

  async function fetch(offset: number, isBehind: boolean): Promise<FetchedPage> {
    const fetched = await question.fetch(offset, isBehind);
    if (fetched.at > at) at = fetched.at;
    return fetched;
  }

  function accept(fetched: FetchedPage, first: number): void {
    const { page } = fetched;
    const { length } = page.records;
    take(fetched, first);
    total += length - first;
    pages += 1;
    longest = Math.max(longest, length);
    reported = Math.min(reported, page.count === page.request.limit ? 0 : page.count);
    last = { content: contentOf(page, length - 1), url: page.url };
    if (total > maxRecords)
      throw new RekapError(
        'unprovable-source',
        `${page.url} still returns records after ${formatNumber(maxRecords)}.`,
        'The list may never end. Contact the operator of the service.',
      );
  }

  const first = await fetch(0, false);
  let { length } = first.page.records;
  const { limit } = first.page.request;
  const end = (proof: ReadToEnd['proof']): ReadToEnd => ({
    total,
    pages,
    at,
    proof,
    isFull: pages === 1 && longest >= limit,
    refusal: first.refusal,
    reported: pages === 0 ? 0 : reported,
  });
  if (length > 0) accept(first, 0);
  if (isAll(length)) return end('full listing');
  if (length === 0) {
    requireNothing(await fetch(0, true));
    return end('own end');
  }
  if (total === 1) {
    // One record has none before it to join to. So the page behind it must be empty twice.
    for (const _turn of [1, 2]) requireNoSecond(await fetch(1, true));
    return end('own end');
  }
  for (;;) {
    // A page shorter than others is likely to be the last one: both questions of the end are then asked at once.
    const looksLast = length < (pages === 1 ? limit : longest);
    const isEndOpen = leavesEndOpen && pages === 1;
    const behind = looksLast && !isEndOpen ? fetch(total, true) : null;
    // Whoever needs it meets its failure.
    behind?.catch(() => undefined);
    const next = await fetch(total - 1, false);
    requireJoin(next, last, contentOf);
    ({ length } = next.page.records);
    if (length > 1) accept(next, 1);
    else {
      if (!isEndOpen) requireNothing(await (behind ?? fetch(total, true)));
      return end('own end');
    }
  }
}

/** @throws `broken-reading` where the page does not begin with the last record of the page before. */
function requireJoin(
  { page, refusal }: FetchedPage,
  last: { readonly content: string; readonly url: string },
  contentOf: ReadingQuestion['contentOf'],
): void {
  if (page.records.length === 0)
    throw new RekapError(
      'broken-reading',
      `${page.url} ${refusal === null ? 'is empty' : `returned status ${refusal.status}`}, although ${last.url} returned a record at this offset.`,
      'The source sometimes leaves out records, or changed during the sync. Run the sync again.',
    );
  if (contentOf(page, 0) === last.content) return;
  throw new RekapError(
    'broken-reading',
    `${page.url} does not start with the last record of ${last.url}.`,
    'The source ignores "offset", has no fixed order, or changed during the sync. Run the sync again, or contact its operator.',
  );
}

function requireNothing({ page }: FetchedPage): void {
  if (page.records.length === 0) return;
  throw new RekapError(
    'broken-reading',
    `${page.url} returns records after the end of the list.`,
    'The source changed during the sync, or its page lengths vary. Run the sync again.',
  );
}

function requireNoSecond(second: FetchedPage): void {
  const { request, records, url } = second.page;
  if (records.length === 1 && request.limit > 1)
    throw new RekapError(
      'unprovable-source',
      `${url} returned one record although ${request.limit} were requested, like the previous page.`,
      'rekap cannot prove that a source is complete if it returns one record at a time. Ask its operator for longer pages.',
    );
  requireNothing(second);
}
