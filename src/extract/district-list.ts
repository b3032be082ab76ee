/** Reads the list of all districts: twice at most, and says where others may stand in for it. */

import { RepeatedPageError } from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { PageRequest } from '../stages.ts';
import type { FetchedPage } from './answer-reader.ts';
import type { ExtractQuestion } from './extract-question.ts';
import type { PageHolder } from './held-pages.ts';
import { holdStrays } from './hold-strays.ts';
import { namesTheSame, type Listing } from './listing.ts';
import { PagingHabits } from './paging-habits.ts';
import { isFaultOfList } from './refusals.ts';
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
  private readonly pipeline: AnyPipeline;
  private readonly question: ExtractQuestion;
  private readonly holder: PageHolder;
  private readonly watcher: ListWatcher;
  /** Districts that a sweep met, whether it came to its end or not. */
  private readonly met = new Set<number>();
  /** Whether a sweep brought records that name no district, whether it came to its end or not. */
  private metStrays = false;

  constructor(pipeline: AnyPipeline, question: ExtractQuestion, holder: PageHolder, watcher: ListWatcher) {
    this.pipeline = pipeline;
    this.question = question;
    this.holder = holder;
    this.watcher = watcher;
  }

  /** Where the source fails to list all districts, those known from law or from before stand in, unless it has others too. */
  async read(): Promise<Sweep | RefusedSweep> {
    try {
      const result = await this.sweepTwiceAtMost();
      if (!('refused' in result) || !this.metStrays) return result;
      throw result.refused;
    } catch (error) {
      this.question.signal.throwIfAborted();
      if (!isFaultOfList(error)) throw error;
      if (this.metStrays) {
        this.watcher.warn(
          'the list of all districts brought records that name no district, which nothing else brings, and failed',
        );
        throw error;
      }
      // How a list pages that comes to no end says nothing of how districts do.
      this.habits = new PagingHabits();
      const known = new Set([...this.question.knownBefore, ...this.question.reference]);
      if (known.size === 0 || ![...this.met].every((dapil) => known.has(dapil))) throw error;
      return { refused: error };
    }
  }

  /** Goes on from those broken-off runs only whose own list named the same records as this one. */
  keepLanded(listing: Listing): Promise<void> {
    const { client, pageSize: limit } = this.question;
    const request = { dataset: this.pipeline.table, dapil: null, reading: 0, limit };
    return client.keepLanded(this.pipeline, (peek) =>
      namesTheSame(listing, this.pipeline, (offset) => peek({ ...request, offset })),
    );
  }

  /** A page given twice may be a slip of the moment, such as a cache's; a second sweep that fails too is the source's nature. */
  private async sweepTwiceAtMost(): Promise<Sweep | RefusedSweep> {
    try {
      return await this.sweepOnce(0);
    } catch (error) {
      if (!(error instanceof RepeatedPageError)) throw error;
      this.watcher.warn(`the list of all districts is read again: ${error.message.replace(/\.$/, '')}`);
      return this.sweepOnce(2);
    }
  }

  /** @param first Number of the reading: its probe has the next. */
  private sweepOnce(first: number): Promise<Sweep | RefusedSweep> {
    this.habits = new PagingHabits();
    const { client, pageSize: limit } = this.question;
    const request = (offset: number, reading: number): PageRequest => {
      return { dataset: this.pipeline.table, dapil: null, reading: first + reading, offset, limit };
    };
    return sweep({
      pipeline: this.pipeline,
      habits: this.habits,
      pageSize: limit,
      maxRecords: this.question.maxRecords,
      expected: this.question.expected[this.pipeline.table] ?? 0,
      fetch: async (offset, reading) => this.asSwept(await client.fetchPage(this.pipeline, request(offset, reading))),
      fetchEarly: async (offset) => {
        const fetched = await client.tryPage(this.pipeline, request(offset, 0));
        return fetched === null ? null : this.asSwept(fetched);
      },
      listed: (found, listing, looksLast) => {
        for (const dapil of found) this.met.add(dapil);
        this.watcher.goesOn(looksLast ? listing.districts.filter((dapil) => listing.isClosed(dapil)) : []);
      },
    });
  }

  private asSwept(fetched: FetchedPage): SweptPage {
    return {
      page: fetched.page,
      refusal: fetched.refusal,
      hold: (strays) => {
        this.metStrays = true;
        return holdStrays(this.holder, this.question.client, this.pipeline, fetched, strays);
      },
    };
  }
}
