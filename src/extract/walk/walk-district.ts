/** Walks one district page by page, stepping by the records received, to a proved end. */

import { EndlessWalkError, ForeignRecordError, RepeatedPageError, type SourceStatusError } from '../../errors.ts';
import { formatNumber } from '../../numbers.ts';
import { placeOf, type AnyPipeline } from '../../pipeline.ts';
import type { Page } from '../../stages.ts';
import { Borders } from './borders.ts';
import { CountReading, type CountClaim } from './count-claims.ts';
import type { HeldPage } from './held-pages.ts';
import { districtOf } from './listing.ts';
import type { PagingHabits } from './paging-habits.ts';
import { isRefusal } from '../ask/refusals.ts';
import { Contents, Tally, type Account, type Shown } from './tally.ts';

/** Records that were shown before and did not come. */
interface Lack {
  readonly shown: Shown;
  readonly count: number;
}

/** One pass over a district. */
export interface Walk extends Account, Omit<Shown, 'said'> {
  readonly pages: readonly HeldPage[];
  /** When its last answer came, the empty page too. */
  readonly at: Date;
  readonly end: 'sweep' | 'empty page';
  /** Whether the sweep's listing is an account beside it: it surely passed the whole district, in pages with other borders. */
  readonly isBesideSweep: boolean;
  readonly borders: Borders;
  /** A hash of the keys in the order in which they came. */
  readonly order: string;
  /** What has shown most keys before that this walk did not bring, and how many; null where it brought them all. */
  readonly lack: Lack | null;
  /** Whether a page brought records that an earlier one had brought. */
  readonly overlaps: boolean;
  /** Whether a page held fewer records than it was asked for, and was not the last. */
  readonly isCapped: boolean;
  /** Whether everything came in one answer that was surely not cut off: nothing can have slipped between two pages. */
  readonly inOnePiece: boolean;
  /** What `count` said; null where it said nothing of the whole. */
  readonly claim: CountClaim | null;
  /** The answer that stood for the empty page, or refused the first page; null where neither did. */
  readonly refusal: SourceStatusError | null;
}

/** A page that a walk comes to, and the way to keep it. */
export interface WalkedPage {
  readonly page: Page;
  readonly at: Date;
  /** What the source said where it has nothing there; the page is then empty. */
  readonly refusal: SourceStatusError | null;
  /** Records that it counts for, where the pages behind it are to begin elsewhere; null for all. */
  readonly wanted: number | null;
  hold(): HeldPage;
}

export interface WalkQuestion {
  readonly pipeline: AnyPipeline;
  readonly dapil: number;
  /** Records after which the walk counts as endless. */
  readonly maxRecords: number;
  /** What the sweep listed of the district; null where it listed nothing. */
  readonly listed: Account | null;
  /** What the sweep listed, where it surely passed the whole district; null where it proves nothing, and only an empty page ends the walk. */
  readonly proof: Account | null;
  /** After how many of the district's records a page of the sweep ended. */
  readonly listedBorders: ReadonlySet<number>;
  readonly habits: PagingHabits;
  /** What was shown of the district before. */
  readonly shown: readonly Shown[];
  /**
   * Null where there is no page to be had at this offset without beginning anew. `again` asks once more for a page that was empty, for that
   * may have been a slip of the moment.
   */
  fetch(offset: number, again: boolean): Promise<WalkedPage | null>;
}

/**
 * Walks the district once; null where `fetch` has no further page to give.
 *
 * @throws ForeignRecordError, RepeatedPageError, EndlessWalkError, or what `fetch` throws.
 */
