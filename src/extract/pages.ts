/** Asks for the pages of one dataset in a size that the source takes, and holds them in memory until they are built. */

import type { FetchedPage } from '../source/answer-reader.ts';
import { emptyPage, isRefusal } from '../source/source-messages.ts';
import { RecordReader } from './prove.ts';
import type { ExtractQuestion } from './question.ts';
import { pagerOf } from '../source/paging/choose-pager.ts';
import {
  type FirstPage,
  type PageAddress,
  type Pager,
  type PassEnd,
  type PassQuestion,
  StartOver,
} from '../source/paging/pass.ts';
import { takeRecords } from '../source/decode/record-index-builder.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { AcceptedPage, Page, PageRequest } from '../stages.ts';

/** Sizes that are tried where a source refuses the page size, in this order. */
const smallerSizes = [100, 10];
/** What a service answers that does not take so large a limit. */
const sizeRefusals = new Set([400, 413, 422]);

/** What a reading does with its pages. */
export interface Reading extends Pick<PassQuestion, 'take' | 'isAll' | 'leavesEndOpen'> {
  /** Null for the full listing. */
  readonly partition: string | null;
  /** Whether the source need not know the partition: then it is asked with less patience. */
  readonly isOptional: boolean;
  /** Whether the source may refuse to give it at all. */
  readonly mayBeRefused: boolean;
  /** Records to ask for at a time; null for as many as the source takes. */
  readonly size: number | null;
  /** Forgets what was taken: the pass begins again with pages of another size. */
  startOver(): void;
}

export class DatasetPages {
  readonly pipeline: AnyPipeline;
  readonly pager: Pager;
  private readonly question: ExtractQuestion;
  private readonly holder: PageHolder;
  private readonly reader: RecordReader;
  /** The size that the source has taken; null as long as it has taken none. */
  private takenSize: number | null = null;

  constructor(pipeline: AnyPipeline, question: ExtractQuestion, holder: PageHolder) {
    this.pipeline = pipeline;
    this.question = question;
    this.holder = holder;
    this.reader = new RecordReader(pipeline);
    this.pager = pagerOf(pipeline.paging, question.baseUrl);
  }

  /** Makes one reading; throws as the pass of its pager does. */
  async read(reading: Reading): Promise<PassEnd> {
    for (let { size } = reading; ;) {
      try {
        return await this.pager.pass(this.passQuestion(reading, size));
      } catch (error) {
        if (!(error instanceof StartOver) || error.size === size) throw error;
        reading.startOver();
        ({ size } = error);
        // Every other reading would meet the same bound.
        this.takenSize = size;
      }
    }
  }

  private passQuestion(reading: Reading, wanted: number | null): PassQuestion {
    const { reader } = this;
    return {
      take: reading.take,
      isAll: reading.isAll,
      leavesEndOpen: reading.leavesEndOpen,
      maxRecords: this.question.maxRecords,
      fetchFirst: async (address) => {
        const size = wanted ?? this.takenSize;
        if (size === null) return this.askInSizes(reading, address);
        return { ...(await this.ask(reading, address(size), { isBehind: false })), size };
      },
      fetch: (address, isBehind) => this.ask(reading, address, { isBehind }),
      contentOf(page, row) {
        reader.read(page, row);
        return `${reader.content.high} ${reader.content.low}`;
      },
    };
  }

  /** Whether nothing is at an offset of the full listing; of lists without offsets that is not asked. */
  async isNothingAt(offset: number): Promise<boolean> {
    const { paging } = this.pipeline;
    if (paging.by !== 'offset') return true;
    const size = this.takenSize ?? this.question.pageSize;
    const listing = { partition: null, isOptional: false, mayBeRefused: true };
    const address = { [paging.limit]: size, [paging.offset]: offset };
    return (await this.ask(listing, address, { isBehind: true })).page.records.length === 0;
  }

  /** Holds records of a page until they are built; `share` as in `PageHolder`. */
  hold(fetched: FetchedPage, first: number, taken: number, share?: number): AcceptedPage {
    return this.holder.hold(fetched, { first, taken }, this.reopener(fetched.page.request), share);
  }

  /** A method of its own: a closure made beside a page would keep it in memory after its release. */
  private reopener(request: PageRequest): (bytes: Buffer) => Page {
    return (bytes) => this.question.client.reopen(this.pipeline, request, bytes);
  }

