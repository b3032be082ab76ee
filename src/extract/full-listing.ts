/** The full listing: what the endpoint gives without a partition, and what may be concluded from it. */

import { isRekapError, RekapError } from '../errors.ts';
import type { FetchedPage } from '../source/response-reader.ts';
import { isRefusal } from '../source/source-messages.ts';
import type { DatasetPages } from './pages.ts';
import { PassDigest, mostReadings, KeyOccurrences, RecordReader } from './prove.ts';
import type { ExtractOptions } from './extract-options.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { type Fingerprint, FingerprintTable } from '../kinds/fingerprints.ts';
import { type PassEnd, PassTally, repeatedRecord, StartOver } from '../source/paging/pass.ts';
import type { AcceptedPage, Grade, Page } from '../stages.ts';

const nothing = new PassDigest();

/** Takes the pages of one reading of the listing. */
export class FullListing {
  /** Records, also those that name no partition. */
  total = 0;
  /** Records of its first page. */
  pageLength = 0;
  /** The partition of its last record. */
  last: string | null = null;
  /** How strong the proof is that it is whole. */
  grade: Grade;
  /** All its records. */
  readonly all = new PassDigest();
  /** The length of its longest page. */
  longest = 0;
  /** Whether its pages, but for the last, differ in length: then a short page means nothing. */
  pagesVary = false;
  /** Whether the records of each partition stand together. */
  private isInOrder = true;
  private readonly digests = new Map<string, PassDigest>();
  private readonly occurrences = new KeyOccurrences();
  private readonly reader: RecordReader;
  private lengthBefore = 0;

  constructor(pipeline: AnyPipeline, grade: Grade) {
    this.reader = new RecordReader(pipeline);
    this.grade = grade;
  }

  /** Takes the records of a page from the one at `first` on; gives the rows of those that name no partition. */
  add(page: Page, first: number): number[] {
    const { reader, digests } = this;
    const { length } = page.records;
    if (this.total === 0) this.pageLength = length;
    else if (this.lengthBefore !== this.pageLength || length > this.pageLength) this.pagesVary = true;
    this.lengthBefore = length;
    this.longest = Math.max(this.longest, length);
    const withoutPartition: number[] = [];
    for (let row = first; row < length; row += 1) {
      reader.read(page, row);
      this.occurrences.add(reader.key);
      this.all.add(reader.content);
      this.total += 1;
      const { partition } = reader;
      if (partition === null) {
        withoutPartition.push(row);
        continue;
      }
      let digest = digests.get(partition);
      if (digest === undefined) digests.set(partition, (digest = new PassDigest()));
      else if (partition !== this.last) this.isInOrder = false;
      digest.add(reader.content);
      this.last = partition;
    }
    return withoutPartition;
  }

  get partitions(): string[] {
    return [...this.digests.keys()];
  }

  /** Whether any key came twice. */
  get hasRepeats(): boolean {
    return this.occurrences.hasRepeats;
  }

  /** What it holds of a partition. */
  of(partition: string): PassDigest {
    return this.digests.get(partition) ?? nothing;
  }

  has(element: Fingerprint): boolean {
    return this.occurrences.has(element);
  }

  /** Whether the order of its records and the length of its pages show where a partition ends. */
  get isOrderly(): boolean {
    return this.isInOrder && !this.pagesVary;
  }

  /** Whether it has surely passed all that it has of a partition: another partition's records followed, or there are none. */
  hasLeftBehind(partition: string): boolean {
    return this.isOrderly && partition !== this.last;
  }
}

/** Everything that any reading of a partition has seen, those of the full listing among them. */
export class SeenRecords {
  private readonly union = new FingerprintTable();
  private readonly listings: readonly FullListing[];
  /** Null for all records of a dataset that has no partitions, and so no listing. */
  private readonly partition: string | null;
  /** Of each listing, how many of its records the union holds. */
  private readonly found: number[];

  /** @param listings All readings of the full listing, also those that came to nothing. */
  constructor(listings: readonly FullListing[], partition: string | null) {
    this.listings = listings;
    this.partition = partition;
    this.found = listings.map(() => 0);
  }

  add(element: Fingerprint): void {
    if (this.union.insert(element, 1) !== 0) return;
    for (const [index, listing] of this.listings.entries()) if (listing.has(element)) this.found[index]! += 1;
  }

  /** How many records have been seen; a reading that brought so many brought them all. */
  get size(): number {
    const { partition } = this;
    const unmet =
      partition === null ? [] : this.listings.map((listing, index) => listing.of(partition).total - this.found[index]!);
    return this.union.size + Math.max(0, ...unmet);
  }
}

