/** Asks for the pages of one dataset: in a size that the source takes, held until they are built, or as earlier runs have landed them. */

import type { AnyPipeline } from '../pipeline.ts';
import type { AcceptedPage, Page, PageRequest } from '../stages.ts';
import type { FetchedPage } from './ask/answer-reader.ts';
import { emptyPage, isRefusal } from './ask/refusals.ts';
import type { ExtractQuestion } from './extract-question.ts';
import type { PageHolder } from './prove/page-holder.ts';
import { readPages, type ReadingQuestion, type ReadToEnd } from './prove/read-pages.ts';
import { RecordReader } from './prove/tally.ts';

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
    let limit = this.takenSize ?? this.question.pageSize;
    return this.readBy(reading, async (offset, isBehind) => {
      if (offset === 0 && this.takenSize === null) {
        const first = await this.askInSizes(reading);
        ({ limit } = first.page.request);
        return first;
      }
      return this.ask(reading, offset, limit, { isBehind });
    });
  }

  /**
   * The same over pages that earlier runs have landed; null where one is missing.
   *
   * @param isTaken Whether they count for this run, and so are landed for it too; else they are only looked at.
   */
  async readLanded(reading: Reading, isTaken: boolean): Promise<ReadToEnd | null> {
    const { client, pageSize } = this.question;
    const request = (offset: number) => this.request(reading.district, offset, this.takenSize ?? pageSize);
    if (!client.hasLanded(request(0))) return null;
    let isMissing = false;
    try {
      return await this.readBy(reading, async (offset) => {
        const recalled = await client.recallPage(this.pipeline, request(offset), isTaken);
        if (recalled !== null) return recalled;
        isMissing = true;
        throw new Error('the page was never landed');
      });
    } catch (error) {
      if (isMissing) return null;
      throw error;
    }
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

  /** A function of its own: a closure made beside a page would keep it in memory after its release. */
  private reopener(request: PageRequest): (bytes: Buffer) => Page {
    return (bytes) => this.question.client.reopen(this.pipeline, request, bytes);
  }

  private readBy(reading: Reading, fetch: ReadingQuestion['fetch']): Promise<ReadToEnd> {
    const { reader } = this;
    return readPages({
      ...reading,
      fetch,
      maxRecords: this.question.maxRecords,
      contentOf(page, row) {
        reader.read(page, row);
        return `${reader.content.high} ${reader.content.low}`;
      },
    });
  }

  /** A first page in the largest size that the source takes. */
  private async askInSizes(reading: Reading): Promise<FetchedPage> {
    const { pageSize, report } = this.question;
    const sizes = [pageSize, ...smallerSizes.filter((size) => size < pageSize)];
    for (const [turn, size] of sizes.entries()) {
      const isLast = turn === sizes.length - 1;
      try {
        const fetched = await this.ask(reading, 0, size, { isBehind: false, mayRefuse: !isLast });
        if (turn > 0 && this.takenSize === null) {
          const message = `${this.pipeline.table}: the source refuses pages of ${pageSize} records; it is asked for ${size} at a time.`;
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
    { isBehind, mayRefuse = false }: { readonly isBehind: boolean; readonly mayRefuse?: boolean },
  ): Promise<FetchedPage> {
    const request = this.request(district, offset, limit);
    // The listing need not be given, nor what lies behind an end.
    const leniency = { mayRefuse: mayRefuse || isBehind || isOptional || district === null, isOptional };
    try {
      return await this.question.client.fetchPage(this.pipeline, request, leniency);
    } catch (error) {
      if (!isBehind || !isRefusal(error)) throw error;
      const landed = { answer: -1, read: async () => Buffer.of() };
      return { page: emptyPage(request, error.message), at: new Date(0), landed, refusal: error };
    }
  }

  private request(district: number | null, offset: number, limit: number): PageRequest {
    return { dataset: this.pipeline.table, district, offset, limit };
  }
}