  /** A first page in the largest size that the source takes. */
  private async askInSizes(reading: Reading, address: (size: number) => PageAddress): Promise<FirstPage> {
    const { pageSize, report } = this.question;
    const sizes = [pageSize, ...smallerSizes.filter((size) => size < pageSize)];
    for (const [turn, size] of sizes.entries()) {
      const isLast = turn === sizes.length - 1;
      try {
        const fetched = await this.ask(reading, address(size), { isBehind: false, mayRefuseSize: !isLast });
        if (turn > 0 && this.takenSize === null) {
          const message = `${this.pipeline.table}: the source refuses pages of ${pageSize} records. rekap requests ${size} at a time instead.`;
          report({ kind: 'warning', message });
        }
        if (fetched.refusal === null) this.takenSize ??= size;
        return { ...fetched, size };
      } catch (error) {
        if (isLast || !isRefusal(error) || !sizeRefusals.has(error.status)) throw error;
      }
    }
    throw new RangeError('a page has a size');
  }

  private async ask(
    { partition, isOptional, mayBeRefused }: Pick<Reading, 'partition' | 'isOptional' | 'mayBeRefused'>,
    address: PageAddress,
    { isBehind, mayRefuseSize = false }: { readonly isBehind: boolean; readonly mayRefuseSize?: boolean },
  ): Promise<FetchedPage> {
    const request = { dataset: this.pipeline.table, partition, target: targetOf(this.pipeline, partition, address) };
    // What lies behind an end need not be given.
    const leniency = { mayRefuse: isBehind || isOptional || mayBeRefused, mayRefuseSize, isOptional };
    try {
      return await this.question.client.fetchPage(this.pipeline, request, leniency);
    } catch (error) {
      if (!isBehind || !isRefusal(error)) throw error;
      const landed = { answer: -1, read: async () => Buffer.of() };
      return { page: emptyPage(request, error.message), at: new Date(0), landed, refusal: error, link: null };
    }
  }
}

/** Path and query of a page below the base URL: the filter, what is always asked, and the page. */
export function targetOf(
  { path, partition, parameters }: AnyPipeline,
  value: string | null,
  address: PageAddress,
): string {
  if (typeof address === 'string') return address;
  const query = new URLSearchParams();
  if (value !== null && partition !== undefined) query.set(partition.parameter, value);
  for (const [name, given] of Object.entries({ ...parameters, ...address })) query.set(name, String(given));
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Holds pages in memory until they are built into tables, within a bound; beyond it a page is read again from the landing. */
export class PageHolder {
  private held = 0;
  private bound: number;
  private readonly waiting: (() => void)[] = [];

  /** @param bound Bytes of answers that may be held at once. */
  constructor(bound: number) {
    this.bound = bound;
  }

  /** Whether more than half of the bound is in use: then what waits long does so in the landing. */
  get isHalfFull(): boolean {
    return this.held > this.bound / 2;
  }

  /** Resolves when there is room for another partition. What waits long takes half at most, so room always comes. */
  async room(): Promise<void> {
    while (this.held > this.bound * 0.75) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Nobody waits for room any more, because nobody takes the pages. */
  close(): void {
    this.bound = Number.POSITIVE_INFINITY;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /**
   * Holds some records of a page.
   *
   * @param share Part of the bound that may be in use; half of it for what waits until all partitions were read.
   * @param reopen Makes the page of its landed bytes again; a function that does not hold the page itself.
   */
  hold(
    { page: fetched, landed }: FetchedPage,
    { first, taken }: { readonly first: number; readonly taken: number },
    reopen: (bytes: Buffer) => Page,
    share = 1,
  ): AcceptedPage {
    const size = fetched.bytes.length;
    let page: Page | null = null;
    if (this.held + size <= this.bound * share) {
      page = takeRecords(fetched, first, taken);
      this.held += size;
    }
    return {
      answer: landed.answer,
      first,
      taken,
      read: async () => page ?? takeRecords(reopen(await landed.read()), first, taken),
      release: () => {
        if (page === null) return;
        page = null;
        this.held -= size;
        for (const resolve of this.waiting.splice(0)) resolve();
      },
    };
  }
}
