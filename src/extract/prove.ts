/**
 * Decides whether a partition is complete: two passes must have found all records that any pass has found, with the same values. The part
 * of the full listing counts as a pass. Pure, so that every case is a test.
 */

import { hash } from 'node:crypto';
import { type AnyPipeline, keyPlaces, placeOf } from '../project/declaration.ts';
import type { Column } from '../kinds/kind.ts';
import { kindOf } from '../kinds/kinds.ts';
import { readText } from '../kinds/read-field.ts';
import {
  addRecord,
  type Fingerprint,
  fingerprintRecord,
  FingerprintTable,
  headOf,
  type ValueSink,
} from '../kinds/fingerprints.ts';
import type { Page } from '../stages.ts';

export const maxPasses = 4;

/** Hashes the declared values of records with a key, so that a source can't choose records whose hashes cancel in a sum. */
export class ContentHash implements ValueSink {
  /** 16 hexadecimal digits. */
  readonly key: string;
  private input = Buffer.alloc(4096);
  private length = 0;

  constructor(key: string) {
    this.key = key;
    this.input.write(key, 'hex');
  }

  /** Returns the SHA-256 of key and record, as a string of bytes. */
  of(page: Page, row: number): string {
    this.length = this.key.length / 2;
    addRecord(page, row, this);
    return hash('sha256', this.input.subarray(0, this.length), 'binary');
  }

  add(kind: number, bytes: Uint8Array, start: number, end: number): void {
    const to = this.length + 4;
    this.length = to + end - start;
    if (this.length > this.input.length) this.input = Buffer.concat([this.input], 2 * this.length);
    this.input.writeInt32LE(headOf(kind, end - start), to - 4);
    // A loop is faster for short values.
    if (end - start > 64) this.input.set(bytes.subarray(start, end), to);
    else for (let at = start; at < end; at += 1) this.input[to + at - start] = bytes[at]!;
  }
}

/** A digest to compare two passes. Records are added one by one. */
export class PassDigest {
  total = 0;
  private readonly key: string;
  /** Sums of the 16-bit words of the hashes, exact for 2^37 records. */
  private readonly sums = [0, 0, 0, 0, 0, 0, 0, 0];

  constructor({ key }: Pick<ContentHash, 'key'>) {
    this.key = key;
  }

  /** @param bytes As `ContentHash` returns it. Its first 128 bits are added. */
  add(bytes: string): void {
    this.total += 1;
    for (let word = 0; word < 8; word += 1)
      this.sums[word]! += (bytes.charCodeAt(2 * word) << 8) | bytes.charCodeAt(2 * word + 1);
  }

  /** Key, number and sum of the hashes in hexadecimal, the same for any order. Only contents with the same key can be compared. */
  get content(): string {
    const sum = this.sums.reduce((whole, word) => (whole << 16n) + BigInt(word), 0n);
    return `${this.key}-${this.total.toString(16)}-${sum.toString(16)}`;
  }
}

/** A complete pass over a list. */
export interface PassResult {
  readonly total: number;
  readonly content: string;
  /** Records of its longest page; null for the part of the full listing. */
  readonly longest: number | null;
}

export interface Evidence {
  readonly newest: PassResult;
  readonly earlier: readonly PassResult[];
  readonly seen: number;
  readonly needed: number;
  /** True if each second pass requests pages of another size. */
  readonly repages: boolean;
}

/** The passes that agree, or what is missing, as the end of a sentence. */
export type Judgement = { readonly agreeing: readonly PassResult[] } | { readonly missing: string };

/**
 * Judges whether a list is complete. Passes with pages of the same size repeat a fault of the paging, so if the sizes of passes differ, those
 * of the agreeing passes must.
 */
export function judge({ newest, earlier, seen, needed, repages }: Evidence): Judgement {
  if (newest.total < seen) {
    const size = repages ? `, with pages of ${newest.longest},` : '';
    return {
      missing: `all passes together found ${seen} records, but the last pass${size} found only ${newest.total}`,
    };
  }
  const whole = earlier.filter(({ total }) => total === seen);
  const agreeing = [...whole.filter(({ content }) => content === newest.content), newest];
  if (agreeing.length < needed)
    return {
      missing:
        agreeing.length <= whole.length
          ? 'its passes found the same records with different values'
          : `only ${agreeing.length} of its passes found all ${seen} records, but ${needed} are required`,
    };
  const other = earlier.find((pass) => isRepageable(pass) && pass.longest !== newest.longest);
  if (!repages || sizesOf(agreeing).size > 1 || agreeing.some(({ longest }) => longest === null) || other === undefined)
    return { agreeing };
  return {
    missing: `passes with pages of ${newest.longest} records found ${newest.total} records, but passes with pages of ${other.longest} found ${other.total}. The source may count pages from another number, or skip records between pages`,
  };
}

/** Returns whether a pass had pages that the next pass can shorten. */
export function isRepageable({ longest }: PassResult): boolean {
  return longest !== null && longest >= 2;
}

/** Returns the different page sizes of passes. */
export function sizesOf(passes: readonly PassResult[]): Set<number> {
  return new Set(passes.flatMap(({ longest }) => (longest === null ? [] : [longest])));
}

/**
 * Returns how many passes must agree. Two, except in two cases that need three: the page lengths of the listing vary, so a page of one record
 * doesn't show the end; or the partition has several pages and no ordered listing confirms them.
 */
export function neededPasses(listing: { isOrderly: boolean; pagesVary: boolean } | null, pages: number): number {
  return listing?.pagesVary === true || (pages > 1 && listing?.isOrderly !== true) ? 3 : 2;
}

/** Reads partition and key of a record into its fields. The next record overwrites them. */
export class RecordReader {
  partition: string | null = null;
  /** Fingerprint of the key, or of the whole record if the key is missing. */
  readonly key: Fingerprint = { high: 0, low: 0 };
  private readonly partitionColumn: Column | null;
  private readonly partitionPlace: number;
  private readonly namePlace: number;
  private readonly names: Map<string, string>;
  private readonly keyColumns: readonly number[];

  /** @param names Receives the names of partitions, from the first record of each. */
  constructor(pipeline: AnyPipeline, names = new Map<string, string>()) {
    const { partition } = pipeline;
    this.names = names;
    this.partitionPlace = partition === undefined ? -1 : placeOf(pipeline, partition.column);
    this.namePlace = partition?.name === undefined ? -1 : placeOf(pipeline, partition.name);
    this.partitionColumn = partition === undefined ? null : kindOf(pipeline.columns[partition.column]!).newColumn(1);
    this.keyColumns = keyPlaces(pipeline);
  }

  read(page: Page, row: number): void {
    this.partition = page.records.isObject[row] === 1 ? this.partitionOf(page, row) : null;
    if (this.namePlace >= 0 && this.partition !== null && !this.names.has(this.partition))
      this.names.set(this.partition, readText(page, row, this.namePlace) ?? '');
    fingerprintRecord(page, row, this.keyColumns, this.key);
  }

  private partitionOf(page: Page, row: number): string | null {
    const { partitionColumn: column } = this;
    return column === null || column.fill(page, row, this.partitionPlace, 0) !== 0 ? null : String(column.value(0));
  }
}

/** Numbers repeats of a key, so that duplicates count as distinct elements of a set. */
export class KeyOccurrences {
  hasRepeats = false;
  private readonly counts = new FingerprintTable();
  private readonly element: Fingerprint = { high: 0, low: 0 };

  /** Counts a key. Returns its element, which the next call overwrites. */
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
