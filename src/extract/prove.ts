/**
 * The one rule: a partition is complete when two readings of it have brought everything that any reading of it has brought, with the same
 * values. The full listing's part of it is a reading. Pure, so that every case is a test.
 */

import { type AnyPipeline, keyPlaces, placeOf } from '../project/declaration.ts';
import type { Column } from '../kinds/kind.ts';
import { kindOf } from '../kinds/kinds.ts';
import { type Fingerprint, fingerprintContent, fingerprintRecord, FingerprintTable } from '../kinds/fingerprints.ts';
import type { Page } from '../stages.ts';

/** How often a partition, or the full listing, is read before it counts as incomplete. */
export const mostReadings = 4;

/** What two readings of a partition are compared by: grows by one record after the other. */
export class PassDigest {
  /** Records, repeats and all. */
  total = 0;
  private high = 0;
  private low = 0;

  add({ high, low }: Fingerprint): void {
    this.total += 1;
    // Sums of well-mixed hashes do not depend on the order of their terms.
    this.high = (this.high + Math.imul(high ^ (high >>> 15), 0x2c1b3c6d)) | 0;
    this.low = (this.low + Math.imul(low ^ (low >>> 15), 0x297a2d39)) | 0;
  }

  /** A hash of the records' keys and values, repeats and all, whatever their order. */
  get content(): string {
    return `${this.total}:${this.high >>> 0}:${this.low >>> 0}`;
  }
}

export interface Evidence {
  /** What the newest reading brought. */
  readonly newest: Pick<PassDigest, 'total' | 'content'>;
  /** What the readings before it brought, the full listing's part among them; without those that came to nothing. */
  readonly earlier: readonly Pick<PassDigest, 'total' | 'content'>[];
  /** How many records any reading has seen. */
  readonly seen: number;
  /** How many readings must agree. */
  readonly needed: number;
}

/** Null where the partition is complete; else what is missing, as the end of a sentence. */
export function missingFrom({ newest, earlier, seen, needed }: Evidence): string | null {
  if (newest.total < seen)
    return `all passes together found ${seen} records, but the last pass found only ${newest.total}`;
  const whole = earlier.filter(({ total }) => total === seen);
  const agreeing = whole.filter(({ content }) => content === newest.content);
  if (agreeing.length + 1 >= needed) return null;
  return agreeing.length < whole.length
    ? 'its passes found the same records with different values'
    : `only ${agreeing.length + 1} of its passes found all ${seen} records, but ${needed} must`;
}

/**
 * How many readings must agree: two. Three where the listing's pages vary in length, since a page of one record then shows no end, and where
 * a partition takes several pages and no orderly listing stands beside them.
 */
export function neededReadings(listing: { isOrderly: boolean; pagesVary: boolean } | null, pages: number): number {
  return listing?.pagesVary === true || (pages > 1 && listing?.isOrderly !== true) ? 3 : 2;
}

/** Reads what records are told apart by. What it has read last stands in its fields; the next record overwrites it. */
export class RecordReader {
  /** The partition that the record names; null where it names none, and where the dataset has no partitions. */
  partition: string | null = null;
  /** The key; of a record without one, all that it is. */
  readonly key: Fingerprint = { high: 0, low: 0 };
  /** The key and all values. */
  readonly content: Fingerprint = { high: 0, low: 0 };
  private readonly partitionColumn: Column | null;
  private readonly partitionPlace: number;
  private readonly keyColumns: readonly number[];
  private readonly otherColumns: readonly number[];

  constructor(pipeline: AnyPipeline) {
    const { partition } = pipeline;
    this.partitionPlace = partition === undefined ? -1 : placeOf(pipeline, partition.column);
    this.partitionColumn = partition === undefined ? null : kindOf(pipeline.columns[partition.column]!).newColumn(1);
    this.keyColumns = keyPlaces(pipeline);
    this.otherColumns = Object.keys(pipeline.columns).flatMap((name, column) =>
      pipeline.key.includes(name) ? [] : [column],
    );
  }

  read(page: Page, row: number): void {
    this.partition = page.records.isObject[row] === 1 ? this.partitionOf(page, row) : null;
    fingerprintRecord(page, row, this.keyColumns, this.key);
    fingerprintContent(page, row, this.key, this.otherColumns, this.content);
  }

  /** As the table has it: 07 is 7. */
  private partitionOf(page: Page, row: number): string | null {
    const { partitionColumn: column } = this;
    return column === null || column.fill(page, row, this.partitionPlace, 0) !== 0 ? null : String(column.value(0));
  }
}

/**
 * Makes a set of what may come several times: the second record of a key is another element than the first. So "everything that came, as
 * often as it came" is a question of sets.
 */
export class KeyOccurrences {
  /** Whether any key came twice. */
  hasRepeats = false;
  private readonly counts = new FingerprintTable();
  private readonly element: Fingerprint = { high: 0, low: 0 };

  /** Counts a key; gives the element that it is this time, which the next one overwrites. */
  add(key: Fingerprint): Fingerprint {
    const occurrence = this.counts.count(key);
    this.hasRepeats ||= occurrence > 1;
    this.element.high = key.high;
    this.element.low = key.low ^ Math.imul(occurrence - 1, 0x9e3779b1);
    if (occurrence > 1) this.counts.count(this.element);
    return this.element;
  }

  has(element: Fingerprint): boolean {
    return this.counts.has(element);
  }
}
