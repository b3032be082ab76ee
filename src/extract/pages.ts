/** Fetches the pages of a dataset in a size that the source accepts. */

import { isRekapError, RekapError } from '../errors.ts';
import { DeclaredPlaces } from './declared-places.ts';
import type { FetchedPage } from '../source/response-reader.ts';
import { emptyPage, emptyStatuses, isRefusal } from '../source/source-messages.ts';
import { ContentHash } from '../kinds/content.ts';
import type { ExtractOptions } from './extract-options.ts';
import { pagerOf } from '../source/paging/choose-pager.ts';
import type { PageHolder } from './page-holder.ts';
import type { KeyOccurrences } from './prove.ts';
import {
  type FirstPage,
  type PageAddress,
  type PageFetcher,
  type Pager,
  type PassEnd,
  type PassPage,
  PassTally,
  repeatedRecord,
  StartOver,
} from '../source/paging/pass.ts';
import { createPageScanner } from '../source/decode/page-scanner.ts';
import { isFrom, pointerPath, readPointer, writeMember } from '../project/field-path.ts';
import { partitionParameters, splitPartition } from '../project/partition-list.ts';
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
  /** Records per page; null for as many as the source accepts. */
  readonly size: number | null;
  readonly isShortened: boolean;
  readonly lookahead: PageFetcher['lookahead'];
}

/** What one pass found. */
interface Reading {
  readonly keys: KeyOccurrences;
  readonly accepted: AcceptedPage[];
  /** True if the pages so far prove the list. */
  readonly isProvedByListing?: boolean;
  /** Takes the records of a page from row `first` on. */
  add(fetched: FetchedPage, first: number): void;
}

type PageOptions = Pick<
  ExtractOptions,
  'client' | 'baseUrl' | 'pageSize' | 'contentKey' | 'report' | 'maxRecords' | 'window'
>;
type Need = Parameters<PageFetcher['fetch']>[1];

export class DatasetPages {
  readonly pipeline: AnyPipeline;
  readonly pager: Pager;
  readonly places: DeclaredPlaces;
  readonly contents: ContentHash;
  /** Names of the partitions that were read, if a column has them. */
  readonly names = new Map<string, string>();
  /** Places of the columns with values of the request. */
  readonly requestColumns: readonly number[];
  private readonly options: PageOptions;
  private readonly holder: PageHolder;
  private readonly scan = createPageScanner(() => undefined);
  private acceptedSize: number | null = null;

  constructor(pipeline: AnyPipeline, options: PageOptions, holder: PageHolder) {
    this.pipeline = pipeline;
    this.options = options;
    this.holder = holder;
    this.contents = new ContentHash(options.contentKey);
    this.requestColumns = [...Object.values(pipeline.columns).entries()].flatMap(([place, column]) =>
      isFrom(column, 'request') ? [place] : [],
    );
    this.places = new DeclaredPlaces(pipeline);
    this.pager = pagerOf(pipeline, options.baseUrl);
  }

  /**
   * Reads a pass to its end, and starts over if the source needs another page size. Later passes use the size of a cap.
   *
   * @param begin Returns what takes the records. It is called again if the pass starts over.
   * @throws As `Pager.pass` does, and `broken-reading` if a key is repeated although records can't move between pages.
   */
  async readPass<Type extends Reading>(pass: PassOptions, begin: () => Type): Promise<readonly [Type, PassEnd]> {
    const reading = begin();
    const tally = new PassTally(this.options.maxRecords);
    try {
      for await (const passPage of this.pagesOf(pass)) {
        if (!tally.add(passPage)) continue;
        reading.add(passPage.fetched, passPage.first);
        if (reading.keys.hasRepeats && this.pager.movesRecords) throw repeatedRecord(passPage.fetched.page.url);
        if (reading.isProvedByListing === true) break;
      }
      return [reading, tally.end()];
    } catch (error) {
      for (const page of reading.accepted.splice(0)) page.release();
      if (!(error instanceof StartOver)) throw error;
      if (error.why === 'cap') this.acceptedSize = error.size;
      return this.readPass({ ...pass, size: error.size, isShortened: error.why === 'short list' }, begin);
    }
  }

  /** Yields the pages of one pass. */
  pagesOf(pass: PassOptions): AsyncGenerator<PassPage, void, undefined> {
    return this.pager.pass({
      fetchFirst: (address) => this.fetchFirst(pass, address),
      fetch: (address, need) => this.fetch(pass, address, need),
      isShortened: pass.isShortened,
      lookahead: pass.lookahead,
      hashOf: (page, row) => this.contents.of(page, row),
    });
  }

