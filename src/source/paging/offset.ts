/**
 * Pages with an offset. Two rules hold for every source. Pages join: each page is asked for from the last record of the page before, and must
 * begin with that record. A pass ends on a positive sign: the page from its last record on brings that record alone, and the page behind it is
 * empty. An empty page by itself ends nothing.
 */

import { RekapError } from '../../errors.ts';
import type { Paging } from '../../project/declaration.ts';
import type { FetchedPage } from '../answer-reader.ts';
import { type Pager, type PassEnd, type PassQuestion, PassTally } from './pass.ts';

/** Proved by two passes, each of which shows its own gaps. */
export function overlappingPages({ limit: limitName, offset: offsetName }: Extract<Paging, { by: 'offset' }>): Pager {
  return {
    showsGaps: true,
    movesRecords: false,
    repages: false,
    grade: () => 'overlap',
    pass: (question) => makePass(question, (offset, size) => ({ [limitName]: size, [offsetName]: offset })),
  };
}

async function makePass(
  question: PassQuestion,
  address: (offset: number, size: number) => Readonly<Record<string, number>>,
): Promise<PassEnd> {
  const { contentOf, isAll, leavesEndOpen } = question;
  const tally = new PassTally(question);
  let last = { content: '', url: '' };

  async function fetch(offset: number, isBehind: boolean): Promise<FetchedPage> {
    const fetched = await question.fetch(address(offset, first.size), isBehind);
    tally.noteAnswer(fetched);
    return fetched;
  }

  function accept(fetched: FetchedPage, from: number): void {
    const { page } = fetched;
    tally.take(fetched, from, first.size);
    last = { content: contentOf(page, page.records.length - 1), url: page.url };
  }

  const first = await question.fetchFirst((size) => address(0, size));
  tally.noteAnswer(first);
  let { length } = first.page.records;
  const end = (proof: PassEnd['proof']): PassEnd =>
    tally.end(first, { proof, isFull: tally.pages === 1 && tally.longest >= first.size });
  if (length > 0) accept(first, 0);
  if (isAll(length)) return end('full listing');
  if (length === 0) {
    requireNothing(await fetch(0, true));
    return end('own end');
  }
  if (tally.total === 1) {
    // One record has none before it to join to. So the page behind it must be empty twice.
    for (const _turn of [1, 2]) requireNoSecond(await fetch(1, true), first.size);
    return end('own end');
  }
  for (;;) {
    // A page shorter than others is likely to be the last one: both questions of the end are then asked at once.
    const looksLast = length < (tally.pages === 1 ? first.size : tally.longest);
    const isEndOpen = leavesEndOpen && tally.pages === 1;
    const behind = looksLast && !isEndOpen ? fetch(tally.total, true) : null;
    // Whoever needs it meets its failure.
    behind?.catch(() => undefined);
    const next = await fetch(tally.total - 1, false);
    requireJoin(next, last, contentOf);
    ({ length } = next.page.records);
    if (length > 1) accept(next, 1);
    else {
      if (!isEndOpen) requireNothing(await (behind ?? fetch(tally.total, true)));
      return end('own end');
    }
  }
}

/** @throws `broken-reading` where the page does not begin with the last record of the page before. */
function requireJoin(
  { page, refusal }: FetchedPage,
  last: { readonly content: string; readonly url: string },
  contentOf: PassQuestion['contentOf'],
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

function requireNoSecond(second: FetchedPage, size: number): void {
  const { records, url } = second.page;
  if (records.length === 1 && size > 1)
    throw new RekapError(
      'unprovable-source',
      `${url} returned one record although ${size} were requested, like the previous page.`,
      'rekap cannot prove that a source is complete if it returns one record at a time. Ask its operator for longer pages.',
    );
  requireNothing(second);
}
