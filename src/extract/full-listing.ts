/** Reads the full listing, which is the list without a partition, and what it proves about partitions. */

import { isRekapError, RekapError } from '../errors.ts';
import type { FetchedPage } from '../source/response-reader.ts';
import { isRefusal } from '../source/source-messages.ts';
import type { DatasetPages } from './pages.ts';
import { judge, maxPasses, KeyOccurrences, type PassResult, RecordReader, sizesOf } from './prove.ts';
import { type ContentHash, PassDigest } from '../kinds/content.ts';
import type { ExtractOptions } from './extract-options.ts';
import { type Fingerprint, FingerprintTable } from '../kinds/fingerprints.ts';
import { type PassEnd, type Pager, PassTally, repeatedRecord, StartOver } from '../source/paging/pass.ts';
import type { AcceptedPage, Grade, Page } from '../stages.ts';

export class FullListing {
  total = 0;
  pageLength = 0;
  last: string | null = null;
  grade: Grade;
  readonly all: PassDigest;
  longest = 0;
  /** True if pages before the last one differ in length: then a short page doesn't show the end. */
  pagesVary = false;
  /** True if the records of each partition are contiguous. */
  private isInOrder = true;
  private readonly digests = new Map<string, PassDigest>();
  private readonly occurrences = new KeyOccurrences();
  private readonly reader: RecordReader;
  private readonly contents: ContentHash;
  private lengthBefore = 0;

  constructor({ pipeline, contents, names }: Pick<DatasetPages, 'pipeline' | 'contents' | 'names'>, grade: Grade) {
    this.reader = new RecordReader(pipeline, names);
    this.contents = contents;
    this.all = new PassDigest(contents);
    this.grade = grade;
  }

  get result(): PassResult {
    return { total: this.total, content: this.all.content, longest: this.longest };
  }

  /** Adds the records of a page from row `first` on. Returns the rows without a partition. */
  add(page: Page, first: number): number[] {
    const { reader, digests, contents } = this;
    const { length } = page.records;
    if (this.total === 0) this.pageLength = length;
    else if (this.lengthBefore !== this.pageLength || length > this.pageLength) this.pagesVary = true;
    this.lengthBefore = length;
    this.longest = Math.max(this.longest, length);
    const withoutPartition: number[] = [];
    for (let row = first; row < length; row += 1) {
      reader.read(page, row);
      this.occurrences.add(reader.key);
      const content = contents.of(page, row);
      this.all.add(content);
      this.total += 1;
      const { partition } = reader;
      if (partition === null) {
        withoutPartition.push(row);
        continue;
      }
      let digest = digests.get(partition);
      if (digest === undefined) digests.set(partition, (digest = new PassDigest(contents)));
      else if (partition !== this.last) this.isInOrder = false;
      digest.add(content);
      this.last = partition;
    }
    return withoutPartition;
  }

  get partitions(): string[] {
    return [...this.digests.keys()];
  }

  get hasRepeats(): boolean {
    return this.occurrences.hasRepeats;
  }

  of(partition: string): PassDigest {
    return this.digests.get(partition) ?? new PassDigest(this.contents);
  }

  has(element: Fingerprint): boolean {
    return this.occurrences.has(element);
  }

  /** True if the order of records and the page lengths show where a partition ends. */
  get isOrderly(): boolean {
    return this.isInOrder && !this.pagesVary;
  }

