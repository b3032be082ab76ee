/**
 * Reads pages that begin at any record: at an offset, or after the value of a field. Pages overlap: each request starts at the last record of
 * the previous page, and the response must begin with it. A pass ends if the page that starts at the last record has only this record, and the
 * page after it is empty. An empty page alone ends nothing.
 */

import { isRekapError, RekapError } from '../../errors.ts';
import type { Paging } from '../../project/declaration.ts';
import { readRaw } from '../../kinds/read-field.ts';
import type { Page } from '../../stages.ts';
import type { FetchedPage } from '../response-reader.ts';
import { contradiction, EndSigns, requireNoMore } from './end-signs.ts';
import { PagesAhead } from './pages-ahead.ts';
import { type PageAddress, type PageFetcher, type Pager, type PassPage, signPastEnd, StartOver } from './pass.ts';

/** Describes how a request selects the record where its page begins. */
interface Beginnings {
  /** The parameter, for messages. */
  readonly parameter: string;
  /** Offset of a page that must not have records before those of the first page; null if none is before it. */
  readonly before: number | null;
  /** True if the address of a page is known before the one before it was read. */
  readonly mayLookAhead: boolean;
  /** Returns what is needed for one pass: the address of the page that begins at an offset, and what to do with each page. */
  begin(): {
    address(offset: number, size: number): PageAddress;
    /** @param offset Offset of the first record of the page. */
    note(page: Page, offset: number): void;
  };
}

export function offsets({ limit, offset: parameter, first = 0 }: Extract<Paging, { by: 'offset' }>): Beginnings {
  const address = (offset: number, size: number) => ({ [limit]: size, [parameter]: offset + first });
  return {
    parameter,
    before: first === 1 ? -1 : null,
    mayLookAhead: true,
    begin: () => ({ address, note: () => undefined }),
  };
}

/** @param place Place of the column with the field, in the index of a page. */
export function keysAfter(
  { parameter, size: sizeName, field }: Extract<Paging, { by: 'after' }>,
  place: number,
): Beginnings {
  return {
    parameter,
    before: null,
    mayLookAhead: false,
    begin() {
      /** Value of the record before an offset. */
      const before = new Map<number, string>();
      let last: bigint | null = null;
      let direction = 0;
      return {
        address(offset, size) {
          const value = before.get(offset);
          return {
            ...(sizeName !== undefined && { [sizeName]: size }),
            ...(offset > 0 && { [parameter]: value ?? '' }),
          };
        },
        note(page, offset) {
          const { length } = page.records;
          for (let row = 0; row < length; row += 1) {
            const value = readRaw(page, row, place);
            if (value === null || value === '') throw withoutValue(page, field);
            if (row >= length - 2) before.set(offset + row + 1, value);
            if (!/^-?\d{1,30}$/.test(value) || before.has(offset + row + 2)) continue;
            const number = BigInt(value);
            if (last !== null && number !== last) {
              const step = number > last ? 1 : -1;
              if (direction !== 0 && step !== direction) throw notInOrder(page, field);
              direction = step;
            }
            last = number;
          }
        },
      };
    },
  };
}

function withoutValue({ url }: Page, field: string): RekapError {
  return new RekapError(
    'unprovable-source',
    `${url} returns a record without "${field}", which the next page would begin after.`,
    'Declare a field that every record has, or another paging.',
  );
}

function notInOrder({ url }: Page, field: string): RekapError {
  return new RekapError(
    'unprovable-source',
    `${url} returns records that are not in the order of "${field}", so a page after a value leaves out records.`,
    'Add the parameter that sorts the list by this field to "parameters", or declare another paging.',
  );
}

/** Proof: two passes, each of which shows its own gaps. */
export function overlappingPages(beginnings: Beginnings): Pager {
  const signs = new EndSigns();
  return {
    showsGaps: true,
    movesRecords: false,
    repages: false,
    grade: () => 'overlap',
    unseen: () => null,
    pass: (fetcher) => readPages(fetcher, beginnings, signs),
  };
}

