/** Reads the full listing, which is the list without a partition, and what it proves about partitions. */

import { isRekapError, RekapError } from '../errors.ts';
import type { FetchedPage } from '../source/response-reader.ts';
import { isRefusal } from '../source/source-messages.ts';
import type { DatasetPages } from './pages.ts';
import {
  judge,
  KeyOccurrences,
  maxPasses,
  nextPageSize,
  type PassResult,
  pauseAfter,
  RecordReader,
  sizesOf,
} from './prove.ts';
import { PassDigest } from '../kinds/content.ts';
import type { ExtractOptions } from './extract-options.ts';
import { type Fingerprint, FingerprintTable } from '../kinds/fingerprints.ts';
import type { AcceptedPage, Grade } from '../stages.ts';

/** The records of one pass over the full listing. */
export class FullListing {
  /** Set when passes agree. */
  grade: Grade = 'single';
  /** Records of the first page. */
  pageLength = 0;
  /** True if pages before the last one differ in length: then a short page doesn't show the end. */
  pagesVary = false;
  /** The partition of the last record that has one. */
  last: string | null = null;
  readonly keys = new KeyOccurrences();
  /** Records without a partition. */
  readonly accepted: AcceptedPage[] = [];
  /** True if the records of each partition are contiguous. */
  private isInOrder = true;
  private readonly all: PassDigest;
  private readonly digests = new Map<string, PassDigest>();
  private readonly pages: Pick<DatasetPages, 'pipeline' | 'contents' | 'names' | 'hold'>;
  private readonly reader: RecordReader;
  private longest = 0;
  private lengthBefore = 0;

  constructor(pages: FullListing['pages']) {
    this.pages = pages;
    this.reader = new RecordReader(pages.pipeline, pages.names);
    this.all = new PassDigest(pages.contents);
  }

  get total(): number {
    return this.all.total;
  }

  get result(): PassResult {
    return { total: this.total, content: this.all.content, longest: this.longest };
  }

  get partitions(): string[] {
    return [...this.digests.keys()];
  }

  add(fetched: FetchedPage, first: number): void {
    const { reader, digests, pages } = this;
    const { page } = fetched;
    const { length } = page.records;
    if (this.total === 0) this.pageLength = length;
    else if (this.lengthBefore !== this.pageLength || length > this.pageLength) this.pagesVary = true;
    this.lengthBefore = length;
    this.longest = Math.max(this.longest, length);
    const runs: { readonly first: number; count: number }[] = [];
    for (let row = first; row < length; row += 1) {
      reader.read(page, row);
      this.keys.add(reader.key);
      const content = pages.contents.of(page, row);
      this.all.add(content);
      const { partition } = reader;
      if (partition === null) {
        const run = runs.at(-1);
        if (run !== undefined && run.first + run.count === row) run.count += 1;
        else runs.push({ first: row, count: 1 });
        continue;
      }
      let digest = digests.get(partition);
      if (digest === undefined) digests.set(partition, (digest = new PassDigest(pages.contents)));
      else if (partition !== this.last) this.isInOrder = false;
      digest.add(content);
      this.last = partition;
    }
    for (const run of runs) this.accepted.push(pages.hold(fetched, run.first, run.count, 0.5));
  }

  of(partition: string): PassDigest {
    return this.digests.get(partition) ?? new PassDigest(this.pages.contents);
  }

  /** Returns the part of a partition as the result of a pass. */
  resultOf(partition: string): PassResult {
    const { total, content } = this.of(partition);
    return { total, content, longest: null };
  }

  /** True if the order of records and the page lengths show where a partition ends. */
  get isOrderly(): boolean {
    return this.isInOrder && !this.pagesVary;
  }

  /** Returns whether the listing shows where the partition ends: records of another partition follow, or it has none. */
  showsEndOf(partition: string): boolean {
    return this.isOrderly && partition !== this.last;
  }
}

/** The union of the records that any pass over a partition has found, including the full listings. */
export class SeenRecords {
  private union = new FingerprintTable();
  private sizeAtEnd: number | null = null;
  private readonly listings: readonly FullListing[];
  private readonly partition: string | null;
  private readonly found: number[];