  /** Returns whether the listing shows where the partition ends: records of another partition follow, or it has none. */
  hasLeftBehind(partition: string): boolean {
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
    for (const [index, listing] of this.listings.entries()) if (listing.has(element)) this.found[index]! += 1;
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
  readonly withoutPartition: readonly AcceptedPage[];
  readonly reported: number;
  /** Why there is no listing; null if it is empty. */
  readonly refusal: RekapError | null;
}

export const noListing: FoundListing = {
  listing: null,
  passes: [],
  withoutPartition: [],
  reported: 0,
  refusal: null,
};

const firstPause = 500;

/**
 * Reads the full listing until it is complete: one pass if passes show their own gaps, otherwise two that agree. A refusal, or an empty
 * listing, means that there is no listing.
 *
 * @throws `broken-reading` if four passes fail.
 */
export async function readFullListing(
  pages: DatasetPages,
  { clock, signal, maxRecords, concurrency }: ExtractOptions,
  warn: (message: string) => void,
): Promise<FoundListing> {
  const passes: FullListing[] = [];
  const whole: FullListing[] = [];
  // If the source has listed records before, an empty list is an error.
  const hasShown = (): boolean => passes.some(({ total }) => total > 0);
  const without = (refusal: RekapError | null): FoundListing => {
    const why = refusal?.message.replace(/\.$/, '') ?? 'the list is empty';
    warn(`the source returns no full listing (${why}), so rekap reads each known partition by itself`);
    return { ...noListing, passes, refusal };
  };
  for (let attempt = 1; ; attempt += 1) {
    const withoutPartition: AcceptedPage[] = [];
    try {
      const [listing, { reported, refusal }] = await readOnce(
        pages,
        { maxRecords, concurrency },
        passes,
        whole,
        withoutPartition,
      );
      const agreeing = agreeingWith(listing, whole, pages.pager);
      if (agreeing !== null) {
        listing.grade = pages.pager.grade({ records: listing.total, sizesDiffer: sizesOf(agreeing).size > 1 });
        return { listing, passes, withoutPartition, reported, refusal: null };
      }
      if (listing.total > 0) whole.push(listing);
      else if (!hasShown()) return without(refusal);
      if (listing.total === 0 || attempt === maxPasses)
        throw new RekapError(
          'broken-reading',
          listing.total === 0
            ? 'The full listing had records at first, but is empty now.'
            : `The full listing was read ${attempt} times, and no two passes returned the same records.`,
          'The source leaves out records, or changed during the sync. Run the sync again.',
        );
    } catch (error) {
      if (isRefusal(error) && !hasShown()) return without(error);
      if (!isRekapError(error, 'broken-reading') || attempt === maxPasses) throw error;
      warn(`rekap reads the full listing again: ${error.message.replace(/\.$/, '')}`);
    }
    for (const page of withoutPartition) page.release();
    // The second of two necessary passes starts at once.
    if (whole.length !== 1 || attempt > 1) await clock.sleep(firstPause * 2 ** (attempt - 1), signal);
  }
}

/** Returns the passes that prove the listing, with itself; null if it needs another pass. */
function agreeingWith(
  listing: FullListing,
  whole: readonly FullListing[],
  { showsGaps, repages }: Pager,
): readonly PassResult[] | null {
  if (listing.total === 0) return null;
  const earlier = whole.map(({ result }) => result);
  const needed = showsGaps ? 1 : 2;
  const judged = judge({ newest: listing.result, earlier, seen: listing.total, needed, repages });
  return 'agreeing' in judged ? judged.agreeing : null;
}

async function readOnce(
  pages: DatasetPages,
  limits: Pick<ExtractOptions, 'maxRecords' | 'concurrency'>,
  passes: FullListing[],
  whole: readonly FullListing[],
  withoutPartition: AcceptedPage[],
  size = sizeAfter(pages, whole),
  isShortened = false,
): Promise<[FullListing, PassEnd]> {
  const listing = new FullListing(pages, pages.pager.grade({ records: 0, sizesDiffer: false }));
  passes.push(listing);
  const tally = new PassTally(limits.maxRecords);
  try {
    const lookahead = { pages: limits.concurrency, total: null };
    const pass = { partition: null, isOptional: false, mayBeRefused: true, size, isShortened, lookahead };
    for await (const passPage of pages.read(pass)) {
      if (!tally.add(passPage)) continue;
      const { fetched, first } = passPage;
      withoutPartition.push(...holdRuns(pages, fetched, listing.add(fetched.page, first)));
      if (listing.hasRepeats && pages.pager.movesRecords) throw repeatedRecord(fetched.page.url);
    }
    return [listing, tally.end()];
  } catch (error) {
    if (!(error instanceof StartOver)) throw error;
    for (const page of withoutPartition.splice(0)) page.release();
    return readOnce(pages, limits, passes, whole, withoutPartition, error.size, error.why === 'short list');
  }
}

/** Returns the page size: in every second pass, one record fewer than the longest page of the first pass. */
function sizeAfter({ pager }: DatasetPages, whole: readonly FullListing[]): number | null {
  const [{ longest } = { longest: 0 }] = whole;
  if (!pager.repages || longest < 2) return null;
  return whole.length % 2 === 1 ? longest - 1 : longest;
}

function holdRuns(pages: DatasetPages, fetched: FetchedPage, rows: readonly number[]): AcceptedPage[] {
  const runs: { first: number; count: number }[] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run !== undefined && run.first + run.count === row) run.count += 1;
    else runs.push({ first: row, count: 1 });
  }
  return runs.map(({ first, count }) => pages.hold(fetched, first, count, 0.5));
}
