/** The sweep: pages through an endpoint without its district filter, which lists the districts and how many records each has. */

import { RepeatedPageError, SourceStatusError } from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { Page, RecordIndex } from '../stages.ts';
import { fingerprintRecord } from './fingerprints.ts';
import type { HeldPage } from './held-pages.ts';
import { Listing } from './listing.ts';
import type { PagingHabits } from './paging-habits.ts';
import { settleAll } from './settle-all.ts';
import { endlessWalk, repeatedPage } from './walk-district.ts';

interface SweptPage {
  readonly page: Page;
  hold(page: Page): HeldPage;
}

export interface SweepQuestion {
  readonly pipeline: AnyPipeline;
  readonly habits: PagingHabits;
  /** Records after which the sweep counts as endless. */
  readonly maxRecords: number;
  /** Whether its accounts take in more than the keys. */
  readonly comparesContent: boolean;
  /** `reading` is 0 for the sweep itself, 1 for the probe of its offset. */
  fetch(offset: number, reading: number): Promise<SweptPage>;
  /** Called for districts that were met, as soon as another follows. */
  found(districts: readonly number[]): void;
}

/** A finished sweep. Its pages are kept only as far as they hold records that name no district. */
export interface Sweep {
  readonly listing: Listing;
  readonly strays: readonly HeldPage[];
  readonly pages: number;
}

/** The service answers requests without a district with an error status. */
export interface RefusedSweep {
  readonly refused: string;
}

/**
 * Sweeps to the empty page.
 *
 * @throws RepeatedPageError, EndlessWalkError, or what `fetch` throws; an error status at the first page is no throw but a refusal.
 */
export async function sweep(question: SweepQuestion): Promise<Sweep | RefusedSweep> {
  const listing = new Listing(question.pipeline, question.comparesContent);
  const strays: HeldPage[] = [];
  let lastLength = 0;
  let last: readonly number[] = [];
  let probing: Promise<void> | null = null;
  for (let pages = 0; ; pages += 1) {
    let fetched: SweptPage;
    try {
      const fetching = question.fetch(listing.total, 0);
      await settleAll<unknown>([probing, fetching]);
      fetched = await fetching;
    } catch (error) {
      if (pages === 0 && isRefusal(error)) return { refused: error.message };
      throw error;
    }
    const { page } = fetched;
    const { length } = page.records;
    if (length === 0) return { listing, strays, pages };
    const { found, strays: rows, brought } = listing.add(page);
    if (!brought) throw repeatedPage(page);
    if (listing.total > question.maxRecords) throw endlessWalk(page, question.maxRecords);
    question.habits.noteSweep(lastLength, length);
    lastLength = length;
    // Asked for together with the second page; that one counts only if the probe agrees.
    probing = pages === 0 && length > 1 ? probeOffset(question, page) : null;
    if (rows.length > 0) strays.push(fetched.hold(selectRecords(page, rows)));
    // The last one may go on behind this page, and a page read ahead of it may not be all there is.
    const districts = [...last, ...found];
    last = districts.splice(-1);
    question.found(districts);
  }
}

/** Whether the service says that it does not list all districts; a server error or "too many" says so of the moment only. */
function isRefusal(error: unknown): error is SourceStatusError {
  return (
    error instanceof SourceStatusError &&
    error.status >= 400 &&
    error.status < 500 &&
    ![408, 425, 429].includes(error.status)
  );
}

/**
 * Asks for the list from its second record on, which must be the second record of the first page: a source that counts offsets in
 * pages, or gives nothing beyond its first page, would otherwise look like one that has come to its end.
 */
async function probeOffset({ pipeline, fetch }: SweepQuestion, first: Page): Promise<void> {
  const { page } = await fetch(1, 1);
  const names = Object.keys(pipeline.columns);
  const key = pipeline.key.map((column) => names.indexOf(column));
  const [expected, found] = [
    { high: 0, low: 0 },
    { high: 0, low: 0 },
  ];
  fingerprintRecord(first, 1, key, expected);
  if (page.records.length > 0) fingerprintRecord(page, 0, key, found);
  if (page.records.length > 0 && expected.high === found.high && expected.low === found.low) return;
  throw new RepeatedPageError(
    `${page.url} does not begin with the second record of the list: the source does not page by "offset", or its order is not steady.`,
    'Nothing beyond a first page can be proved; ask the operator of the service, or run the sync again if the source was just changing.',
  );
}

/** A page of some of another page's records, over the same bytes. */
export function selectRecords(page: Page, rows: readonly number[]): Page {
  const { width } = page.records;
  const pick = <Type extends Int32Array | Uint8Array>(array: Type, each: number): Type => {
    const picked = array.slice(0, rows.length * each) as Type;
    rows.forEach((row, place) => picked.set(array.subarray(row * each, (row + 1) * each), place * each));
    return picked;
  };
  const records: RecordIndex = {
    length: rows.length,
    width,
    recordStart: pick(page.records.recordStart, 1),
    recordEnd: pick(page.records.recordEnd, 1),
    isObject: pick(page.records.isObject, 1),
    fieldStart: pick(page.records.fieldStart, width),
    fieldEnd: pick(page.records.fieldEnd, width),
    fieldKind: pick(page.records.fieldKind, width),
  };
  return { ...page, records };
}
