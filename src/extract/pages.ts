/** Fetches the pages of a dataset in a size that the source accepts, and holds them in memory until they are built. */

import { isRekapError, RekapError } from '../errors.ts';
import { DeclaredPlaces } from './declared-places.ts';
import type { FetchedPage } from '../source/response-reader.ts';
import { emptyPage, emptyStatuses, isRefusal } from '../source/source-messages.ts';
import { ContentHash } from '../kinds/content.ts';
import type { ExtractOptions } from './extract-options.ts';
import { pagerOf } from '../source/paging/choose-pager.ts';
import {
  type FirstPage,
  type PageAddress,
  type PageFetcher,
  type Pager,
  type PassPage,
  StartOver,
} from '../source/paging/pass.ts';
import { createPageScanner } from '../source/decode/scan-response.ts';
import { sliceRecords } from '../source/decode/record-index-builder.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { AcceptedPage, Page, PageRequest } from '../stages.ts';

const smallerSizes = [100, 10];
/** Failures of a request that the proof doesn't need. */
const ofOneRequest = ['source-status', 'source-unreachable', 'envelope', 'response-too-large'] as const;
const sizeRefusals = new Set([400, 413, 422]);

export interface PassOptions {
  readonly partition: string | null;
  /** True if the source need not know the partition. Failed requests then have fewer attempts. */
  readonly isOptional: boolean;
  readonly mayBeRefused: boolean;
  readonly size: number | null;
  readonly isShortened: boolean;
  readonly lookahead: PageFetcher['lookahead'];
}

type PageOptions = Pick<ExtractOptions, 'client' | 'baseUrl' | 'pageSize' | 'contentKey' | 'report'>;
type Need = Parameters<PageFetcher['fetch']>[1];

export class DatasetPages {
  readonly pipeline: AnyPipeline;
  readonly pager: Pager;
  readonly places: DeclaredPlaces;
  readonly contents: ContentHash;
  /** Names of the partitions that were read, if a column has them. */
  readonly names = new Map<string, string>();
  private readonly options: PageOptions;
  private readonly holder: PageHolder;
  private readonly scan = createPageScanner(() => undefined);
  private acceptedSize: number | null = null;

  constructor(pipeline: AnyPipeline, options: PageOptions, holder: PageHolder) {
    this.pipeline = pipeline;
    this.options = options;
    this.holder = holder;
    this.contents = new ContentHash(options.contentKey);
    this.places = new DeclaredPlaces(pipeline);
    this.pager = pagerOf(pipeline.paging, options.baseUrl);
  }

  /** Reads the pages of one pass. Throws as `Pager.pass` does. After `StartOver`, later passes use its size. */
  async *read(pass: PassOptions): AsyncGenerator<PassPage, void, undefined> {
    try {
      yield* this.pager.pass({
        fetchFirst: async (address) => {
          const size = pass.size ?? this.acceptedSize;
          if (size === null) return this.fetchInSizes(pass, address);
          const accepted = this.acceptedSize;
          try {
            return { ...(await this.fetch(pass, address(size), 'page', true)), size };
          } catch (error) {
            // Some sources accept only certain sizes. Then the pass repeats the requests of the one before.
            if (accepted === null || accepted === size || !isSizeRefusal(error)) throw error;
            return { ...(await this.fetch(pass, address(accepted), 'page')), size: accepted, isFallback: true };
          }
        },
        fetch: (address, need) => this.fetch(pass, address, need),
        isShortened: pass.isShortened,
        lookahead: pass.lookahead,
        hashOf: (page, row) => this.contents.of(page, row),
      });
    } catch (error) {
      if (error instanceof StartOver && error.why === 'cap') this.acceptedSize = error.size;
      throw error;
    }
  }

  /** Returns whether nothing is at an offset of the full listing; true for lists without offsets. */
  async isNothingAt(offset: number): Promise<boolean> {
    const { paging } = this.pipeline;
    if (paging.by !== 'offset') return true;
    const size = this.acceptedSize ?? this.options.pageSize;
    const listing = { partition: null, isOptional: false, mayBeRefused: true };
    const address = { [paging.limit]: size, [paging.offset]: offset };
    const { page, refusal } = await this.fetch(listing, address, 'unneeded');
    if (refusal !== null && !emptyStatuses.has(refusal.status) && !isRefusal(refusal)) throw refusal;
    return page.records.length === 0;
  }

  hold(fetched: FetchedPage, first: number, count: number, share?: number): AcceptedPage {
    return this.holder.hold(fetched, { first, count }, this.rescan(fetched.page.request, fetched.page.url), share);
  }

