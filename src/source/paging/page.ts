/**
 * Reads numbered pages. A cap shows only later: a short page is followed by another one. The pass then starts over with the size received,
 * because page 2 of 1,000 isn't page 2 of 25. The second pass requests one record fewer per page, so that a list of one capped page shows a
 * second page.
 */

import { RekapError } from '../../errors.ts';
import type { Paging } from '../../project/declaration.ts';
import type { Page } from '../../stages.ts';
import type { FetchedPage } from '../response-reader.ts';
import { KnownPages, type Pager, StartOver } from './pass.ts';

/** Proof: two passes with different page sizes, or two equal ones if the source has no size parameter or ignores it. */
export function numberedPages({
  page: parameter,
  size: sizeName,
  first: begin = 1,
}: Extract<Paging, { by: 'page' }>): Pager {
  return {
    showsGaps: false,
    movesRecords: true,
    repages: sizeName !== undefined,
    grade: (longest) => (sizeName !== undefined && new Set(longest).size > 1 ? 'repaged' : 'repeated'),
    async *pass({ fetch, fetchFirst, hashOf }) {
      const address = (number: number, size: number) => ({
        ...(sizeName !== undefined && { [sizeName]: size }),
        [parameter]: number,
      });
      const known = new KnownPages(hashOf);
      const first = await fetchFirst((size) => address(begin, size));
      const { length } = first.page.records;
      const size = sizeName === undefined ? length : first.size;
      let fetched: FetchedPage = await known.fetchNew(async () => first, '');
      for (let number = begin; ; number += 1) {
        const { page } = fetched;
        yield { fetched, first: 0, size };
        if (page.records.length === 0) return;
        fetched = await known.fetchNew(() => fetch(address(number + 1, first.size), true), `"${parameter}"`);
        if (fetched.page.records.length === 0) continue;
        if (number === begin && length < size) throw new StartOver(length);
        if (page.records.length !== length) throw varyingLength(page, `${length} and another page follows`);
        if (fetched.page.records.length > length) throw varyingLength(fetched.page, String(length));
      }
    },
  };
}

function varyingLength({ records, url }: Page, first: string): RekapError {
  return new RekapError(
    'broken-reading',
    `${url} returns ${records.length} records, although the first page has ${first}.`,
    'The source returns pages of different lengths, or changed during the sync. Run the sync again, or contact its operator.',
  );
}
