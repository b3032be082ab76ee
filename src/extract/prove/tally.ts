/** Counts the records of one reading: which keys came, how often each, and with which values. */

import { keyPlaces, placeOf, type AnyPipeline } from '../../pipeline.ts';
import { FingerprintTable } from '../../records/fingerprint-table.ts';
import { readInteger } from '../../records/fields.ts';
import type { Page } from '../../stages.ts';
import { fingerprintContent, fingerprintRecord, type Fingerprint } from '../scan/fingerprints.ts';

/** What two readings of a district are compared by. */
export interface Account {
  /** Records, repeats and all. */
  readonly total: number;
  /** A hash of the records' keys and values, repeats and all, whatever their order. */
  readonly content: string;
}

/** Grows by one record after the other. */
export class GrowingAccount implements Account {
  total = 0;
  private high = 0;
  private low = 0;

  add({ high, low }: Fingerprint): void {
    this.total += 1;
    // Sums of well-mixed hashes do not depend on the order of their terms.
    this.high = (this.high + Math.imul(high ^ (high >>> 15), 0x2c1b3c6d)) | 0;
    this.low = (this.low + Math.imul(low ^ (low >>> 15), 0x297a2d39)) | 0;
  }

  get content(): string {
    return `${this.total}:${this.high >>> 0}:${this.low >>> 0}`;
  }
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