  /** Returns whether nothing is at an offset of the full listing; true for lists without offsets. */
  async isNothingAt(offset: number): Promise<boolean> {
    const { paging } = this.pipeline;
    if (paging.by !== 'offset' || !mayList(this.pipeline)) return true;
    const size = this.acceptedSize ?? this.options.pageSize;
    const listing = { partition: null, isOptional: false, mayBeRefused: true };
    const address = { [paging.limit]: size, [paging.offset]: offset + (paging.first ?? 0) };
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

  private async fetchFirst(pass: PassOptions, address: (size: number) => PageAddress): Promise<FirstPage> {
    const accepted = this.acceptedSize;
    const size = pass.size ?? accepted;
    if (size === null) return this.fetchInSizes(pass, address);
    // Some sources accept only certain sizes, such as 100, 50 and 20. Without another one, the pass repeats the requests of the one before.
    const other = accepted === null || accepted === size ? [] : [Math.floor(accepted / 2)];
    for (const wanted of [size, ...other])
      try {
        return { ...(await this.fetch(pass, address(wanted), 'page', true)), size: wanted };
      } catch (error) {
        if (other.length === 0 || !isSizeRefusal(error)) throw error;
      }
    return { ...(await this.fetch(pass, address(accepted!), 'page')), size: accepted!, isFallback: true };
  }

  /** Fetches the first page in the largest size that the source accepts. */
  private async fetchInSizes(pass: PassOptions, address: (size: number) => PageAddress): Promise<FirstPage> {
    const { pageSize, report } = this.options;
    const smaller = smallerSizes.filter((size) => size < pageSize);
    for (let size = pageSize; ; size = smaller.shift()!) {
      const isLast = smaller.length === 0;
      try {
        const fetched = await this.fetch(pass, address(size), 'page', !isLast);
        if (size < pageSize && this.acceptedSize === null) {
          const message = `${this.pipeline.table}: the source refuses pages of ${pageSize} records. rekap requests ${size} at a time instead.`;
          report({ kind: 'warning', message });
        }
        if (fetched.refusal === null) this.acceptedSize ??= size;
        return { ...fetched, size };
      } catch (error) {
        if (isLast || !isSizeRefusal(error)) throw error;
      }
    }
  }

  /** Adds the parameters of a window. The address of a next page has them already, and that of a page after a record replaces them. */
  private inWindow(address: PageAddress): PageAddress {
    return typeof address === 'string' ? address : { ...this.options.window, ...address };
  }

  private async fetch(
    { partition, isOptional, mayBeRefused }: Pick<PassOptions, 'partition' | 'isOptional' | 'mayBeRefused'>,
    address: PageAddress,
    need: Need,
    mayRefuseSize = false,
  ): Promise<FetchedPage> {
    const request = {
      dataset: this.pipeline.table,
      partition,
      target: targetOf(this.pipeline, partition, this.inWindow(address)),
    };
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
      if (need === 'past end' && isRefusal(error)) throw uncertainEnd(error);
      if (need !== 'unneeded' || !isRekapError(error, ...ofOneRequest)) throw error;
      const landed = { response: -1, read: async () => Buffer.of() };
      return { page: emptyPage(request, error.message), at: new Date(0), landed, refusal: error, link: null };
    }
  }
}

function isSizeRefusal(error: unknown): boolean {
  return isRefusal(error) && sizeRefusals.has(error.status);
}

/** A refused page may be past the end, or the source may hide the rest of the list. */
function uncertainEnd(error: RekapError): RekapError {
  return new RekapError(
    'source-status',
    `${error.message} This is no sign that the list ends there.`,
    'If it ends there, declare "reportedCount" (a total) or "hasMore" (a flag), which show the end. Otherwise, the source limits how much of a list it shows: read it in partitions.',
    { status: error.status },
  );
}

export function targetOf(pipeline: AnyPipeline, partition: string | null, address: PageAddress): string {
  const { path, parameters, request } = pipeline;
  const values = partition === null ? [] : splitPartition(pipeline, partition);
  if (typeof address === 'string') return withBody(address, request?.body);
  const all = {
    ...Object.fromEntries(values.map((value, place) => [partitionParameters(pipeline)[place]!.parameter, value])),
    ...parameters,
    ...address,
  };
  let filled = path;
  const query: string[] = [];
  const body = structuredClone(request?.body ?? {});
  for (const [name, given] of Object.entries(all)) {
    const text = String(given);
    if (name.startsWith('/')) writeMember(body, pointerPath(name), likeBefore(given, readPointer(body, name)));
    else if (path.includes(`{${name}}`)) filled = filled.replaceAll(`{${name}}`, () => pathText(text));
    else query.push(`${queryText(name)}=${queryText(text)}`);
  }
  const target = query.length === 0 ? filled : `${filled}?${query.join('&')}`;
  return withBody(target, request === undefined ? undefined : body);
}

/** A fragment is never sent as such, so that a URL shows the body too. */
function withBody(target: string, body: object | undefined): string {
  return body === undefined ? target : `${target}#${encodeURIComponent(JSON.stringify(body))}`;
}

/** Digits replace a number by a number, because some services refuse a text there. */
function likeBefore(given: string | number, before: unknown): string | number {
  return typeof before === 'number' && /^-?\d{1,15}$/.test(String(given)) ? Number(given) : given;
}

/** Returns whether the list can be read without a partition. */
export function mayList(pipeline: AnyPipeline): boolean {
  const { path, columns } = pipeline;
  return partitionParameters(pipeline).every(
    ({ parameter, column }) => !path.includes(`{${parameter}}`) && !isFrom(columns[column], 'request'),
  );
}

/** Escapes only what a query can't contain, because some services read `$top`, but not `%24top`. */
function queryText(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(24|2C|3A|40|2F|3B|3F|5B|5D)/g, (escaped) =>
    decodeURIComponent(escaped),
  );
}

/** A path segment of only dots would name another folder. */
function pathText(text: string): string {
  return /^\.+$/.test(text) ? text.replaceAll('.', '%2E') : encodeURIComponent(text);
}