async function* readPages(
  { fetchFirst, fetch: fetchAt, hashOf, isShortened, lookahead }: PageFetcher,
  beginnings: Beginnings,
  signs: EndSigns,
): AsyncGenerator<PassPage, void, undefined> {
  const { address, note } = beginnings.begin();
  const fetched = await fetchFirst((size) => address(0, size));
  const { size } = fetched;
  const fetch = (offset: number, mayBePastEnd: boolean) =>
    fetchAt(address(offset, size), mayBePastEnd ? 'past end' : 'page');
  // If the total is reached, an error of the page past the end doesn't raise doubts.
  const fetchPastEnd = (offset: number, last: Page) =>
    fetchAt(address(offset, size), signs.isTotal(last, offset) ? 'unneeded' : 'past end');
  const atEnd = (last: FetchedPage): PassPage => {
    return { fetched: last, first: last.page.records.length, size, end: signPastEnd(last) };
  };
  signs.note(fetched.page);
  note(fetched.page, 0);
  yield { fetched, first: 0, size, end: null };
  if (beginnings.before !== null && fetched.page.records.length > 0) {
    const { page: before } = await fetchAt(address(beginnings.before, size), 'unneeded');
    if (before.records.length > 0 && hashOf(before, 0) !== hashOf(fetched.page, 0))
      throw countsFromZero(before, beginnings.parameter);
  }
  const lastHashOf = (page: Page) => hashOf(page, page.records.length - 1);
  let total = fetched.page.records.length;
  if (total === 0) {
    const pastEnd = await fetch(0, true);
    yield atEnd(pastEnd);
    return requireNothing(pastEnd);
  }
  // A single record has no previous record to overlap with, so the page after it must be empty twice.
  if (total === 1) {
    for (const _attempt of [1, 2]) {
      const pastEnd = await fetchPastEnd(1, fetched.page);
      yield atEnd(pastEnd);
      requireNoSecond(pastEnd, size);
    }
    return requireNoMore(fetched.page);
  }
  const ahead = new PagesAhead(fetch, beginnings.mayLookAhead ? lookahead : { pages: 1, total: null });
  let page = fetched.page;
  let lastHash = lastHashOf(page);
  let longest = total;
  try {
    for (let length = total, expected = size; ; expected = longest) {
      // A shorter page is probably the last one: then both requests for the end are sent at once.
      const early = length < expected ? fetchPastEnd(total, page) : null;
      early?.catch(() => undefined);
      if (early === null) ahead.advance(total - 1, longest - 1);
      const next = await ahead.take(total - 1);
      requireRecords(next, page);
      if (hashOf(next.page, 0) !== lastHash) throw otherStart(next.page, page, beginnings.parameter);
      signs.note(next.page);
      note(next.page, total - 1);
      ({ length } = next.page.records);
      if (length === 1) {
        const isLast = signs.isLast(next.page);
        yield { ...atEnd(next), end: isLast ? 'hasMore' : null };
        if (isLast) {
          await early?.then(requireNothing, () => undefined);
          return;
        }
        const pastEnd = await (early ?? fetchPastEnd(total, next.page)).catch((error: unknown) => {
          if (signs.isTotal(next.page, total)) return fetchPastEnd(total, next.page);
          // Only shorter pages show whether the flag of a list of one page can be true.
          const mayShorten = !isShortened && total >= 3 && total <= size && next.page.hasMore === false;
          throw mayShorten && isRekapError(error, 'source-status') ? new StartOver(total - 1, 'short list') : error;
        });
        yield atEnd(pastEnd);
        requireNoMore(next.page);
        return requireNothing(pastEnd);
      }
      if (page.hasMore === false)
        throw contradiction(`${page.url} says that no page follows ("hasMore"), but one does.`);
      yield { fetched: next, first: 1, size, end: null };
      ({ page } = next);
      lastHash = lastHashOf(page);
      total += length - 1;
      longest = Math.max(longest, length);
    }
  } finally {
    await ahead.settle();
  }
}

function countsFromZero({ url }: Page, parameter: string): RekapError {
  return new RekapError(
    'unprovable-source',
    `${url} begins with another record than the list: the source counts records from 0.`,
    `Remove first: 1 from the paging, beside "${parameter}".`,
  );
}

function requireRecords({ page, refusal }: FetchedPage, before: Page): void {
  if (page.records.length > 0) return;
  throw new RekapError(
    'broken-reading',
    `${page.url} ${refusal === null ? 'is empty' : `returned status ${refusal.status}`}, although ${before.url} returned a record at this offset.`,
    'The source sometimes leaves out records, or changed during the sync. Run the sync again.',
  );
}

function otherStart({ url }: Page, before: Page, parameter: string): RekapError {
  return new RekapError(
    'broken-reading',
    `${url} does not start with the last record of ${before.url}.`,
    `The source ignores "${parameter}", has no fixed order, or changed during the sync. Run the sync again, or contact its operator.`,
  );
}

function requireNothing({ page }: FetchedPage): void {
  if (page.records.length === 0) return requireNoMore(page);
  throw new RekapError(
    'broken-reading',
    `${page.url} returns records after the end of the list.`,
    'The source changed during the sync, or its page lengths vary. Run the sync again.',
  );
}

function requireNoSecond(second: FetchedPage, size: number): void {
  const { records, url } = second.page;
  if (records.length === 1 && size > 1)
    throw new RekapError(
      'unprovable-source',
      `${url} and the page before it each returned one record, although ${size} were requested.`,
      'rekap cannot prove that a source is complete if it returns one record at a time. Ask its operator for longer pages.',
    );
  requireNothing(second);
}
