/** Reads the full listing of a dataset, until one reading comes to its end or it is known that there is none. */

import { isRekapError, RekapError } from '../errors.ts';
import type { AcceptedPage } from '../stages.ts';
import type { FetchedPage } from './ask/answer-reader.ts';
import { isRefusal } from './ask/refusals.ts';
import type { DatasetPages } from './dataset-pages.ts';
import type { ExtractQuestion } from './extract-question.ts';
import { FullListing } from './prove/full-listing.ts';
import { mostReadings } from './prove/prove.ts';
import { Occurrences, RecordReader } from './prove/tally.ts';

/** Milliseconds before the listing is read again; doubled each time. */
const firstPause = 500;

/** What reading the full listing came to. */
export interface FoundListing {
  /** The reading that came to its end; null where the source gives none. */
  readonly listing: FullListing | null;
  /** All readings, also those that came to nothing: what they showed must come. */
  readonly readings: readonly FullListing[];
  /** Runs of records that name no district. */
  readonly strays: readonly AcceptedPage[];
  /** What every answer's "count" said at least. */
  readonly reported: number;
  /** Why there is no listing; null where it has no record. */
  readonly refusal: RekapError | null;
  /** Whether earlier runs have landed a listing of the same records: only then do their districts stand in for today's. */
  readonly isLanded: boolean;
}

export const noListing: FoundListing = {
  listing: null,
  readings: [],
  strays: [],
  reported: 0,
  refusal: null,
  isLanded: false,
};

/**
 * A refusal, or a listing without a record, means that there is none.
 *
 * @throws `broken-reading` where four readings came to nothing.
 */
export async function readFullListing(
  pages: DatasetPages,
  { clock, signal, client }: ExtractQuestion,
  warn: (message: string) => void,
): Promise<FoundListing> {
  const readings: FullListing[] = [];
  // A source that has listed records, and lists none now, has slipped.
  const hasShown = (): boolean => readings.some(({ total }) => total > 0);
  const without = (refusal: RekapError | null): FoundListing => {
    const why = refusal?.message.replace(/\.$/, '') ?? 'it lists no record';
    warn(`the source gives no full listing (${why}); each known district is read by itself`);
    return { ...noListing, readings, refusal };
  };
  for (;;) {
    const listing = new FullListing(pages.pipeline);
    readings.push(listing);
    const strays: AcceptedPage[] = [];
    try {
      const { reported, refusal } = await pages.read({
        ...ofListing,
        take: (fetched, first) => strays.push(...holdRuns(pages, fetched, listing.add(fetched.page, first))),
      });
      if (listing.total > 0) {
        const isLanded = client.isResuming && (await isSameAsLanded(pages, listing, signal));
        if (client.isResuming && !isLanded) {
          const why = 'there is no landed listing of the same records, young enough and in pages of the same size';
          warn(`nothing is taken over from what was landed before: ${why}`);
        }
        return { listing, readings, strays, reported, refusal: null, isLanded };
      }
      if (!hasShown()) return without(refusal);
      throw new RekapError(
        'broken-reading',
        'The full listing had records at first, and has none now.',
        'The source is not steady. Run the sync again.',
      );
    } catch (error) {
      if (isRefusal(error) && !hasShown()) return without(error);
      if (!isRekapError(error, 'broken-reading') || readings.length === mostReadings) throw error;
      warn(`the full listing is read again: ${error.message.replace(/\.$/, '')}`);
    }
    for (const page of strays) page.release();
    await clock.sleep(firstPause * 2 ** (readings.length - 1), signal);
  }
}

const ofListing = { district: null, isOptional: false, leavesEndOpen: true, isAll: () => false } as const;

/**
 * Whether earlier runs have landed a listing of the same records. Otherwise a record that moved between two districts while today's listing
 * was read could be missing from all that counts.
 */
async function isSameAsLanded(pages: DatasetPages, listing: FullListing, signal: AbortSignal): Promise<boolean> {
  const reader = new RecordReader(pages.pipeline);
  const occurrences = new Occurrences();
  let [total, same] = [0, 0];
  const take = ({ page }: FetchedPage, first: number): void => {
    for (let row = first; row < page.records.length; row += 1) {
      reader.read(page, row);
      total += 1;
      if (listing.has(occurrences.add(reader.key))) same += 1;
    }
  };
  try {
    const landed = await pages.readLanded({ ...ofListing, take }, false);
    return landed !== null && same === listing.total && total === listing.total;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RekapError) return false;
    throw error;
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
