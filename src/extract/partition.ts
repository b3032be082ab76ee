/** Reads one partition until two passes agree on all records that were found, at most four times. */

import { isRekapError, RekapError } from '../errors.ts';
import type { AcceptedPage, Grade } from '../stages.ts';
import type { ExtractOptions } from './extract-options.ts';
import type { FullListing, SeenRecords } from './full-listing.ts';
import type { DatasetPages } from './pages.ts';
import {
  isRepageable,
  judge,
  type Judgement,
  type PassResult,
  maxPasses,
  neededPasses,
  KeyOccurrences,
  RecordReader,
  sizesOf,
} from './prove.ts';
import { PassDigest } from '../kinds/content.ts';
import { type PassEnd, PassTally, repeatedRecord, StartOver } from '../source/paging/pass.ts';

/** Milliseconds before the next pass if passes disagree, doubled each time. The pauses of a partition take at most 3.5 s in total. */
const firstPause = 500;

export interface Partition {
  readonly id: string | null;
  readonly seen: SeenRecords;
  /** The complete passes, starting with the part of the full listing. */
  readonly complete: PassResult[];
  passes: number;
  /** True if only the reference list names the partition. */
  readonly isOptional: boolean;
  /** How many of its pages may be requested at a time. */
  readonly lookahead: number;
}

export interface PartitionPass extends PassEnd {
  readonly proof: 'own end' | 'full listing';
  readonly digest: PassDigest;
  readonly accepted: readonly AcceptedPage[];
}

/** A pass that proves its partition, with the strength of the proof. */
export interface ProvedPass extends PartitionPass {
  readonly grade: Grade;
  /** Records of the longest page in each pass that agrees. */
  readonly pageSizes: readonly number[];
}

export class PartitionReader {
  private readonly pages: DatasetPages;
  private readonly options: ExtractOptions;
  private readonly listing: FullListing | null;
  private readonly mayEndOnListing: boolean;
  private readonly reader: RecordReader;

  constructor(pages: DatasetPages, options: ExtractOptions, listing: FullListing | null, mayEndOnListing: boolean) {
    this.pages = pages;
    this.options = options;
    this.listing = listing;
    this.mayEndOnListing = mayEndOnListing;
    this.reader = new RecordReader(pages.pipeline, pages.names);
  }

  /**
   * Returns the pass that proves the partition; null if the partition seems empty and no full listing confirms it. Then the caller reads it
   * again later.
   *
   * @throws RekapError if four passes don't prove it, or no pass can.
   */
  async read(partition: Partition): Promise<ProvedPass | null> {
    const { complete, seen } = partition;
    const isFirst = partition.passes === 0;
    for (;;) {
      partition.passes += 1;
      // A second call may start after the fourth pass.
      const isLast = partition.passes >= maxPasses;
      try {
        const own = await this.readOnce(partition);
        const result = { total: own.digest.total, content: own.digest.content, longest: own.longest };
        const judged = this.judge(own, result, partition);
        if ('agreeing' in judged) return this.prove(own, judged.agreeing);
        const { missing } = judged;
        const isSteady = complete.every(({ content }) => content === result.content);
        complete.push(result);
        for (const page of own.accepted) page.release();
        if (isFirst && seen.size === 0) return null;
        if (isLast)
          throw new RekapError(
            'unprovable-source',
            `It was read ${partition.passes} times: ${missing}.`,
            'The source leaves out records, or changed during the sync. Run the sync again.',
          );
        if (!isSteady) await this.pause(partition);
      } catch (error) {
        if (!isRekapError(error, 'broken-reading') || isLast) throw error;
        await this.pause(partition);
      }
    }
  }

  /** Waits, so that a short outage is over before the next pass. */
  private pause({ passes }: Partition): Promise<void> {
    return this.options.clock.sleep(firstPause * 2 ** (passes - 1), this.options.signal);
  }

  private judge({ proof, pages }: PartitionPass, newest: PassResult, { id, complete, seen }: Partition): Judgement {
    if (proof === 'full listing') return { agreeing: [newest] };
    const { showsGaps, repages } = this.pages.pager;
    const needed = id === null || !showsGaps ? 2 : neededPasses(this.listing, pages);
    return judge({ newest, earlier: complete, seen: seen.size, needed, repages });
  }

  private prove(own: PartitionPass, agreeing: readonly PassResult[]): ProvedPass {
    const sizes = agreeing.flatMap(({ longest }) => (longest === null ? [] : [longest]));
    const grade =
      this.listing !== null && sizes.length === 1
        ? // With a single pass, the proof is that of the listing.
          this.listing.grade
        : this.pages.pager.grade({ records: own.digest.total, sizesDiffer: sizesOf(agreeing).size > 1 });
    return { ...own, grade, pageSizes: sizes };
  }

  /** Returns the page size: in every second pass, one record fewer than the longest page of the first pass. */
  private sizeOf({ complete }: Partition): number | null {
    const repageable = complete.filter(isRepageable);
    const first = repageable[0]?.longest ?? null;
    if (!this.pages.pager.repages || first === null) return null;
    return repageable.length % 2 === 1 ? first - 1 : first;
  }

  private async readOnce(
    partition: Partition,
    size = this.sizeOf(partition),
    isShortened = false,
  ): Promise<PartitionPass> {
    const { id, isOptional, seen } = partition;
    const { reader, pages } = this;
    const tally = new PassTally(this.options.maxRecords);
    const digest = new PassDigest(pages.contents);
    const occurrences = new KeyOccurrences();
    const accepted: AcceptedPage[] = [];
    let proof: PartitionPass['proof'] = 'own end';
    try {
      const lookahead = {
        pages: partition.lookahead,
        total: id === null ? null : (this.listing?.of(id).total ?? null),
      };
      const pass = { partition: id, isOptional, mayBeRefused: false, size, isShortened, lookahead };
      for await (const passPage of pages.read(pass)) {
        if (!tally.add(passPage)) continue;
        const { fetched, first } = passPage;
        const { page } = fetched;
        const { length } = page.records;
        for (let row = first; row < length; row += 1) {
          reader.read(page, row);
          if (id !== null && reader.partition === null) continue;
          if (id !== null && reader.partition !== id) throw foreignRecord(page.url, id, reader.partition!);
          digest.add(pages.contents.of(page, row));
          seen.add(occurrences.add(reader.key));
        }
        if (occurrences.hasRepeats && pages.pager.movesRecords) throw repeatedRecord(page.url);
        accepted.push(pages.hold(fetched, first, length - first));
        if (first > 0 || !this.isWhole(partition, digest, length)) continue;
        proof = 'full listing';
        break;
      }
      const end = tally.end();
      // Other kinds of paging detect a cap themselves.
      const isFull = end.isFull && pages.pager.showsGaps;
      return { ...end, ...(proof === 'full listing' && { end: 'listing' }), isFull, proof, digest, accepted };
    } catch (error) {
      for (const page of accepted) page.release();
      if (error instanceof StartOver) return this.readOnce(partition, error.size, error.why === 'short list');
      throw error;
    }
  }

  /** Returns whether the first page has exactly the records of the full listing, and the listing shows that there are no others. */
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
