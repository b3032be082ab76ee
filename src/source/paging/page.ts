/**
 * Reads numbered pages. A cap shows only later: a short page is followed by another one. The pass then starts over with the size received,
 * because page 2 of 1,000 isn't page 2 of 25. The second pass requests one record fewer per page, so that a list of one capped page shows a
 * second page.
 */

import { isRekapError, RekapError } from '../../errors.ts';
import type { Paging } from '../../project/declaration.ts';
import type { EndSign, Page } from '../../stages.ts';
import type { FetchedPage } from '../response-reader.ts';
import { isRefusal } from '../source-messages.ts';
import { contradiction, EndSigns, requireNoMore } from './end-signs.ts';
import { type Pager, signPastEnd, StartOver, withoutRepeats } from './pass.ts';

/** Proof: two passes with different page sizes, or two equal ones if the source has no size parameter or ignores it. */
export function numberedPages({
  page: parameter,
  size: sizeName,
  first: begin = 1,
  step,
}: Extract<Paging, { by: 'page' }>): Pager {
  const signs = new EndSigns();
  /** True when a pass has shown that the list begins at page 1: page 0 has no other records. */
  let isStartProved = begin === 0;
  /** Why page 0 could not be read. */
  let startProblem: string | null = null;
  return {
    showsGaps: false,
    movesRecords: true,
    repages: sizeName !== undefined,
    grade: ({ sizesDiffer }) => (sizesDiffer ? 'repaged' : 'repeated'),
    unseen: () => (isStartProved ? null : startProblem),
    async *pass({ fetch, fetchFirst, hashOf, isShortened }) {
      /** Records of a page, if the parameter counts records: those that come, because the source may cap the size. */
      let perPage = 0;
      const address = (number: number, size: number) => ({
        ...(sizeName !== undefined && { [sizeName]: size }),
        [parameter]: step === 'size' && number >= begin ? begin + (number - begin) * perPage : number,
      });
      const fetchNew = withoutRepeats(hashOf);
      const first = await fetchFirst((size) => address(begin, size));
      const { length } = first.page.records;
      perPage = length;
      const size = sizeName === undefined ? length : first.size;
      const before = isStartProved ? null : await fetch(address(0, first.size), 'unneeded');
      // Some sources return page 1 for page 0, others all records, or an error. Its first record must be on a later page.
      let missing = before === null || before.page.records.length === 0 ? null : hashOf(before.page, 0);
      let fetched: FetchedPage = await fetchNew(async () => first, '');
      let received = 0;
      for (let number = begin; ; number += 1) {
        const { page } = fetched;
        signs.note(page);
        for (let row = 0; row < page.records.length && missing !== null; row += 1)
          if (hashOf(page, row) === missing) missing = null;
        received += page.records.length;
        const end = signPastEnd(fetched) ?? (signs.isLast(page) ? 'hasMore' : null);
        if (page.records.length === 0) requireNoMore(page);
        yield { fetched, first: 0, size, end };
        if (end !== null) break;
        const next = await readNext(page, number);
        if (typeof next === 'string') {
          yield { fetched, first: page.records.length, size, end: next };
          break;
        }
        fetched = next;
        const { records } = next.page;
        if (records.length === 0) {
          requireNoMore(page);
          continue;
        }
        if (page.hasMore === false)
          throw contradiction(`${page.url} says that no page follows ("hasMore"), but one does.`);
        if (number === begin && length < size) throw new StartOver(length, 'cap');
        if (page.records.length !== length) throw varyingLength(page, `${length} and another page follows`);
        if (records.length > length) throw varyingLength(next.page, String(length));
      }
      if (missing !== null) throw countsFromZero(before!.page, parameter);
      if (before !== null && isUncertain(before.refusal))
        startProblem = `page 0 could not be read, so the list may begin there: ${before.refusal!.message.replace(/\.$/, '')}`;
      else isStartProved ||= received > 0;

      /** Reads the page after another one, or returns the sign that shows the end without it. */
      async function readNext(page: Page, number: number): Promise<FetchedPage | EndSign> {
        const isTotal = signs.isTotal(page, received);
        const next = address(number + 1, first.size);
        try {
          return await fetchNew(() => fetch(next, isTotal ? 'unneeded' : 'past end'), `"${parameter}"`);
        } catch (error) {
          // Some services return the last page again.
          if (isTotal && isRekapError(error, 'broken-reading')) return 'total';
          const isOnlyPage = number === begin && (page.count === length || page.hasMore === false);
          if (!isOnlyPage || !isRekapError(error, 'source-status')) throw error;
          // A list of one page shows only in shorter pages whether its count is a total, and its flag can be true.
          if (sizeName !== undefined && length >= 2 && length <= first.size && first.isFallback !== true)
            throw isShortened ? error : new StartOver(length - 1, 'short list');
          if (!isRefusal(error)) throw error;
          return page.count === length ? 'total' : 'hasMore';
        }
      }
    },
  };
}

/** Returns whether a refusal of page 0 says nothing about it: the source was busy or out of reach. */
function isUncertain(refusal: RekapError | null): boolean {
  if (!isRekapError(refusal, 'source-status')) return isRekapError(refusal, 'source-unreachable');
  return refusal.status > 500 || [408, 425, 429].includes(refusal.status);
}

function countsFromZero({ url }: Page, parameter: string): RekapError {
  return new RekapError(
    'unprovable-source',
    `${url} has records that no page from 1 on has: the source counts its pages from 0.`,
    `Add first: 0 to the paging, beside "${parameter}".`,
  );
}

function varyingLength({ records, url }: Page, first: string): RekapError {
  return new RekapError(
    'broken-reading',
    `${url} returns ${records.length} records, although the first page has ${first}.`,
    'The source returns pages of different lengths, or changed during the sync. Run the sync again, or contact its operator.',
  );
}
