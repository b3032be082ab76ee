/** Chooses the pager of a kind of paging. A missing kind doesn't compile. */

import { RekapError } from '../../errors.ts';
import { afterColumn } from '../../project/field-path.ts';
import { type AnyPipeline, type Paging, placeOf } from '../../project/declaration.ts';
import { countOf } from '../../runtime/text.ts';
import { signsOfMore } from '../envelope-signs.ts';
import type { FetchedPage } from '../response-reader.ts';
import { requireNoMore } from './end-signs.ts';
import { linkedPages } from './next.ts';
import { keysAfter, offsets, overlappingPages } from './overlap.ts';
import { numberedPages } from './page.ts';
import type { Pager } from './pass.ts';

export function pagerOf(pipeline: AnyPipeline, baseUrl: string): Pager {
  const { paging } = pipeline;
  switch (paging.by) {
    case 'offset':
      return overlappingPages(offsets(paging));
    case 'after':
      return overlappingPages(keysAfter(paging, placeOf(pipeline, afterColumn(pipeline)!)));
    case 'page':
      return numberedPages(paging);
    case 'next':
      return linkedPages(paging, baseUrl);
    case 'none':
      return singleResponse(paging);
  }
}

/** Reads a list in one response, proved by two equal responses. Its length, closed JSON or last newline shows that all of it arrived. */
function singleResponse({ ignores = [] }: Extract<Paging, { by: 'none' }>): Pager {
  return {
    showsGaps: false,
    movesRecords: false,
    repages: false,
    grade: () => 'single',
    unseen: () => null,
    async *pass({ fetchFirst }) {
      const fetched = await fetchFirst(() => ({}));
      requireNoMore(fetched.page);
      requireNoSign(fetched, ignores);
      yield { fetched, first: 0, size: null, end: fetched.refusal === null ? 'body' : 'status' };
    },
  };
}

function requireNoSign({ page, link }: FetchedPage, ignores: readonly string[]): void {
  const signs = signsOfMore(page, link).filter(({ at }) => !ignores.includes(at));
  if (signs.length === 0) return;
  throw new RekapError(
    'unprovable-source',
    `${page.url} returned ${countOf(page.records.length, 'record')}, but seems to have more: ${signs.map(({ what }) => what).join(', ')}.`,
    `Declare how the list is paged. If this is the whole list, add ignores: [${signs.map(({ at }) => `'${at}'`).join(', ')}] to its paging.`,
  );
}
