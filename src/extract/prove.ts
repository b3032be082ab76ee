/**
 * The one rule: a district is complete when two readings of it have brought everything that any reading of it has brought, with the same
 * values. The full listing's part of it is a reading. Pure, so that every case is a test.
 */

import { type AnyPipeline, keyPlaces, placeOf } from '../pipeline.ts';
import { readInteger } from '../records/fields.ts';
import { type Fingerprint, fingerprintContent, fingerprintRecord, FingerprintTable } from '../records/fingerprints.ts';
import type { Page } from '../stages.ts';

/** How often a district, or the full listing, is read before it counts as incomplete. */
export const mostReadings = 4;

/** What two readings of a district are compared by: grows by one record after the other. */
export class Account {
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
  readonly newest: Pick<Account, 'total' | 'content'>;
  /** What the readings before it brought, the full listing's part among them; without those that came to nothing. */
  readonly earlier: readonly Pick<Account, 'total' | 'content'>[];
  /** How many records any reading has shown. */
  readonly shown: number;
  /** How many readings must agree. */
  readonly needed: number;
}

/** Null where the district is complete; else what is missing, as the end of a sentence. */
export function lackOf({ newest, earlier, shown, needed }: Evidence): string | null {
  if (newest.total < shown)
    return `all passes together found ${shown} records, but the last pass found only ${newest.total}`;
  const whole = earlier.filter(({ total }) => total === shown);
  const agreeing = whole.filter(({ content }) => content === newest.content);
  if (agreeing.length + 1 >= needed) return null;
  return agreeing.length < whole.length
    ? 'its passes found the same records with different values'
    : `only ${agreeing.length + 1} of its passes found all ${shown} records, but ${needed} must`;
}

/**
 * How many readings must agree: two. Three where the listing's pages vary in length, since a page of one record then shows no end, and where
 * a district takes several pages and no orderly listing stands beside them.
 */
export function neededReadings(listing: { isOrderly: boolean; pagesVary: boolean } | null, pages: number): number {
  return listing?.pagesVary === true || (pages > 1 && listing?.isOrderly !== true) ? 3 : 2;
}

/** Reads what records are told apart by. What it has read last stands in its fields; the next record overwrites it. */
export class RecordReader {
  /** The district that the record names; null where it names none. */
  district: number | null = null;
  /** The key; of a record without one, all that it is. */
  readonly key: Fingerprint = { high: 0, low: 0 };
  /** The key and all values. */
  readonly content: Fingerprint = { high: 0, low: 0 };
  private readonly districtColumn: number;
  private readonly keyColumns: readonly number[];
  private readonly otherColumns: readonly number[];

  constructor(pipeline: AnyPipeline) {
    this.districtColumn = placeOf(pipeline, pipeline.district);
    this.keyColumns = keyPlaces(pipeline);
    this.otherColumns = Object.keys(pipeline.columns).flatMap((name, column) =>
      pipeline.key.includes(name) ? [] : [column],
    );
  }

  read(page: Page, row: number): void {
    const district = page.records.isObject[row] === 1 ? readInteger(page, row, this.districtColumn) : -1;
    this.district = district < 0 ? null : district;
    fingerprintRecord(page, row, this.keyColumns, this.key);
    fingerprintContent(page, row, this.key, this.otherColumns, this.content);
  }
}

/**
 * Makes a set of what may come several times: the second record of a key is another element than the first. So "everything that came, as
 * often as it came" is a question of sets.
 */
export class Occurrences {
  private readonly counts = new FingerprintTable();
  private readonly element: Fingerprint = { high: 0, low: 0 };

  /** Counts a key; gives the element that it is this time, which the next one overwrites. */
  add(key: Fingerprint): Fingerprint {
    const occurrence = this.counts.count(key);
    this.element.high = key.high;
    this.element.low = key.low ^ Math.imul(occurrence - 1, 0x9e3779b1);
    if (occurrence > 1) this.counts.count(this.element);
    return this.element;
  }

  has(element: Fingerprint): boolean {
    return this.counts.has(element);
  }
}
