/** Reads one partition until two passes agree on all records that were found, at most four times. */

import { isRekapError, RekapError } from '../errors.ts';
import type { FetchedPage } from '../source/response-reader.ts';
import { concernsOnePartition } from '../source/source-messages.ts';
import type { AcceptedPage, AcceptedReading } from '../stages.ts';
import type { DatasetExtraction, Partition } from './dataset.ts';
import type { FullListing } from './full-listing.ts';
import type { DatasetPages } from './pages.ts';
import {
  judge,
  KeyOccurrences,
  maxPasses,
  neededPasses,
  nextPageSize,
  type PassResult,
  pauseAfter,
  type ProvedPass,
  RecordReader,
} from './prove.ts';
import { PassDigest } from '../kinds/content.ts';

/**
 * Reads a partition until it is proved or reported as incomplete; null if the decision needs all partitions.
 *
 * @param lookahead How many of its pages may be requested at a time.
 */
export async function readPartition(
  dataset: DatasetExtraction,
  id: string | null,
  lookahead: number,
): Promise<AcceptedReading | null> {
  const partition = dataset.begin(id);
  try {
    const proved = await provePartition(dataset, partition, lookahead);
    return proved === null ? dataset.deferEmpty(id) : dataset.accept(partition, proved);
  } catch (error) {
    dataset.options.signal.throwIfAborted();
    if (!concernsOnePartition(error)) throw error;
    return dataset.reject(partition, error);
  }
}

/**
 * Returns the pass that proves the partition; null if the partition seems empty and no full listing confirms it. Then the caller reads it
 * again later.
 *
 * @throws RekapError if four passes don't prove it, or no pass can.
 */
async function provePartition(
  { pages, options, listing, findings }: DatasetExtraction,
  partition: Partition,
  lookahead: number,
): Promise<ProvedPass | null> {
  const { id, seen, results, isOptional, isAgain } = partition;
  const { pager } = pages;
  const { clock, signal } = options;
  const ending = isAgain || findings.isListingShort ? null : listing;
  const total = id === null ? null : (listing?.of(id).total ?? null);
  for (;;) {
    partition.passes += 1;
    // A second call may start after the fourth pass.
    const isLast = partition.passes >= maxPasses;
    try {
      const size = pager.repages ? nextPageSize(results) : null;
      const [reading, end] = await pages.readPass(
        {
          partition: id,
          isOptional,
          mayBeRefused: false,
          size,
          isShortened: false,
          lookahead: { pages: lookahead, total },
        },
        () => new PartitionReading(pages, partition, ending),
      );
      const { digest, accepted, isProvedByListing, others } = reading;
      const newest = { total: digest.total, content: digest.content, longest: end.longest };
      const needed = id === null || !pager.showsGaps ? 2 : neededPasses(listing, end.pages);
      const judged = isProvedByListing
        ? { agreeing: [newest] }
        : judge({ newest, earlier: results, seen: seen.size, needed, repages: pager.repages });
      if ('agreeing' in judged)
        return {
          ...end,
          ...(isProvedByListing && { end: 'listing' }),
          // Other kinds of paging detect a cap themselves.
          isFull: end.isFull && pager.showsGaps,
          proof: isProvedByListing ? 'full listing' : 'own end',
          ...proofOf(judged.agreeing),
          digest,
          others: others.content,
          accepted,
        };
      const isSteady = results.every(({ content }) => content === newest.content);
      results.push(newest);
      for (const page of accepted) page.release();
      if (!isAgain && seen.size === 0) return null;
      if (isLast)
        throw new RekapError(
          'unprovable-source',
          `It was read ${partition.passes} times: ${judged.missing}.`,
          'The source leaves out records, or changed during the sync. Run the sync again.',
        );
      if (isSteady) continue;
    } catch (error) {
      if (!isRekapError(error, 'broken-reading') || isLast) throw error;
    }
    await clock.sleep(pauseAfter(partition.passes), signal);
  }

  /** Returns grade and page sizes of passes that agree. With a single pass, the grade is that of the listing. */
  function proofOf(agreeing: readonly PassResult[]): Pick<ProvedPass, 'grade' | 'pageSizes'> {
    const pageSizes = agreeing.flatMap(({ longest }) => longest ?? []);
    const sizesDiffer = new Set(pageSizes).size > 1;
    const isListed = listing !== null && pageSizes.length === 1;
    return {
      pageSizes,
      grade: isListed ? listing.grade : pager.grade({ records: agreeing.at(-1)!.total, sizesDiffer }),
    };
  }
}

/** The records of one pass over a partition. */
class PartitionReading {
  readonly digest: PassDigest;
  /** Of the records without the value of the request, if they take it from there. */
  readonly others: PassDigest;
  readonly keys = new KeyOccurrences();
  readonly accepted: AcceptedPage[] = [];
  /** True if the first page has exactly the records of the full listing, and the listing shows that there are no others. */
  isProvedByListing = false;
  private readonly pages: DatasetPages;
  private readonly partition: Partition;
  private readonly reader: RecordReader;
  private readonly listing: FullListing | null;

  /** @param listing The full listing, if it may end the pass. */
  constructor(pages: DatasetPages, partition: Partition, listing: FullListing | null) {
    this.pages = pages;
    this.partition = partition;
    this.listing = listing;
    this.digest = new PassDigest(pages.contents);
    this.others = new PassDigest(pages.contents);
    this.reader = new RecordReader(pages.pipeline, pages.names);
  }

  add(fetched: FetchedPage, first: number): void {
    const { pages, reader, digest, keys, listing } = this;
    const { id, seen } = this.partition;
    const { page } = fetched;
    const { length } = page.records;
    for (let row = first; row < length; row += 1) {
      reader.read(page, row);
      if (id !== null && reader.partition === null) continue;
      if (id !== null && reader.partition !== id) throw foreignRecord(page.url, id, reader.partition!);
      digest.add(pages.contents.of(page, row));
      if (pages.requestColumns.length > 0) this.others.add(pages.contents.ofOthers(page, row, pages.requestColumns));
      seen.add(keys.add(reader.key));
    }
    this.accepted.push(pages.hold(fetched, first, length - first));
    this.isProvedByListing =
      first === 0 &&
      id !== null &&
      listing !== null &&
      listing.showsEndOf(id) &&
      length < listing.pageLength &&
      digest.content === listing.of(id).content &&
      digest.total === seen.size;
  }
}

function foreignRecord(url: string, requested: string, found: string): RekapError {
  return new RekapError(
    'broken-reading',
    `The response of ${url} contains a record of partition ${found}, not of partition ${requested}.`,
    'The source does not filter by partition. Contact the operator of the service.',
  );
}
