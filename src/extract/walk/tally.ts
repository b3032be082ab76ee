/** Counts what a walk brought: how many records, which distinct keys, in which order, and whether its pages overlap. */

import { FingerprintTable } from '../../records/fingerprint-table.ts';
import { keyPlaces, type AnyPipeline } from '../../pipeline.ts';
import type { Page } from '../../stages.ts';
import { fingerprintContent, fingerprintRecord, type Fingerprint } from '../scan/fingerprints.ts';

/** What two accounts of the same district are compared by. */
export interface Account {
  /** Records met, repeats and all. */
  readonly total: number;
  /** Distinct keys among them. */
  readonly distinct: number;
  /** A hash of the set of keys, whatever their order. */
  readonly set: string;
  /** A hash of the records' values, repeats and all, whatever their order. */
  readonly content: string;
}

/** Records that something has shown of a district, such as a list or a reading: whoever brings fewer of them has lost some. */
export interface Shown {
  /** What it is and did, as the beginning of a sentence. */
  readonly said: string;
  /** Distinct keys among them. */
  readonly distinct: number;
  /** Whether one of them has this key. */
  has(fingerprint: Fingerprint): boolean;
}

/** A set of keys as it grows: its size and a hash that does not depend on the order. */
export class KeySet {
  size = 0;
  private high = 0;
  private low = 0;

  add({ high, low }: Fingerprint): void {
    this.size += 1;
    // Sums of well-mixed hashes do not depend on the order of their terms.
    this.high = (this.high + Math.imul(high ^ (high >>> 15), 0x2c1b3c6d)) | 0;
    this.low = (this.low + Math.imul(low ^ (low >>> 15), 0x297a2d39)) | 0;
  }

  get hash(): string {
    return `${this.size}:${this.high >>> 0}:${this.low >>> 0}`;
  }
}

/** The values of an account's records, repeats and all. */
export class Contents {
  private readonly records = new KeySet();
  private readonly fingerprint = { high: 0, low: 0 };
  private readonly otherColumns: readonly number[];

  constructor(pipeline: AnyPipeline) {
    this.otherColumns = columnsBesideKey(pipeline);
  }

  /** @param key The record's own fingerprint. */
  add(page: Page, row: number, key: Fingerprint): void {
    fingerprintContent(page, row, key, this.otherColumns, this.fingerprint);
    this.records.add(this.fingerprint);
  }

  get hash(): string {
    return this.records.hash;
  }
}

function columnsBesideKey(pipeline: AnyPipeline): number[] {
  return Object.keys(pipeline.columns).flatMap((name, column) => (pipeline.key.includes(name) ? [] : [column]));
}

/** So many pages in a row may hold nothing but repeats. */
const pagesOfRepeats = 3;

/** Counts the records of one walk. */
export class Tally {
  total = 0;
  /** Whether a page brought a key that an earlier page had brought. */
  overlaps = false;
  private readonly keys = new KeySet();
  /** Keys met, each with the page that brought it first. */
  private readonly met = new FingerprintTable();
  private page = 1;
  /** First records of all pages, by their values: another record of the same key is no page that came before. */
  private readonly starts = new FingerprintTable();
  private readonly start = { high: 0, low: 0 };
  private startsAgain = false;
  private isAtStart = true;
  private newInPage = 1;
  private pagesWithoutNew = 0;
  private sequence = 0x811c9dc5;
  /** The fingerprint of the record that was added last; the next one overwrites it. */
  readonly latest: Fingerprint = { high: 0, low: 0 };
  private readonly keyColumns: readonly number[];
  private readonly otherColumns: readonly number[];

  constructor(pipeline: AnyPipeline) {
    this.otherColumns = columnsBesideKey(pipeline);
    this.keyColumns = keyPlaces(pipeline);
  }

  get distinct(): number {
    return this.keys.size;
  }

  /** A hash of the set of keys, whatever their order. */
  get set(): string {
    return this.keys.hash;
  }

  /** A hash of the keys in the order in which they came, repeats and all. */
  get order(): string {
    return `${this.total}:${this.sequence >>> 0}:${this.set}`;
  }

  /** Whether a key has been met. */
  has(fingerprint: Fingerprint): boolean {
    return this.met.has(fingerprint);
  }

  /** Begins a page: a repeat within one answer is the source's own, a repeat across two may mean that its pages slipped. */
  beginPage(): void {
    this.page += 1;
    this.isAtStart = true;
    this.startsAgain = false;
    this.pagesWithoutNew = this.newInPage === 0 ? this.pagesWithoutNew + 1 : 0;
    this.newInPage = 0;
  }

  /**
   * Whether the present page is one that came before: it brings no new key and begins as an earlier one does. Records that the source
   * holds twice may fill a page of their own; but not one after another.
   */
  get repeatsPage(): boolean {
    return !this.bringsNew && (this.startsAgain || this.pagesWithoutNew >= pagesOfRepeats);
  }

  /** Whether the present page brings a new key. */
  get bringsNew(): boolean {
    return this.newInPage > 0;
  }

  /** Adds a record; says whether its key is new. */
  add(page: Page, row: number): boolean {
    const fingerprint = this.latest;
    fingerprintRecord(page, row, this.keyColumns, fingerprint);
    this.total += 1;
    this.sequence = Math.imul(this.sequence ^ fingerprint.high ^ Math.imul(fingerprint.low, 0x85ebca6b), 0x01000193);
    if (this.isAtStart) {
      fingerprintContent(page, row, fingerprint, this.otherColumns, this.start);
      this.startsAgain = this.starts.meet(this.start, this.page) > 0;
      this.isAtStart = false;
    }
    const before = this.met.meet(fingerprint, this.page);
    if (before > 0) {
      if (before !== this.page) this.overlaps = true;
      return false;
    }
    this.newInPage += 1;
    this.keys.add(fingerprint);
    return true;
  }
}
