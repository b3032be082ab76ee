/** Walks one district page by page, stepping by the records received, to a proved end. */

import { EndlessWalkError, ForeignRecordError, RepeatedPageError } from '../errors.ts';
import type { AnyPipeline, Page } from '../pipeline.ts';
import type { HeldPage } from './held-pages.ts';
import { districtOf, Tally, type Listed } from './listing.ts';

/** The most records that one walk may bring before it counts as endless. */
export const maxRecordsPerWalk = 10_000_000;

/** What walks of one endpoint learn about how its server pages. */
export interface PagingHabits {
  /** The longest page so far: a page as long as this may be a full one, so it proves no end. */
  longestPage: number;
  /** A page in the midst of a walk was shorter than the longest: short pages mean nothing here. */
  pagesVary: boolean;
}

/** One pass over a district. */
export interface Walk {
  readonly pages: readonly HeldPage[];
  readonly distinct: number;
  readonly total: number;
  readonly end: 'sweep' | 'empty page';
}

export interface WalkQuestion {
  readonly pipeline: AnyPipeline;
  readonly dapil: number;
  /** What the sweep listed, where its listing of this district is proof; null where only an empty page ends the walk. */
  readonly proof: Listed | null;
  readonly habits: PagingHabits;
  fetch(offset: number): Promise<{ readonly page: Page; hold(): HeldPage }>;
}

/**
 * Walks the district once.
 *
 * @throws ForeignRecordError, RepeatedPageError, EndlessWalkError, or what `fetch` throws.
 */
export async function walkDistrict(question: WalkQuestion): Promise<Walk> {
  const { pipeline, dapil, proof, habits } = question;
  const districtColumn = Object.keys(pipeline.columns).indexOf(pipeline.district);
  const tally = new Tally(pipeline);
  /** Records that name no district, such as a footer row: they go to quarantine and say nothing about completeness. */
  const strays = new Tally(pipeline);
  const pages: HeldPage[] = [];
  let lastLength = 0;
  for (;;) {
    const { page, hold } = await question.fetch(tally.total + strays.total);
    const { length } = page.records;
    if (length === 0) return { pages, distinct: tally.distinct, total: tally.total, end: 'empty page' };
    const before = tally.distinct + strays.distinct;
    for (let row = 0; row < length; row += 1) {
      const found = districtOf(page, row, districtColumn);
      if (found !== null && found !== dapil) throw foreignRecord(page, dapil, found);
      (found === null ? strays : tally).add(page, row);
    }
    if (tally.distinct + strays.distinct === before) throw repeatedPage(page);
    pages.push(hold());
    notePageLength(habits, lastLength, length);
    lastLength = length;
    if (tally.total > maxRecordsPerWalk) throw endlessWalk(page);
    // A short page alone ends nothing: a server may cap `limit` or answer in pieces. Agreement with the sweep does, unless the page was full.
    const agrees = proof !== null && proof.distinct === tally.distinct && proof.total === tally.total;
    if (agrees && !habits.pagesVary && length < habits.longestPage) {
      return { pages, distinct: tally.distinct, total: tally.total, end: 'sweep' };
    }
  }
}

/** Notes that a walk went on to a page of `length` records after one of `previous` (0 at the beginning). */
export function notePageLength(habits: PagingHabits, previous: number, length: number): void {
  if (previous > 0 && previous < habits.longestPage) habits.pagesVary = true;
  if (length > habits.longestPage) habits.longestPage = length;
}

export function repeatedPage(page: Page): RepeatedPageError {
  return new RepeatedPageError(
    `${page.url} brought only records that earlier pages had brought: the source does not page by "offset".`,
    'Nothing beyond the first page can be proved; ask the operator of the service.',
  );
}

export function endlessWalk(page: Page): EndlessWalkError {
  return new EndlessWalkError(
    `${page.url} still brings records after ${maxRecordsPerWalk.toLocaleString('en')}.`,
    'Ask the operator of the service whether it comes to an end.',
  );
}

function foreignRecord(page: Page, dapil: number, found: number): ForeignRecordError {
  return new ForeignRecordError(
    `${page.url} was asked for district ${dapil} and brought a record of district ${found}.`,
    'The source does not filter by district; ask the operator of the service.',
  );
}
