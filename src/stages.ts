/** The contract between the stages: what extraction, landing, transformation and load hand to each other. */

import type { RecordBatch } from 'apache-arrow';

/** What was asked of the source. */
export interface PageRequest {
  readonly dataset: string;
  /** Value of the filter; null for the full listing. */
  readonly partition: string | null;
  /** Path and query below the base URL, without the secret. */
  readonly target: string;
}

/** One answer of the source, its body decoded from any content encoding. */
export interface Answer {
  readonly request: PageRequest;
  readonly url: string;
  readonly status: number;
  /** When the answer was complete. */
  readonly at: Date;
  readonly body: Buffer;
}

/** Keeps an answer. */
export type Land = (answer: Answer) => Promise<LandedBody>;

/** An answer that was kept. */
export interface LandedBody {
  /** Its number in the landing, from 0. */
  readonly answer: number;
  /** Reads its body back from the disk. */
  read(): Promise<Buffer>;
}

/** The answers that earlier runs have landed. */
export interface LandedAnswers {
  /** Whether there is an answer to such a request. */
  has(request: PageRequest): boolean;
  /**
   * The last answer to such a request; null where there is none.
   *
   * @throws `landing` where its bytes do not fit their hash.
   */
  answerTo(request: PageRequest): Promise<Answer | null>;
}

/** What a field of a record holds, as a number so that it fits a typed array. */
export const FieldKind = { missing: 0, text: 1, escaped: 2, number: 3, null: 4, other: 5 } as const;

/**
 * Where each record of a page and each of its declared fields lie in the page's bytes, so that nothing is copied
 * before it is needed. Record r spans bytes `recordStart[r]` to `recordEnd[r]`. Its field f, in the order of the pipeline's
 * columns, spans `fieldStart[r * width + f]` to `fieldEnd[r * width + f]` (without the quotes of a string) and is of
 * kind `fieldKind[r * width + f]`. `isObject[r]` is 0 where a record is no JSON object at all.
 */
export interface RecordIndex {
  readonly length: number;
  readonly width: number;
  readonly recordStart: Int32Array;
  readonly recordEnd: Int32Array;
  readonly isObject: Uint8Array;
  readonly fieldStart: Int32Array;
  readonly fieldEnd: Int32Array;
  readonly fieldKind: Uint8Array;
}

/** A page of records as the source sent it. */
export interface Page {
  readonly request: PageRequest;
  readonly url: string;
  readonly bytes: Buffer;
  /** The number of records that the response reports: its own, or of all that match; sources do not agree. Its own where none is declared. */
  readonly count: number;
  /** What the response says of the next page: a URL, or a cursor; null where there is none. */
  readonly next: string | null;
  readonly records: RecordIndex;
}

/**
 * How strong a proof is, by how the source is paged: pages overlap by a record, passes use different page sizes, passes are merely repeated,
 * each page names the next, or there is a single response. The strongest comes first.
 */
export const grades = ['overlap', 'repaged', 'repeated', 'chain', 'single'] as const;
export type Grade = (typeof grades)[number];

/** Rows of a partition in the snapshot before, and in the new one. */
export interface PartitionRows {
  readonly partition: string;
  readonly before: number;
  readonly now: number;
}

/** What is known of one partition after it was read. */
export interface Verdict {
  readonly dataset: string;
  /** Null for the full listing, and for its records that name no partition. */
  readonly partition: string | null;
  readonly complete: boolean;
  /** How its end was shown: by its own pages, or by the full listing. */
  readonly proof: 'own end' | 'full listing' | 'none';
  /** What kind of proof it is; null where there is none. */
  readonly grade: Grade | null;
  /** Records that the full listing has of it; null where there is no listing. */
  readonly listed: number | null;
  /** Records that its own pages brought. */
  readonly received: number;
  readonly pages: number;
  /** How many times the partition was read in all. */
  readonly readings: number;
  /** ISO 8601 time of the last page. */
  readonly read_at: string;
  /** Why it is not complete, and what can be done about it; null where it is. */
  readonly reason: string | null;
}

/** Records of an answer that count: `taken` of them, from the one at `first` on. */
export interface AcceptedPage {
  /** Number of the answer in the landing. */
  readonly answer: number;
  readonly first: number;
  readonly taken: number;
  /** Gives just these records, from memory or from the landing. */
  read(): Promise<Page>;
  /** Gives the memory back. */
  release(): void;
}

/** A partition that was read, with its accepted pages in their order; none where it could not be proved. */
export interface AcceptedReading {
  readonly verdict: Verdict;
  readonly pages: readonly AcceptedPage[];
}

/** Values of a pipeline's key columns: where a violation is. */
export type Place = Readonly<Record<string, number | bigint | string | boolean | null>>;

export type Severity = 'error' | 'warning';

/** A broken check, or a value that is no number. */
export interface Violation {
  readonly dataset: string;
  readonly place: Place;
  readonly check_name: string;
  readonly severity: Severity;
  readonly column_name: string;
  /** The text as the source sent it; null where the field was missing, null, or where a sum is in question. */
  readonly raw_value: string | null;
  readonly expected: string | null;
  readonly actual: string | null;
}

/** A record that has no place in a table, whole. */
export interface Quarantined {
  readonly dataset: string;
  readonly reason: string;
  /** The JSON as received. */
  readonly record: string;
  /** Value of the filter parameter in that request; null for the full listing. */
  readonly partition: string | null;
  /** The request whose answer held it, without the base URL. */
  readonly request: string;
}

/** A batch of a table's rows: the pipeline's columns in their order, then `is_consistent`. */
export interface Batch {
  readonly rows: RecordBatch;
  readonly violations: readonly Violation[];
  readonly quarantined: readonly Quarantined[];
}

/** Where every fetched record went: fetched = published + quarantined + duplicates. */
export interface Ledger {
  readonly fetched: number;
  readonly published: number;
  readonly quarantined: number;
  readonly duplicates: number;
}

/** What transformation says of a dataset once it is done; the loaded tables must agree with it. */
export interface TransformTotals {
  readonly ledger: Ledger;
  /** Sum of each count column over the published rows, NULL as nothing. */
  readonly sums: Readonly<Record<string, bigint>>;
  /** Number of NULLs in each count column. */
  readonly nulls: Readonly<Record<string, number>>;
}