/** What reading the full listing came to. */
export interface FoundListing {
  /** The reading that came to its end; null where the source gives none. */
  readonly listing: FullListing | null;
  /** All readings, also those that came to nothing: what they showed must come. */
  readonly readings: readonly FullListing[];
  /** Runs of records that name no partition. */
  readonly withoutPartition: readonly AcceptedPage[];
  /** The reported total. */
  readonly reported: number;
  /** Why there is no listing; null where it has no record. */
  readonly refusal: RekapError | null;
}

export const noListing: FoundListing = {
  listing: null,
  readings: [],
  withoutPartition: [],
  reported: 0,
  refusal: null,
};

/** Milliseconds before the listing is read again; doubled each time. */
const firstPause = 500;

/**
 * Reads the full listing until it is whole: one reading that comes to its end where a reading shows its own gaps, else two that agree. A
 * refusal, or a listing without a record, means that there is none.
 *
 * @throws `broken-reading` where four readings came to nothing.
 */
export async function readFullListing(
  pages: DatasetPages,
  { clock, signal, maxRecords }: ExtractOptions,
  warn: (message: string) => void,
): Promise<FoundListing> {
  const readings: FullListing[] = [];
  const whole: FullListing[] = [];
  // A source that has listed records, and lists none now, has slipped.
  const hasShown = (): boolean => readings.some(({ total }) => total > 0);
  const without = (refusal: RekapError | null): FoundListing => {
    const why = refusal?.message.replace(/\.$/, '') ?? 'the list is empty';
    warn(`the source returns no full listing (${why}), so rekap reads each known partition by itself`);
    return { ...noListing, readings, refusal };
  };
  for (let attempt = 1; ; attempt += 1) {
    const withoutPartition: AcceptedPage[] = [];
    try {
      const [listing, { reported, refusal }] = await readOnce(pages, maxRecords, readings, whole, withoutPartition);
      const isWhole = pages.pager.showsGaps || whole.some(({ all }) => all.content === listing.all.content);
      if (listing.total > 0 && isWhole) {
        listing.grade = pages.pager.grade([...whole, listing].map(({ longest }) => longest));
        return { listing, readings, withoutPartition, reported, refusal: null };
      }
      if (listing.total > 0) whole.push(listing);
      else if (!hasShown()) return without(refusal);
      if (listing.total === 0 || attempt === mostReadings)
        throw new RekapError(
          'broken-reading',
          listing.total === 0
            ? 'The full listing had records at first, but is empty now.'
            : `The full listing was read ${attempt} times, and no two passes brought the same records.`,
          'The source leaves out records, or changed during the sync. Run the sync again.',
        );
    } catch (error) {
      if (isRefusal(error) && !hasShown()) return without(error);
      if (!isRekapError(error, 'broken-reading') || attempt === mostReadings) throw error;
      warn(`rekap reads the full listing again: ${error.message.replace(/\.$/, '')}`);
    }
    for (const page of withoutPartition) page.release();
    // A second reading that is needed anyway waits for nothing.
    if (whole.length !== 1 || attempt > 1) await clock.sleep(firstPause * 2 ** (attempt - 1), signal);
  }
}

async function readOnce(
  pages: DatasetPages,
  maxRecords: number,
  readings: FullListing[],
  whole: readonly FullListing[],
  withoutPartition: AcceptedPage[],
  size = sizeAfter(pages, whole),
): Promise<[FullListing, PassEnd]> {
  const listing = new FullListing(pages.pipeline, pages.pager.grade([]));
  readings.push(listing);
  const tally = new PassTally(maxRecords);
  try {
    for await (const passPage of pages.read({ partition: null, isOptional: false, mayBeRefused: true, size })) {
      if (!tally.add(passPage)) continue;
      const { fetched, first } = passPage;
      withoutPartition.push(...holdRuns(pages, fetched, listing.add(fetched.page, first)));
      if (listing.hasRepeats && pages.pager.movesRecords) throw repeatedRecord(fetched.page.url);
    }
    return [listing, tally.end()];
  } catch (error) {
    if (!(error instanceof StartOver)) throw error;
    for (const page of withoutPartition.splice(0)) page.release();
    return readOnce(pages, maxRecords, readings, whole, withoutPartition, error.size);
  }
}

/** Returns the size of the next pass: in every second pass one record fewer than the longest page of the first one. */
function sizeAfter({ pager }: DatasetPages, whole: readonly FullListing[]): number | null {
  const [{ longest } = { longest: 0 }] = whole;
  if (!pager.repages || longest < 2) return null;
  return whole.length % 2 === 1 ? longest - 1 : longest;
}

/** Holds rows of a page, each run of neighbours by itself. */
function holdRuns(pages: DatasetPages, fetched: FetchedPage, rows: readonly number[]): AcceptedPage[] {
  const runs: { first: number; taken: number }[] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run !== undefined && run.first + run.taken === row) run.taken += 1;
    else runs.push({ first: row, taken: 1 });
  }
  return runs.map(({ first, taken }) => pages.hold(fetched, first, taken, 0.5));
}