  constructor(listings: readonly FullListing[], partition: string | null) {
    this.listings = listings;
    this.partition = partition;
    this.found = listings.map(() => 0);
  }

  add(element: Fingerprint): void {
    if (this.union.insert(element, 1) !== 0) return;
    for (const [index, listing] of this.listings.entries()) if (listing.keys.has(element)) this.found[index]! += 1;
  }

  /** Frees the memory of a partition that isn't read again, and keeps the size. */
  close(): void {
    this.sizeAtEnd = this.size;
    this.union = new FingerprintTable();
  }

  /** Number of records found. A pass with this many has found all of them. */
  get size(): number {
    if (this.sizeAtEnd !== null) return this.sizeAtEnd;
    const { partition } = this;
    const missing =
      partition === null ? [] : this.listings.map((listing, index) => listing.of(partition).total - this.found[index]!);
    return this.union.size + Math.max(0, ...missing);
  }
}

export interface FoundListing {
  readonly listing: FullListing | null;
  /** All passes, also failed ones. Every record in them must be found. */
  readonly passes: readonly FullListing[];
  readonly reported: number;
  /** Why there is no listing; null if it is empty. */
  readonly refusal: RekapError | null;
}

export const noListing: FoundListing = { listing: null, passes: [], reported: 0, refusal: null };

/**
 * Reads the full listing until it is complete: one pass if passes show their own gaps, otherwise two that agree. A refusal, or an empty
 * listing, means that there is no listing.
 *
 * @throws `broken-reading` if four passes fail.
 */
export async function readFullListing(
  pages: DatasetPages,
  { clock, signal, concurrency }: ExtractOptions,
  warn: (message: string) => void,
): Promise<FoundListing> {
  const { showsGaps, repages } = pages.pager;
  const passes: FullListing[] = [];
  const results: PassResult[] = [];
  // If the source has listed records before, an empty list is an error.
  const hasShown = (): boolean => passes.some(({ total }) => total > 0);
  const without = (refusal: RekapError | null): FoundListing => {
    const why = refusal?.message.replace(/\.$/, '') ?? 'the list is empty';
    warn(`the source returns no full listing (${why}), so rekap reads each known partition by itself`);
    return { ...noListing, passes, refusal };
  };
  const begin = (): FullListing => {
    const listing = new FullListing(pages);
    passes.push(listing);
    return listing;
  };
  const list = { partition: null, isOptional: false, mayBeRefused: true, isShortened: false };
  const lookahead = { pages: concurrency, total: null };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const size = repages ? nextPageSize(results) : null;
      const [listing, { reported, refusal }] = await pages.readPass({ ...list, size, lookahead }, begin);
      const { total, result } = listing;
      if (total === 0 && !hasShown()) return without(refusal);
      const needed = showsGaps ? 1 : 2;
      const judged = judge({ newest: result, earlier: results, seen: total, needed, repages });
      if (total > 0 && 'agreeing' in judged) {
        listing.grade = pages.pager.grade({ records: total, sizesDiffer: sizesOf(judged.agreeing).size > 1 });
        return { listing, passes, reported, refusal: null };
      }
      if (total > 0) results.push(result);
      for (const page of listing.accepted) page.release();
      if (total === 0 || attempt === maxPasses)
        throw new RekapError(
          'broken-reading',
          total === 0
            ? 'The full listing had records at first, but is empty now.'
            : `The full listing was read ${attempt} times, and no two passes returned the same records.`,
          'The source leaves out records, or changed during the sync. Run the sync again.',
        );
    } catch (error) {
      if (isRefusal(error) && !hasShown()) return without(error);
      if (!isRekapError(error, 'broken-reading') || attempt === maxPasses) throw error;
      warn(`rekap reads the full listing again: ${error.message.replace(/\.$/, '')}`);
    }
    // The second of two necessary passes starts at once.
    if (results.length !== 1 || attempt > 1) await clock.sleep(pauseAfter(attempt), signal);
  }
}
