/** The sweep: pages through an endpoint without its district filter, which lists the districts and how many records each has. */

import { EarlyEndError, type RekapError, type SourceStatusError } from '../../errors.ts';
import type { Page } from '../../stages.ts';
import { CountReading, type CountClaim } from './count-claims.ts';
import type { HeldPage } from './held-pages.ts';
import type { Listing } from './listing.ts';
import { probedOffset, requirePaging } from './offset-probe.ts';
import { NextPages, type ListQuestion } from './next-pages.ts';
import type { PagingHabits } from './paging-habits.ts';
import { isRefusal } from '../ask/refusals.ts';
import { settleAll } from './settle-all.ts';
import { endlessWalk, repeatedPage } from './walk-district.ts';

export interface SweptPage {
  readonly page: Page;
  /** What the source said where it has nothing there; the page is then empty. */
  readonly refusal: SourceStatusError | null;
  /** Keeps some rows of it. */
  hold(rows: readonly number[]): HeldPage;
}

export interface SweepQuestion extends ListQuestion<SweptPage> {
  /** Asks for a page beside the list's own: for what lies behind its first record, at its end once more, and behind that. */
  probe(offset: number): Promise<SweptPage>;
  /** Takes what the list brings; empty at first. */
  readonly listing: Listing;
  readonly habits: PagingHabits;
  /** Records after which the sweep counts as endless. */
  readonly maxRecords: number;
  /** Called when a page has brought records; says whether it looks like the last one. */
  listed(looksLast: boolean): void;
}

/** A finished sweep. Its pages are kept only as far as they hold records that name no district. */
export interface Sweep {
  readonly listing: Listing;
  readonly strays: readonly HeldPage[];
  readonly pages: number;
  readonly claim: CountClaim | null;
  /** The status that stood for the empty page, where a fault in the midst of the list may have looked the same; else null. */
  readonly endedBy: number | null;
}

/** There is no list of all districts: the service refuses to give one, or fails to. */
export interface RefusedSweep {
  readonly refused: RekapError;
}

/**
 * Sweeps to the empty page.
 *
 * @throws RepeatedPageError, EndlessWalkError, EarlyEndError, or what `fetch` throws; an error status at the first page is no throw but a refusal.
 */
export async function sweep(question: SweepQuestion): Promise<Sweep | RefusedSweep> {
  const strays: HeldPage[] = [];
  const next = new NextPages(question);
  try {
    return await walkList(strays, question, next);
  } catch (error) {
    for (const page of strays) page.release();
    throw error;
  } finally {
    // What was asked for is landed, needed or not, so that a replay finds the same.
    await next.settle();
  }
}

async function walkList(
  strays: HeldPage[],
  question: SweepQuestion,
  next: NextPages<SweptPage>,
): Promise<Sweep | RefusedSweep> {
  const { listing } = question;
  const counts = new CountReading();
  let lastLength = 0;
  let probing: Promise<void> | null = null;
  for (let pages = 0; ; pages += 1) {
    let fetched: SweptPage;
    try {
      const fetching = next.at(listing.total, lastLength);
      await settleAll<unknown>([probing, fetching]);
      fetched = await fetching;
    } catch (error) {
      if (pages === 0 && isRefusal(error)) return { refused: error };
      throw error;
    }
    // An empty answer may be a slip of the moment, and nothing else would say that the list goes on: it is asked for twice.
    if (fetched.page.records.length === 0) fetched = await question.probe(listing.total);
    const { page, refusal } = fetched;
    const { length } = page.records;
    if (refusal !== null && pages === 0) return { refused: refusal };
    counts.note(page);
    if (length === 0) {
      const endedBy = await doubtOfEnd(question, refusal, await next.beyond());
      return { listing, strays, pages, claim: counts.claim(null, listing.total), endedBy };
    }
    const added = listing.add(page);
    if (added.repeats) throw repeatedPage(page);
    if (listing.total > question.maxRecords) throw endlessWalk(page, question.maxRecords);
    question.habits.noteSweep(lastLength, length);
    const looksLast = length < lastLength;
    lastLength = length;
    // Asked for together with the second page; that one counts only if the probe agrees.
    probing = pages === 0 && length > probedOffset ? probeOffset(question, page) : null;
    if (added.strays.length > 0) strays.push(fetched.hold(added.strays));
    question.listed(looksLast);
  }
}

/**
 * Looks one further on than the end of a list that has records, and at what was asked for beyond before its turn: where nothing follows,
 * nothing does there either, and a source that says so by "not found" says it again. Gives the status where it does not.
 *
 * @throws EarlyEndError where records follow behind the end.
 */
async function doubtOfEnd(
  { listing, probe }: SweepQuestion,
  refusal: SourceStatusError | null,
  beyond: readonly SweptPage[],
): Promise<number | null> {
  if (listing.total === 0) return null;
  const behind = await probe(listing.total + 1).catch((error: unknown) => {
    // A source that refuses offsets behind its end has nothing there either.
    if (isRefusal(error)) return null;
    throw error;
  });
  for (const { page } of behind === null ? beyond : [behind, ...beyond]) {
    if (page.records.length === 0) continue;
    // Which districts it names decides whether others can stand in for the list.
    listing.add(page);
    throw new EarlyEndError(
      `${page.url} brings records, though ${refusal === null ? 'there were none at' : `the source said ${refusal.status} of`} an offset before it: its list has a gap.`,
      'Ask the operator of the service, or run the sync again.',
    );
  }
  if (behind === null) return null;
  return refusal === null || behind.refusal !== null ? null : refusal.status;
}

async function probeOffset({ listing, probe, unused }: SweepQuestion, first: Page): Promise<void> {
  const probed = await probe(probedOffset);
  requirePaging(listing.pipeline, first, probed.page);
  // It may reach a record further than the first page, and show one that the second passes over.
  unused(probed);
}
