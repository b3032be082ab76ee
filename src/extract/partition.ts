/** Reads one partition again and again until two readings agree on everything that was seen, four times at most. */

import { isRekapError, RekapError } from '../errors.ts';
import type { AcceptedPage, Grade } from '../stages.ts';
import type { ExtractOptions } from './extract-options.ts';
import type { FullListing, SeenRecords } from './full-listing.ts';
import type { DatasetPages } from './pages.ts';
import { PassDigest, missingFrom, mostReadings, neededReadings, KeyOccurrences, RecordReader } from './prove.ts';
import { type PassEnd, PassTally, repeatedRecord, StartOver } from '../source/paging/pass.ts';

/**
 * Milliseconds before a partition is read again whose readings disagree; doubled each time. A pause follows the first three readings at most,
 * so that all pauses of a partition together take no more than 3.5 s.
 */
const firstPause = 500;

/** A partition, and what its readings have brought so far. */
export interface Partition {
  /** Null for all records of a dataset that has no partitions. */
  readonly id: string | null;
  readonly seen: SeenRecords;
  /** Of the readings that came to their end, the full listing's part first. */
  readonly digests: PassDigest[];
  /** How often it was read by itself. */
  readings: number;
  /** The longest page of each of these readings that came to its end. */
  readonly longest: number[];
  /** Whether nothing but the law names it. */
  readonly isOptional: boolean;
}

/** A partition's own reading, with what it brought. */
export interface OwnReading extends PassEnd {
  readonly proof: 'own end' | 'full listing';
  readonly digest: PassDigest;
  /** How strong the proof is. */
  readonly grade: Grade;
  readonly accepted: readonly AcceptedPage[];
}

export class PartitionReader {
  private readonly pages: DatasetPages;
  private readonly options: ExtractOptions;
  private readonly listing: FullListing | null;
  private readonly mayEndOnListing: boolean;
  private readonly reader: RecordReader;

  /** @param mayEndOnListing Whether a reading may end where it holds just what the full listing has of the partition. */
  constructor(pages: DatasetPages, options: ExtractOptions, listing: FullListing | null, mayEndOnListing: boolean) {
    this.pages = pages;
    this.options = options;
    this.listing = listing;
    this.mayEndOnListing = mayEndOnListing;
    this.reader = new RecordReader(pages.pipeline);
  }

  /**
   * Gives the reading that proves the partition; null where it seems to have no records, and no full listing confirms that: then it is to
   * be read once more when time has passed.
   *
   * @throws RekapError where four readings do not prove it, or none can.
   */
  async read(partition: Partition): Promise<OwnReading | null> {
    const { digests, seen, longest } = partition;
    const isFirst = partition.readings === 0;
    for (;;) {
      partition.readings += 1;
      // A second visit may begin after the fourth reading.
      const isLast = partition.readings >= mostReadings;
      try {
        const own = await this.readOnce(partition);
        const lack = this.missingFrom(own, partition);
        if (lack === null) return own;
        longest.push(own.longest);
        const isSteady = digests.every(({ content }) => content === own.digest.content);
        digests.push(own.digest);
        for (const page of own.accepted) page.release();
        if (isFirst && seen.size === 0) return null;
        if (isLast)
          throw new RekapError(
            'unprovable-source',
            `It was read ${partition.readings} times: ${lack}.`,
            'The source leaves out records, or changed during the sync. Run the sync again.',
          );
        if (!isSteady) await this.pause(partition);
      } catch (error) {
        if (!isRekapError(error, 'broken-reading') || isLast) throw error;
        await this.pause(partition);
      }
    }
  }

  /** What a source shows for a moment, such as an outage, is over by the next reading. */
  private pause({ readings }: Partition): Promise<void> {
    return this.options.clock.sleep(firstPause * 2 ** (readings - 1), this.options.signal);
  }

  private missingFrom({ proof, digest, pages }: OwnReading, { id, digests, seen }: Partition): string | null {
    if (proof === 'full listing') return null;
    // A list without partitions is proved by two passes, whatever its pages are.
    const needed = id === null || !this.pages.pager.showsGaps ? 2 : neededReadings(this.listing, pages);
    return missingFrom({ newest: digest, earlier: digests, seen: seen.size, needed });
  }

  /** Records to ask for at a time: in every second reading one fewer than the first one's longest page had. */
  private sizeOf({ readings, longest: [first = 0] }: Partition): number | null {
    if (!this.pages.pager.repages || first < 2) return null;
    return readings % 2 === 0 ? first - 1 : first;
  }

  private gradeOf({ longest }: Partition, newest: number): Grade {
    // What two readings of its own do not show, the listing's readings do.
    return this.listing !== null && longest.length === 0
      ? this.listing.grade
      : this.pages.pager.grade([...longest, newest]);
  }

  private async readOnce(partition: Partition, size = this.sizeOf(partition)): Promise<OwnReading> {
    const { id, isOptional, seen } = partition;
    const { reader, pages } = this;
    const tally = new PassTally(this.options.maxRecords);
    const digest = new PassDigest();
    const occurrences = new KeyOccurrences();
    const accepted: AcceptedPage[] = [];
    let proof: OwnReading['proof'] = 'own end';
    try {
      for await (const passPage of pages.read({ partition: id, isOptional, mayBeRefused: false, size })) {
        if (!tally.add(passPage)) continue;
        const { fetched, first } = passPage;
        const { page } = fetched;
        const { length } = page.records;
        for (let row = first; row < length; row += 1) {
          reader.read(page, row);
          // Of a partition, the full listing has the records that name none.
          if (id !== null && reader.partition === null) continue;
          if (id !== null && reader.partition !== id) throw foreignRecord(page.url, id, reader.partition!);
          digest.add(reader.content);
          seen.add(occurrences.add(reader.key));
        }
        if (occurrences.hasRepeats && pages.pager.movesRecords) throw repeatedRecord(page.url);
        accepted.push(pages.hold(fetched, first, length - first));
        if (first > 0 || !this.isWhole(partition, digest, length)) continue;
        proof = 'full listing';
        break;
      }
      const end = tally.end();
      // In other kinds of paging, a cap shows by itself.
      const isFull = end.isFull && pages.pager.showsGaps;
      return { ...end, isFull, proof, digest, accepted, grade: this.gradeOf(partition, end.longest) };
    } catch (error) {
      for (const page of accepted) page.release();
      if (error instanceof StartOver) return this.readOnce(partition, error.size);
      throw error;
    }
  }

  /** Returns whether the first page has just what the full listing has of the partition, and the listing shows that this is all. */
  private isWhole({ id, seen }: Partition, digest: PassDigest, length: number): boolean {
    const { listing } = this;
    return (
      this.mayEndOnListing &&
      id !== null &&
      listing?.hasLeftBehind(id) === true &&
      length < listing.pageLength &&
      digest.content === listing.of(id).content &&
      digest.total === seen.size
    );
  }
}

function foreignRecord(url: string, requested: string, found: string): RekapError {
  return new RekapError(
    'broken-reading',
    `The response of ${url} contains a record of partition ${found}, not of partition ${requested}.`,
    'The source does not filter by partition. Contact the operator of the service.',
  );
}
