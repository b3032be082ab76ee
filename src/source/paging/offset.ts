/**
 * Reads pages with an offset. Pages overlap: each request starts at the last record of the previous page, and the response must begin with
 * it. A pass ends if the page that starts at the last record has only this record, and the page after it is empty. An empty page alone ends
 * nothing.
 */

import { RekapError } from '../../errors.ts';
import type { Paging } from '../../project/declaration.ts';
import type { Page } from '../../stages.ts';
import type { FetchedPage } from '../response-reader.ts';
import { PagesAhead } from './pages-ahead.ts';
import type { PageFetcher, Pager, PassPage } from './pass.ts';

interface Joint {
  readonly url: string;
  readonly hash: string;
}

/** Proof: two passes, each of which shows its own gaps. */
export function overlappingPages({ limit: limitName, offset: offsetName }: Extract<Paging, { by: 'offset' }>): Pager {
  return {
    showsGaps: true,
    movesRecords: false,
    repages: false,
    grade: () => 'overlap',
    pass: (fetcher) => readPages(fetcher, (offset, size) => ({ [limitName]: size, [offsetName]: offset })),
  };
}

async function* readPages(
  { fetchFirst, fetch: fetchAt, hashOf, lookahead }: PageFetcher,
  address: (offset: number, size: number) => Readonly<Record<string, number>>,
): AsyncGenerator<PassPage, void, undefined> {
  const fetched = await fetchFirst((size) => address(0, size));
  const { size } = fetched;
  const fetch = (offset: number, isBehind: boolean) => fetchAt(address(offset, size), isBehind);
  const atEnd = (behind: FetchedPage): PassPage => ({ fetched: behind, first: behind.page.records.length, size });
  yield { fetched, first: 0, size };
  const endOf = (page: Page): Joint => ({ url: page.url, hash: hashOf(page, page.records.length - 1) });
  let total = fetched.page.records.length;
  if (total === 0) {
    const behind = await fetch(0, true);
    yield atEnd(behind);
    return requireNothing(behind);
  }
  // A single record has no previous record to overlap with, so the page after it must be empty twice.
  if (total === 1) {
    for (const _attempt of [1, 2]) {
      const behind = await fetch(1, true);
      yield atEnd(behind);
      requireNoSecond(behind, size);
    }
    return;
  }
  const ahead = new PagesAhead(fetch, lookahead);
  let last = endOf(fetched.page);
  let longest = total;
  try {
    for (let length = total, expected = size; ; expected = longest) {
      // A shorter page is probably the last one: then both requests for the end are sent at once.
      const early = length < expected ? fetch(total, true) : null;
      early?.catch(() => undefined);
      if (early === null) ahead.advance(total - 1, longest - 1);
      const next = await ahead.take(total - 1);
      requireJoin(next, last, hashOf);
      ({ length } = next.page.records);
      if (length === 1) {
        yield atEnd(next);
        const behind = await (early ?? fetch(total, true));
        yield atEnd(behind);
        return requireNothing(behind);
      }
      yield { fetched: next, first: 1, size };
      last = endOf(next.page);
      total += length - 1;
      longest = Math.max(longest, length);
    }
  } finally {
    await ahead.settle();
  }
}

function requireJoin({ page, refusal }: FetchedPage, last: Joint, hashOf: PageFetcher['hashOf']): void {
  if (page.records.length === 0)
    throw new RekapError(
      'broken-reading',
      `${page.url} ${refusal === null ? 'is empty' : `returned status ${refusal.status}`}, although ${last.url} returned a record at this offset.`,
      'The source sometimes leaves out records, or changed during the sync. Run the sync again.',
    );
  if (hashOf(page, 0) === last.hash) return;
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