  /** A separate method: a closure made beside a page would keep it in memory after its release. */
  private rescan(request: PageRequest, url: string): (bytes: Buffer) => Page {
    return (bytes) => this.scan(this.pipeline, request, url, bytes);
  }

  private async fetchInSizes(pass: PassOptions, address: (size: number) => PageAddress): Promise<FirstPage> {
    const { pageSize, report } = this.options;
    const sizes = [pageSize, ...smallerSizes.filter((size) => size < pageSize)];
    for (const [index, size] of sizes.entries()) {
      const isLast = index === sizes.length - 1;
      try {
        const fetched = await this.fetch(pass, address(size), 'page', !isLast);
        if (index > 0 && this.acceptedSize === null) {
          const message = `${this.pipeline.table}: the source refuses pages of ${pageSize} records. rekap requests ${size} at a time instead.`;
          report({ kind: 'warning', message });
        }
        if (fetched.refusal === null) this.acceptedSize ??= size;
        return { ...fetched, size };
      } catch (error) {
        if (isLast || !isSizeRefusal(error)) throw error;
      }
    }
    throw new RangeError('no page size was tried');
  }

  private async fetch(
    { partition, isOptional, mayBeRefused }: Pick<PassOptions, 'partition' | 'isOptional' | 'mayBeRefused'>,
    address: PageAddress,
    need: Need,
    mayRefuseSize = false,
  ): Promise<FetchedPage> {
    const request = { dataset: this.pipeline.table, partition, target: targetOf(this.pipeline, partition, address) };
    const leniency = {
      mayRefuse: need !== 'page' || isOptional || mayBeRefused,
      mayRefuseSize,
      isOptional: isOptional || need === 'unneeded',
    };
    try {
      const fetched = await this.options.client.fetchPage(this.pipeline, request, leniency);
      this.places.note(fetched.page);
      return fetched;
    } catch (error) {
      if (need === 'behind' && isRefusal(error)) throw uncertainEnd(error);
      if (need !== 'unneeded' || !isRekapError(error, ...ofOneRequest)) throw error;
      const landed = { response: -1, read: async () => Buffer.of() };
      return { page: emptyPage(request, error.message), at: new Date(0), landed, refusal: error, link: null };
    }
  }
}

function isSizeRefusal(error: unknown): boolean {
  return isRefusal(error) && sizeRefusals.has(error.status);
}

/** A refused page may be behind the end, or the source may hide the rest of the list. */
function uncertainEnd(error: RekapError): RekapError {
  return new RekapError(
    'source-status',
    `${error.message} This is no sign that the list ends there.`,
    'If it ends there, declare "reportedCount" (a total) or "hasMore" (a flag), which show the end. Otherwise, the source limits how much of a list it shows: read it in partitions.',
    { status: error.status },
  );
}

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

/** Holds pages in memory up to a limit. Pages above the limit are read again from the landing. */
export class PageHolder {
  private held = 0;
  private bound: number;
  private readonly waiting: (() => void)[] = [];

  constructor(bound: number) {
    this.bound = bound;
  }

  /** True above half of the limit: then pages that wait long are read again from the landing. */
  get isHalfFull(): boolean {
    return this.held > this.bound / 2;
  }

  /** Resolves when there is room for another partition. Pages that wait long take at most half, so room always becomes free. */
  async room(): Promise<void> {
    while (this.held > this.bound * 0.75) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  close(): void {
    this.bound = Number.POSITIVE_INFINITY;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /**
   * Holds some records of a page.
   *
   * @param share Part of the limit that may be in use; 0.5 for pages that wait until all partitions are read.
   * @param reopen Scans the stored bytes again. It must not reference the page itself.
   */
  hold(
    { page: fetched, landed }: FetchedPage,
    { first, count }: { readonly first: number; readonly count: number },
    reopen: (bytes: Buffer) => Page,
    share = 1,
  ): AcceptedPage {
    const size = fetched.bytes.length;
    let held: Page | null = null;
    if (this.held + size <= this.bound * share) {
      held = sliceRecords(fetched, first, count);
      this.held += size;
    }
    return {
      response: landed.response,
      first,
      count,
      read: async () => held ?? sliceRecords(reopen(await landed.read()), first, count),
      release: () => {
        if (held === null) return;
        held = null;
        this.held -= size;
        for (const resolve of this.waiting.splice(0)) resolve();
      },
    };
  }
}
