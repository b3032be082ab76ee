/** Reads the list of all districts: twice at most, and says where others may stand in for it. */

import { EarlyEndError, RepeatedPageError, type RekapError } from '../../errors.ts';
import type { AnyPipeline } from '../../pipeline.ts';
import { listReadings } from '../../readings.ts';
import type { PageRequest } from '../../stages.ts';
import type { FetchedPage } from '../ask/answer-reader.ts';
import type { ExtractQuestion } from './extract-question.ts';
import type { PageHolder } from './held-pages.ts';
import { holdStrays } from './hold-strays.ts';
import { Listing, namesTheSame } from './listing.ts';
import { PagingHabits } from './paging-habits.ts';
import { isFaultOfList, isRefusal } from '../ask/refusals.ts';
import type { Shown } from './tally.ts';
import { sweep, type RefusedSweep, type Sweep, type SweptPage } from './sweep.ts';

/** Told of what the list shows while it is read. */
interface ListWatcher {
  /** Another page has brought records: what was read before it may have changed since. `closed` are the districts that the list seems to be done with. */
  goesOn(closed: readonly number[]): void;
  warn(message: string): void;
}

export class DistrictList {
  /** What the list has shown of how the source pages; nothing where it failed. */
  habits = new PagingHabits();
  /** What the pages of the list have shown, whether it came to its end or not: one of each sweep, and of pages that none had a use for. */
  private readonly listings: Listing[] = [];
  private readonly pipeline: AnyPipeline;
  private readonly question: ExtractQuestion;
  private readonly holder: PageHolder;
  private readonly watcher: ListWatcher;

  constructor(pipeline: AnyPipeline, question: ExtractQuestion, holder: PageHolder, watcher: ListWatcher) {
    this.pipeline = pipeline;
    this.question = question;
    this.holder = holder;
    this.watcher = watcher;
  }

  /** Where the source does not list all districts, those known from law or from before stand in, unless it has others too. */
  async read(): Promise<Sweep | RefusedSweep> {
    const result = await this.sweepTwiceAtMost().catch((error: unknown): RefusedSweep => {
      this.question.signal.throwIfAborted();
      if (!isFaultOfList(error)) throw error;
      return { refused: error };
    });
    if ('refused' in result) this.requireStandIn(result.refused);
    return result;
  }

  /** @throws The fault, where it is known that nothing stands in for the list. */
  private requireStandIn(fault: RekapError): void {
    if (this.hasStrays) {
      this.watcher.warn(
        'the list of all districts brought records that name no district, which nothing else brings, and failed',
      );
      throw fault;
    }
    // How a list pages that comes to no end says nothing of how districts do.
    this.habits = new PagingHabits();
    const known = new Set([...this.question.knownBefore, ...this.question.reference]);
    const isAnyKnown = known.size > 0 || isRefusal(fault);
    if (!isAnyKnown || !this.met.every((dapil) => known.has(dapil))) throw fault;
  }

  /** Districts that any page of the list named. */
  get met(): number[] {
    return this.listings.flatMap(({ districts }) => districts);
  }

  /** What the list has shown of a district. */
  shownOf(dapil: number): Shown[] {
    return this.listings.flatMap((listing) => listing.shownOf(dapil) ?? []);
  }

  private get hasStrays(): boolean {
    return this.listings.some(({ hasStrays }) => hasStrays);
  }

  /** Goes on from those broken-off runs only whose own list named the same records as this one; from none where there is no list. */
  async keepLanded(listing: Listing | null): Promise<void> {
    const { client } = this.question;
    const { pages } = listReadings[0];
    const isAnyLeft = await client.keepLanded(
      this.pipeline,
      async (peek) =>
        listing !== null && namesTheSame(listing, this.pipeline, (offset) => peek(this.request(pages, offset))),
    );
    if (!client.isResuming || isAnyLeft) return;
    const why =
      listing === null
        ? 'the source gives no list of all districts to compare it with'
        : 'it holds no list of the same records, young enough and in pages of the same size';
    this.watcher.warn(`nothing is taken over from what was landed before: ${why}`);
  }

  /** A page given twice may be a slip of the moment, such as a cache's; a second sweep that fails too is the source's nature. */
  private async sweepTwiceAtMost(): Promise<Sweep | RefusedSweep> {
    const [first, second] = listReadings;
    try {
      return await this.sweepOnce(first);
    } catch (error) {
      if (!(error instanceof RepeatedPageError)) throw error;
      this.watcher.warn(`the list of all districts is read again: ${error.message.replace(/\.$/, '')}`);
      const result = await this.sweepOnce(second);
      if ('refused' in result) return result;
      if (result.listing.total === 0) throw lostBetween('records');
      if (this.hasStrays && result.strays.length === 0) throw lostBetween('records that name no district');
      return result;
    }
  }

  private sweepOnce(reading: (typeof listReadings)[number]): Promise<Sweep | RefusedSweep> {
    this.habits = new PagingHabits();
    const { client, pageSize } = this.question;
    const [listing, unused] = [new Listing(this.pipeline), new Listing(this.pipeline)];
    this.listings.push(listing, unused);
    const fetch = async (number: number, offset: number): Promise<SweptPage> =>
      this.asSwept(await client.fetchPage(this.pipeline, this.request(number, offset)));
    return sweep({
      listing,
      habits: this.habits,
      pageSize,
      maxRecords: this.question.maxRecords,
      expected: this.question.expected[this.pipeline.table] ?? 0,
      fetch: (offset) => fetch(reading.pages, offset),
      probe: (offset) => fetch(reading.probes, offset),
      fetchEarly: async (offset) => {
        const fetched = await client.tryPage(this.pipeline, this.request(reading.pages, offset));
        return fetched === null ? null : this.asSwept(fetched);
      },
      unused: ({ page }) => void unused.add(page),
      listed: (looksLast) => {
        // The list's first district may be asked for in other pages, by what the list will have shown of them in the end.
        const [, ...others] = listing.districts;
        this.watcher.goesOn(looksLast ? others.filter((dapil) => listing.isClosed(dapil)) : []);
      },
    });
  }

  private request(reading: number, offset: number): PageRequest {
    return { dataset: this.pipeline.table, dapil: null, reading, offset, limit: this.question.pageSize };
  }

  private asSwept(fetched: FetchedPage): SweptPage {
    return {
      page: fetched.page,
      refusal: fetched.refusal,
      hold: (rows) => holdStrays(this.holder, this.question.client, this.pipeline, fetched, rows),
    };
  }
}

function lostBetween(what: string): EarlyEndError {
  return new EarlyEndError(
    `the list of all districts had ${what} at its first reading and has none at its second`,
    'Run the sync again when the source is steady.',
  );
}
