/**
 * Pages with numbers. What a source caps shows only behind it: a short page that is followed by another one. The pass then starts over with
 * the size received, for page 2 of 1,000 is not page 2 of 25. The second pass asks for one record fewer per page, so that a list of one capped
 * page, behind which a source shows nothing, shows a second page.
 */

import { RekapError } from '../../errors.ts';
import type { Paging } from '../../project/declaration.ts';
import type { Page } from '../../stages.ts';
import type { FetchedPage } from '../answer-reader.ts';
import { KnownPages, type Pager, StartOver } from './pass.ts';

/** Proved by two passes over pages of different sizes; by two equal ones where the source has no parameter of the size, or ignores it. */
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
      // Without a parameter for it, the source has one page size.
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
