/** The full listing: what the endpoint gives without a district, and what may be concluded from it. */

import { isRekapError, RekapError } from '../errors.ts';
import type { FetchedPage } from './ask/answer-reader.ts';
import { isRefusal } from './ask/source-messages.ts';
import type { DatasetPages } from './pages.ts';
import { Account, mostReadings, Occurrences, RecordReader } from './prove.ts';
import type { ExtractQuestion } from './question.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { type Fingerprint, FingerprintTable } from '../records/fingerprints.ts';
import type { AcceptedPage, Page } from '../stages.ts';

const nothing = new Account();

/** Takes the pages of one reading of the listing. */
export class FullListing {
  /** Records, also those that name no district. */
  total = 0;
  /** Records of its first page. */
  pageLength = 0;
  /** The district of its last record. */
  last: number | null = null;
  /** Whether its pages, but for the last, differ in length: then a short page means nothing. */
  pagesVary = false;
  /** Whether the records of each district stand together. */
  private isInOrder = true;
  private readonly accounts = new Map<number, Account>();
  private readonly occurrences = new Occurrences();
  private readonly reader: RecordReader;
  private lengthBefore = 0;

  constructor(pipeline: AnyPipeline) {
    this.reader = new RecordReader(pipeline);
  }

  /** Takes the records of a page from the one at `first` on; gives the rows of those that name no district. */
  add(page: Page, first: number): number[] {
    const { reader, accounts } = this;
    const { length } = page.records;
    if (this.total === 0) this.pageLength = length;
    else if (this.lengthBefore !== this.pageLength || length > this.pageLength) this.pagesVary = true;
    this.lengthBefore = length;
    const strays: number[] = [];
    for (let row = first; row < length; row += 1) {
      reader.read(page, row);
      this.occurrences.add(reader.key);
      this.total += 1;
      const { district } = reader;
      if (district === null) {
        strays.push(row);
        continue;
      }
      let account = accounts.get(district);
      if (account === undefined) accounts.set(district, (account = new Account()));
      else if (district !== this.last) this.isInOrder = false;
      account.add(reader.content);
      this.last = district;
    }
    return strays;
  }

  get districts(): number[] {
    return [...this.accounts.keys()];
  }

  /** What it holds of a district. */
  of(district: number): Account {
    return this.accounts.get(district) ?? nothing;
  }

  has(element: Fingerprint): boolean {
    return this.occurrences.has(element);
  }

  /** Whether the order of its records and the length of its pages show where a district ends. */
  get isOrderly(): boolean {
    return this.isInOrder && !this.pagesVary;
  }

  /** Whether it has surely passed all that it has of a district: another district's records followed, or there are none. */
  hasLeftBehind(district: number): boolean {
    return this.isOrderly && district !== this.last;
  }
}

/** Everything that any reading of a district has shown, those of the full listing among them. */
export class Shown {
  private readonly union = new FingerprintTable();
  private readonly listings: readonly FullListing[];
  private readonly district: number;
  /** Of each listing, how many of its records the union holds. */
  private readonly met: number[];

  /** @param listings All readings of the full listing, also those that came to nothing. */
  constructor(listings: readonly FullListing[], district: number) {
    this.listings = listings;
    this.district = district;
    this.met = listings.map(() => 0);
  }

  add(element: Fingerprint): void {
    if (this.union.meet(element, 1) !== 0) return;
    for (const [index, listing] of this.listings.entries()) if (listing.has(element)) this.met[index]! += 1;
  }

  /** How many records have been shown; a reading that brought so many brought them all. */
  get size(): number {
    const unmet = this.listings.map((listing, index) => listing.of(this.district).total - this.met[index]!);
    return this.union.size + Math.max(0, ...unmet);
  }
}

/** What reading the full listing came to. */
export interface FoundListing {
  /** The reading that came to its end; null where the source gives none. */
  readonly listing: FullListing | null;
  /** All readings, also those that came to nothing: what they showed must come. */
  readonly readings: readonly FullListing[];
  /** Runs of records that name no district. */
  readonly strays: readonly AcceptedPage[];
  /** The reported total. */
  readonly reported: number;
  /** Why there is no listing; null where it has no record. */
  readonly refusal: RekapError | null;
}

export const noListing: FoundListing = { listing: null, readings: [], strays: [], reported: 0, refusal: null };

/** Milliseconds before the listing is read again; doubled each time. */
const firstPause = 500;

/**
 * Reads the full listing until one reading comes to its end. A refusal, or a listing without a record, means that there is none.
 *
 * @throws `broken-reading` where four readings came to nothing.
 */
export async function readFullListing(
  pages: DatasetPages,
  { clock, signal }: ExtractQuestion,
  warn: (message: string) => void,
): Promise<FoundListing> {
  const readings: FullListing[] = [];
  // A source that has listed records, and lists none now, has slipped.
  const hasShown = (): boolean => readings.some(({ total }) => total > 0);
  const without = (refusal: RekapError | null): FoundListing => {
    const why = refusal?.message.replace(/\.$/, '') ?? 'the list is empty';
    warn(`the source returns no full listing (${why}), so rekap reads each known district by itself`);
    return { ...noListing, readings, refusal };
  };
  for (;;) {
    const listing = new FullListing(pages.pipeline);
    readings.push(listing);
    const strays: AcceptedPage[] = [];
    try {
      const { reported, refusal } = await pages.read({
        district: null,
        isOptional: false,
        leavesEndOpen: true,
        isAll: () => false,
        take: (fetched, first) => strays.push(...holdRuns(pages, fetched, listing.add(fetched.page, first))),
      });
      if (listing.total > 0) return { listing, readings, strays, reported, refusal: null };
      if (!hasShown()) return without(refusal);
      throw new RekapError(
        'broken-reading',
        'The full listing had records at first, but is empty now.',
        'The source changed during the sync. Run the sync again.',
      );
    } catch (error) {
      if (isRefusal(error) && !hasShown()) return without(error);
      if (!isRekapError(error, 'broken-reading') || readings.length === mostReadings) throw error;
      warn(`rekap reads the full listing again: ${error.message.replace(/\.$/, '')}`);
    }
    for (const page of strays) page.release();
    await clock.sleep(firstPause * 2 ** (readings.length - 1), signal);
  }
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
