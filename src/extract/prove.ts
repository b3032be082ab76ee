/**
 * Decides whether a partition is complete: two passes must have found all records that any pass has found, with the same values. The part
 * of the full listing counts as a pass. Pure, so that every case is a test.
 */

import { type AnyPipeline, keyPlaces, placeOf } from '../project/declaration.ts';
import { joinPartition, partitionParameters } from '../project/partition-list.ts';
import type { Column } from '../kinds/column.ts';
import { kindOf } from '../kinds/kinds.ts';
import { readText } from '../kinds/read-field.ts';
import type { PassDigest } from '../kinds/content.ts';
import { type Fingerprint, fingerprintRecord, FingerprintTable } from '../kinds/fingerprints.ts';
import type { PassEnd } from '../source/paging/pass.ts';
import type { AcceptedPage, Grade, Page } from '../stages.ts';

export const maxPasses = 4;

/** Milliseconds before the second pass if passes disagree, doubled for each further one: a short outage is then over. */
const firstPause = 500;

/** A complete pass over a list. */
export interface PassResult {
  readonly total: number;
  readonly content: string;
  /** Records of its longest page; null for the part of the full listing. */
  readonly longest: number | null;
}

/** A pass that proves its partition, with the strength of the proof. */
export interface ProvedPass extends PassEnd {
  readonly proof: 'own end' | 'full listing';
  readonly digest: PassDigest;
  /** Content of the records without the value of the request. */
  readonly others: string;
  readonly accepted: readonly AcceptedPage[];
  readonly grade: Grade;
  /** Records of the longest page in each pass that agrees. */
  readonly pageSizes: readonly number[];
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
  const withAll = earlier.filter(({ total }) => total === seen);
  const agreeing = [...withAll.filter(({ content }) => content === newest.content), newest];
  if (agreeing.length < needed)
    return {
      missing:
        agreeing.length <= withAll.length
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
function isRepageable({ longest }: PassResult): boolean {
  return longest !== null && longest >= 2;
}

/** Returns the page size: in every second pass, one record fewer than the longest page of the first. Null leaves it to the source. */
export function nextPageSize(earlier: readonly PassResult[]): number | null {
  const repageable = earlier.filter(isRepageable);
  const first = repageable[0]?.longest ?? null;
  return first !== null && repageable.length % 2 === 1 ? first - 1 : first;
}

/** Returns the milliseconds to wait after a number of passes: 3.5 s in total after three. */
export function pauseAfter(passes: number): number {
  return firstPause * 2 ** (passes - 1);
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
  /** Fingerprint of the key, or of the whole record if it has none. */
  readonly key: Fingerprint = { high: 0, low: 0 };
  private readonly partitionColumns: readonly { readonly column: Column; readonly place: number }[];
  private readonly namePlace: number;
  private readonly names: Map<string, string>;
  private readonly keyColumns: readonly number[];

  /** @param names Receives the names of partitions, from the first record of each. */
  constructor(pipeline: AnyPipeline, names = new Map<string, string>()) {
    const { partition } = pipeline;
    this.names = names;
    this.namePlace = partition?.name === undefined ? -1 : placeOf(pipeline, partition.name);
    this.partitionColumns = partitionParameters(pipeline).map(({ column }) => ({
      column: kindOf(pipeline.columns[column]!).newColumn(1),
      place: placeOf(pipeline, column),
    }));
    this.keyColumns = keyPlaces(pipeline);
  }

  read(page: Page, row: number): void {
    this.partition = page.records.isObject[row] === 1 ? this.partitionOf(page, row) : null;
    if (this.namePlace >= 0 && this.partition !== null && !this.names.has(this.partition))
      this.names.set(this.partition, readText(page, row, this.namePlace) ?? '');
    fingerprintRecord(page, row, this.keyColumns, this.key);
  }

  private partitionOf(page: Page, row: number): string | null {
    const values: string[] = [];
    for (const { column, place } of this.partitionColumns) {
      if (column.fill(page, row, place, 0) !== 0) return null;
      values.push(String(column.value(0)));
    }
    return values.length === 0 ? null : joinPartition(values);
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
