/** Asks for the pages of one dataset in a size that the source takes, and holds them in memory until they are built. */

import type { FetchedPage } from './ask/answer-reader.ts';
import { emptyPage, isRefusal } from './ask/source-messages.ts';
import { RecordReader } from './prove.ts';
import type { ExtractQuestion } from './question.ts';
import { type ReadingQuestion, readPages, type ReadToEnd } from './read-pages.ts';
import { takeRecords } from './scan/record-index-builder.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { AcceptedPage, Page, PageRequest } from '../stages.ts';

/** Sizes that are tried where a source refuses the page size, in this order. */
const smallerSizes = [100, 10];
/** What a service answers that does not take so large a limit. */
const sizeRefusals = new Set([400, 413, 422]);

/** What a reading does with its pages. */
export interface Reading extends Pick<ReadingQuestion, 'take' | 'isAll' | 'leavesEndOpen'> {
  /** Null for the full listing. */
  readonly district: number | null;
  /** Whether the source need not know the district: then it is asked with less patience. */
  readonly isOptional: boolean;
}

export class DatasetPages {
  readonly pipeline: AnyPipeline;
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
  }

  /** Makes one reading; throws as `readPages` does. */
  async read(reading: Reading): Promise<ReadToEnd> {
    const { reader } = this;
    let limit = this.takenSize ?? this.question.pageSize;
    return readPages({
      ...reading,
      fetch: async (offset, isBehind) => {
        if (offset > 0 || this.takenSize !== null) return this.ask(reading, offset, limit, { isBehind });
        const first = await this.askInSizes(reading);
        ({ limit } = first.page.request);
        return first;
      },
      maxRecords: this.question.maxRecords,
      contentOf(page, row) {
        reader.read(page, row);
        return `${reader.content.high} ${reader.content.low}`;
      },
    });
  }

  /** Whether nothing is at an offset of the full listing. */
  async isNothingAt(offset: number): Promise<boolean> {
    const limit = this.takenSize ?? this.question.pageSize;
    const listing = { district: null, isOptional: false };
    return (await this.ask(listing, offset, limit, { isBehind: true })).page.records.length === 0;
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
  private async askInSizes(reading: Reading): Promise<FetchedPage> {
    const { pageSize, report } = this.question;
    const sizes = [pageSize, ...smallerSizes.filter((size) => size < pageSize)];
    for (const [turn, size] of sizes.entries()) {
      const isLast = turn === sizes.length - 1;
      try {
        const fetched = await this.ask(reading, 0, size, { isBehind: false, mayRefuseSize: !isLast });
        if (turn > 0 && this.takenSize === null) {
          const message = `${this.pipeline.table}: the source refuses pages of ${pageSize} records. rekap requests ${size} at a time instead.`;
          report({ kind: 'warning', message });
        }
        if (fetched.refusal === null) this.takenSize ??= size;
        return fetched;
      } catch (error) {
        if (isLast || !isRefusal(error) || !sizeRefusals.has(error.status)) throw error;
      }
    }
    throw new RangeError('a page has a size');
  }

  private async ask(
    { district, isOptional }: Pick<Reading, 'district' | 'isOptional'>,
    offset: number,
    limit: number,
    { isBehind, mayRefuseSize = false }: { readonly isBehind: boolean; readonly mayRefuseSize?: boolean },
  ): Promise<FetchedPage> {
    const request = { dataset: this.pipeline.table, district, offset, limit };
    // The listing need not be given, nor what lies behind an end.
    const leniency = {
      mayRefuse: isBehind || isOptional || district === null,
      mayRefuseSize,
      isOptional,
    };
    try {
      return await this.question.client.fetchPage(this.pipeline, request, leniency);
    } catch (error) {
      if (!isBehind || !isRefusal(error)) throw error;
      const landed = { answer: -1, read: async () => Buffer.of() };
      return { page: emptyPage(request, error.message), at: new Date(0), landed, refusal: error };
    }
  }
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

  /** Resolves when there is room for another district. What waits long takes half at most, so room always comes. */
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
   * @param share Part of the bound that may be in use; half of it for what waits until all districts were read.
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