export async function walkDistrict(question: WalkQuestion): Promise<Walk | null> {
  const { pipeline, dapil, proof, habits } = question;
  const districtColumn = placeOf(pipeline, pipeline.district);
  const tally = new Tally(pipeline);
  const contents = new Contents(pipeline);
  /** Records that name no district, such as a footer row: they go to quarantine and say nothing about completeness. */
  const strays = new Tally(pipeline);
  const pages: HeldPage[] = [];
  const counts = new CountReading();
  const borders = new Borders();
  let lastLength = 0;
  let wasShort = false;
  let isCapped = false;
  let at = new Date(0);
  const confirmed = question.shown.map(() => 0);
  // A district may be longer than a short sweep listed it, but not without bound.
  const bound = question.listed === null ? question.maxRecords : question.listed.total * 2 + 1000;

  /** Whether an account names just what came. */
  function agreesWith(account: Account | null): boolean {
    return account !== null && account.set === tally.set && account.total === tally.total && !tally.overlaps;
  }

  /** @param usual As for the borders. */
  function isBesideSweep(usual: number | null): boolean {
    return proof !== null && !borders.meet(question.listedBorders, tally.total, usual);
  }

  /** What the list's pages show of short ones holds for a district that the list names: others may be capped otherwise. */
  function isWholePage(): boolean {
    return pages.length === 1 && habits.showsEnd(lastLength) && agreesWith(question.listed);
  }

  function finish(end: Walk['end'], refusal: SourceStatusError | null = null): Walk {
    const { total, distinct, set, order, overlaps } = tally;
    return {
      total,
      distinct,
      set,
      order,
      overlaps,
      isCapped,
      pages,
      at,
      end,
      isBesideSweep: end === 'sweep' || isBesideSweep(null),
      borders,
      refusal,
      content: contents.hash,
      has: (fingerprint) => tally.has(fingerprint),
      lack: largestLack(),
      inOnePiece: pages.length === 0 || isWholePage(),
      claim: counts.claim(dapil, total + strays.total),
    };
  }

  try {
    return await walkToEnd();
  } catch (error) {
    if (pages.length === 0 && isRefusal(error)) return finish('empty page', error);
    for (const page of pages) page.release();
    throw error;
  }

  /** The next page; one that is empty has been so twice, unless it follows one that is surely all there is. */
  async function fetchNext(offset: number): Promise<WalkedPage | null> {
    const fetched = await question.fetch(offset, false);
    return fetched?.page.records.length === 0 && !isWholePage() ? question.fetch(offset, true) : fetched;
  }

  function largestLack(): Lack | null {
    const lacks = question.shown.map((shown, place) => ({ shown, count: shown.distinct - confirmed[place]! }));
    return lacks.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count)[0] ?? null;
  }

  function noteConfirmed(): void {
    const { shown } = question;
    for (let place = 0; place < shown.length; place += 1) if (shown[place]!.has(tally.latest)) confirmed[place]! += 1;
  }

  function addRecords(page: Page): void {
    tally.beginPage();
    strays.beginPage();
    for (let row = 0; row < page.records.length; row += 1) {
      const found = districtOf(page, row, districtColumn);
      if (found !== null && found !== dapil) throw foreignRecord(page, dapil, found);
      if (found === null) strays.add(page, row);
      else {
        const isNew = tally.add(page, row);
        contents.add(page, row, tally.latest);
        if (isNew) noteConfirmed();
      }
    }
  }

  async function walkToEnd(): Promise<Walk | null> {
    for (;;) {
      const fetched = await fetchNext(tally.total + strays.total);
      if (fetched === null) {
        for (const page of pages) page.release();
        return null;
      }
      const { page, hold } = fetched;
      const { length } = page.records;
      if (fetched.at > at) at = fetched.at;
      counts.note(page);
      if (length === 0) return finish('empty page', fetched.refusal);
      borders.note(tally.total, length);
      isCapped ||= wasShort;
      wasShort = length < (fetched.wanted ?? page.request.limit);
      addRecords(page);
      const bringsNew = tally.bringsNew || strays.bringsNew;
      if (!bringsNew && (tally.repeatsPage || strays.repeatsPage)) throw repeatedPage(page);
      pages.push(hold());
      habits.note(lastLength, length);
      lastLength = length;
      if (tally.total + strays.total > bound) throw endlessWalk(page, bound);
      // A short page alone ends nothing: a server may cap `limit` or answer in pieces. Agreement with the sweep does, unless the page was full.
      const usual = habits.longest >= page.request.limit ? habits.longest : 0;
      if (agreesWith(proof) && habits.showsEnd(length) && isBesideSweep(usual)) return finish('sweep');
    }
  }
}

export function repeatedPage(page: Page): RepeatedPageError {
  return new RepeatedPageError(
    `${page.url} brought only records that earlier pages had brought: the source does not page by "offset", or begins anew past its end.`,
    'Where its list ends cannot be proved; ask the operator of the service.',
  );
}

export function endlessWalk(page: Page, bound: number): EndlessWalkError {
  return new EndlessWalkError(
    `${page.url} still brings records after ${formatNumber(bound)}.`,
    'Ask the operator of the service whether it comes to an end.',
  );
}

function foreignRecord(page: Page, dapil: number, found: number): ForeignRecordError {
  return new ForeignRecordError(
    `${page.url} was asked for district ${dapil} and brought a record of district ${found}.`,
    'The source does not filter by district; ask the operator of the service.',
  );
}
