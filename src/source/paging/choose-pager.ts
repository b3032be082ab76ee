/** Chooses the pager of a kind of paging. A missing kind doesn't compile. */

import type { Paging } from '../../project/declaration.ts';
import { linkedPages } from './next.ts';
import { singleResponse } from './none.ts';
import { overlappingPages } from './offset.ts';
import { numberedPages } from './page.ts';
import type { Pager } from './pass.ts';

export function pagerOf(paging: Paging, baseUrl: string): Pager {
  switch (paging.by) {
    case 'offset':
      return overlappingPages(paging);
    case 'page':
      return numberedPages(paging);
    case 'next':
      return linkedPages(paging, baseUrl);
    case 'none':
      return singleResponse(paging);
  }
}
