/** Reads pages that name the next page: by a URL, by a cursor, or in the header `Link`. */

import { RekapError } from '../../errors.ts';
import type { AllowedOrigin, Paging } from '../../project/declaration.ts';
import { headerOf, nextPointer } from '../../project/field-path.ts';
import type { EndSign, Page } from '../../stages.ts';
import type { FetchedPage } from '../response-reader.ts';
import { signsOfMore } from '../envelope-signs.ts';
import { EndSigns, requireNoMore } from './end-signs.ts';
import { type PageAddress, type Pager, StartOver, withoutRepeats } from './pass.ts';

const maxEmptyPages = 100;

type NextPaging = Extract<Paging, { by: 'next' }>;

/**
 * Proof: two passes that follow the chain to its end, the second with another page size if there is a parameter for it. A page without a
 * next page ends the chain only if another response has named one. With a parameter for the size, a list of one page is read again in
 * shorter pages, so that it must name one.
 *
 * @param baseUrl Of the source. The chain must not leave it, because the key goes nowhere else.
 */
export function linkedPages(paging: NextPaging, baseUrl: string): Pager {
  const { size: sizeName, ignores = [] } = paging;
  const header = headerOf(paging);
  const place = nextPointer(paging) ?? (header === 'link' ? 'Link' : header!);
  const signs = new EndSigns();
  let hasNamed = false;
  /** Members of the first page that ended a list without naming a next page. */
  let without: string | null = null;
  return {
    showsGaps: false,
    movesRecords: true,
    repages: sizeName !== undefined,
    grade: ({ records, sizesDiffer }) => {
      if (records < 2 || !hasNamed) return 'single';
      return sizesDiffer ? 'rechained' : 'chain';
    },
    unseen: () => (hasNamed || without === null ? null : neverNamed(place, without)),
    async *pass({ fetch, fetchFirst, hashOf, isShortened }) {
      const sized = (size: number) => (sizeName === undefined ? {} : { [sizeName]: size });
      const first = await fetchFirst(sized);
      const { length } = first.page.records;
      const isFixed = sizeName === undefined || first.isFallback === true;
      const mayShorten = !isFixed && length >= 2 && length <= first.size;
      const fetchNew = withoutRepeats(hashOf);
      const followed = new Set<string>();
      let received = 0;
      let fetched: FetchedPage = await fetchNew(async () => first, '');
      for (let empty = 0; ;) {
        const { page } = fetched;
        signs.note(page);
        received += page.records.length;
        const next = header === null ? page.next : (fetched.link ?? undefined);
        hasNamed ||= typeof next === 'string';
        const isUnproved =
          fetched === first && (typeof next === 'string' ? page.hasMore === false && !signs.isLast(page) : !hasNamed);
        if (isUnproved && mayShorten && !isShortened) throw new StartOver(length - 1, 'short list');
        const end = endOf(fetched, next);
        yield { fetched, first: 0, size: sizeName === undefined ? null : first.size, end };
        if (end !== null || typeof next !== 'string') return;
        empty = page.records.length > 0 ? 0 : empty + 1;
        if (followed.has(next)) throw loop(page, next);
        if (empty >= maxEmptyPages) throw endless(page);
        followed.add(next);
        if ('cursor' in paging && /^https?:\/\/|\?/.test(next)) throw notCursor(page, place, next);
        const address: PageAddress =
          'cursor' in paging
            ? { ...sized(first.size), [paging.parameter]: next }
            : targetOf(next, page, { baseUrl, allow: paging.allow ?? [] });
        fetched = await fetchNew(() => fetch(address, 'page'), 'the cursor');
        if (fetched.refusal !== null) throw absent(page, fetched.refusal);
      }

      function endOf({ page, link, refusal }: FetchedPage, next: Page['next']): EndSign | null {
        if (signs.isLast(page)) return 'hasMore';
        if (typeof next === 'string') {
          // After the last record, some services name a next page forever.
          if (page.records.length === 0 && signs.isTotal(page, received)) return 'total';
          if (page.hasMore !== false) return null;
          // A list of one record can't show the flag on another page.
          if (received < 2 && !isShortened) return 'hasMore';
          // Another list may show it before the next pass.
          throw new RekapError(
            'broken-reading',
            `${page.url} names a next page, but "hasMore" is false there and was never true.`,
            'Check "hasMore" in the declaration, or declare "size", so that rekap can read the list in shorter pages.',
          );
        }
        requireNoMore(page);
        if (refusal !== null) return 'status';
        if (!hasNamed && isShortened && !isFixed && received >= 1 && received <= first.size)
          throw unnamed(page, place, next === undefined ? membersOf(page) : null);
        const more = signsOfMore(page, link).filter(
          ({ at, kind }) =>
            at !== place && !ignores.includes(at) && (kind === 'flag' || (kind === 'next' && !hasNamed)),
        );
        if (more.length > 0)
          throw unnamed(
            page,
            place,
            next === undefined ? membersOf(page) : null,
            more.map(({ what }) => what).join(', '),
          );
        if (next === null) return 'null';
        if (!hasNamed && received >= 2) without ??= membersOf(page);
        return 'missing';
      }
    },
  };
}

