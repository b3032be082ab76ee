/** Reads pages that name the next page: by a URL, by a cursor, or in the header `Link`. */

import { RekapError } from '../../errors.ts';
import type { Paging } from '../../project/declaration.ts';
import type { Page } from '../../stages.ts';
import type { FetchedPage } from '../response-reader.ts';
import { KnownPages, type PageAddress, type Pager } from './pass.ts';

const maxEmptyPages = 100;

/**
 * Proof: two passes that follow the chain to its end, the second with another page size if there is a parameter for it.
 *
 * @param baseUrl Of the source. The chain must not leave it, because the key goes nowhere else.
 */
export function linkedPages(paging: Extract<Paging, { by: 'next' }>, baseUrl: string): Pager {
  const { size: sizeName } = paging;
  return {
    showsGaps: false,
    movesRecords: true,
    repages: sizeName !== undefined,
    grade: () => 'chain',
    async *pass({ fetch, fetchFirst, hashOf }) {
      const sized = (size: number) => (sizeName === undefined ? {} : { [sizeName]: size });
      const first = await fetchFirst(sized);
      const known = new KnownPages(hashOf);
      const followed = new Set<string>();
      let fetched: FetchedPage = await known.fetchNew(async () => first, '');
      for (let empty = 0; ;) {
        const { page } = fetched;
        yield { fetched, first: 0, size: sizeName === undefined ? null : first.size };
        empty = page.records.length > 0 ? 0 : empty + 1;
        const next = 'link' in paging ? fetched.link : page.next;
        if (next === null) return;
        if (followed.has(next)) throw loop(page, next);
        if (empty >= maxEmptyPages) throw endless(page);
        followed.add(next);
        const address: PageAddress =
          'cursor' in paging ? { ...sized(first.size), [paging.parameter]: next } : targetOf(next, page, baseUrl);
        fetched = await known.fetchNew(() => fetch(address, false), 'the cursor');
        if (fetched.refusal !== null) throw absent(page, fetched.refusal);
      }
    },
  };
}

function targetOf(next: string, { url }: Page, baseUrl: string): string {
  const address = URL.canParse(next, url) ? new URL(next, url) : null;
  const base = new URL(baseUrl);
  const folder = base.pathname.replace(/\/$/, '');
  if (address !== null && address.origin === base.origin && address.pathname.startsWith(`${folder}/`))
    return address.pathname.slice(folder.length) + address.search;
  throw new RekapError(
    'unprovable-source',
    `${url} links to the next page ${JSON.stringify(next.slice(0, 200))}, which is not below ${baseUrl}.`,
    'rekap sends the API key only to the source. Check --base-url, or contact the operator of the service.',
  );
}

/** A page that the previous one names must exist. If it is missing, records are. */
function absent({ url }: Page, { message }: RekapError): RekapError {
  return new RekapError(
    'broken-reading',
    `${url} links to a next page that the source does not return: ${message}`,
    'The source changed during the sync, or its cursors expire. Run the sync again, or contact its operator.',
  );
}

function loop({ url }: Page, next: string): RekapError {
  return new RekapError(
    'broken-reading',
    `${url} links to the next page ${JSON.stringify(next.slice(0, 200))}, which was already read.`,
    'The pages of the source form a loop. Run the sync again, or contact its operator.',
  );
}

function endless({ url }: Page): RekapError {
  return new RekapError(
    'unprovable-source',
    `The source returned ${maxEmptyPages} pages in a row without records. The last one, ${url}, links to another page.`,
    'The list may never end. Contact the operator of the service.',
  );
}