function membersOf({ envelope }: Page): string {
  const names = [...new Set([...envelope.keys()].flatMap((pointer) => pointer.split('/')[1] ?? []))];
  return names.length === 0 ? 'no members beside the records' : names.slice(0, 12).join(', ');
}

function describe(place: string): string {
  if (place === 'Link') return 'a header Link with rel="next"';
  return place.startsWith('/') ? place : `a header ${place}`;
}

function neverNamed(place: string, members: string): string {
  return `no response has ${describe(place)}, which should name the next page; the first has ${members}. Correct the paging. A list that is never paged has by: 'none'`;
}

/** A page that another one must follow names none. */
function unnamed(
  { url }: Page,
  place: string,
  members: string | null,
  more = 'a longer page has more records',
): RekapError {
  const what = members === null ? `${place} is null` : `there is no ${describe(place)}; it has ${members}`;
  return new RekapError(
    'unprovable-source',
    `${url} does not name the next page: ${what}. But more records follow: ${more}.`,
    'Correct the paging in the declaration, so that it points to the next page.',
  );
}

function notCursor({ url }: Page, place: string, next: string): RekapError {
  return new RekapError(
    'unprovable-source',
    `${url} names the next page by a URL, not by a cursor: ${place} is ${JSON.stringify(next.slice(0, 200))}.`,
    `Declare paging: { by: 'next', url: '${place}' }.`,
  );
}

function originOf(allowed: AllowedOrigin): string {
  return typeof allowed === 'string' ? allowed : allowed.origin;
}

/** Returns whether the declaration sends the key to this origin. */
export function mayHaveKey({ allow = [] }: NextPaging, origin: string): boolean {
  return allow.some((allowed) => originOf(allowed) === origin && typeof allowed !== 'string');
}

interface Bounds {
  readonly baseUrl: string;
  readonly allow: readonly AllowedOrigin[];
}

function targetOf(next: string, { url }: Page, { baseUrl, allow }: Bounds): string {
  const address = URL.canParse(next, url) ? new URL(next, url) : null;
  const base = new URL(baseUrl);
  const folder = base.pathname.replace(/\/$/, '');
  if (address !== null && address.origin === base.origin && address.pathname.startsWith(`${folder}/`))
    return address.pathname.slice(folder.length) + address.search;
  if (address !== null && allow.some((allowed) => originOf(allowed) === address.origin)) return address.href;
  throw new RekapError(
    'unprovable-source',
    `${url} links to the next page ${JSON.stringify(next.slice(0, 200))}, which is not below ${baseUrl}.`,
    `rekap sends the API key only to the source. Check --base-url. If pages may be there, add allow: ['${address?.origin ?? 'https://…'}'] to the paging.`,
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
