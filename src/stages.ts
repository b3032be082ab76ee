/** The contract between the stages: the values that extraction, landing, transformation and load pass on. */

import type { RecordBatch } from 'apache-arrow';
import * as v from 'valibot';

export interface PageRequest {
  readonly dataset: string;
  /** Value of the filter; null for the full listing. */
  readonly partition: string | null;
  /** Path and query below the base URL, without the secret. */
  readonly target: string;
}

/** A response of the source, its body decoded from any content encoding. */
export interface SourceResponse {
  readonly request: PageRequest;
  readonly url: string;
  readonly status: number;
  readonly at: Date;
  readonly body: Buffer;
}

/** 206 is a page of a list, because the request sets a page size. No request has the header `Range`. */
export function isSuccess(status: number): boolean {
  return status === 200 || status === 206;
}

export type Land = (response: SourceResponse) => Promise<LandedBody>;

export interface LandedBody {
  /** Number of the response in the landing, from 0. */
  readonly response: number;
  read(): Promise<Buffer>;
}

export interface LandedResponses {
  has(request: PageRequest): boolean;
  /** Returns the last response to a request; null if there is none. @throws `landing` if the bytes don't match their hash. */
  responseTo(request: PageRequest): Promise<SourceResponse | null>;
}

export const FieldKind = { missing: 0, text: 1, escaped: 2, number: 3, null: 4, other: 5 } as const;

/**
 * Positions of records and declared fields in the bytes of a page, so that nothing is copied
 * before it is needed. Record r spans bytes `recordStart[r]` to `recordEnd[r]`. Its field f, in the order of the pipeline's
 * columns, spans `fieldStart[r * width + f]` to `fieldEnd[r * width + f]` (without the quotes of a string) and is of
 * kind `fieldKind[r * width + f]`. `isObject[r]` is 0 if the record isn't a JSON object.
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

export interface Page {
  readonly request: PageRequest;
  readonly url: string;
  readonly bytes: Buffer;
  /** Number of records that the response reports: its own or all that match, depending on the source; null if it reports none. */
  readonly count: number | null;
  /** False if the source says that its count is only a lower bound. */
  readonly isCountExact: boolean;
  /** URL or cursor of the next page; null if the response says that there is none, undefined if it names none. */
  readonly next: string | null | undefined;
  /** The declared flag that is true while pages follow; null if it is missing. */
  readonly hasMore: boolean | null;
  /** Other values outside the records by JSON pointer, and well-known headers by name. Long lists of values are cut. */
  readonly envelope: ReadonlyMap<string, EnvelopeValue>;
  readonly records: RecordIndex;
  /** Fields of the records that no column reads. */
  readonly unknownFields: ReadonlySet<string>;
}

export type EnvelopeValue = string | number | boolean | null;

/**
 * Describes what a run reads of a dataset if not all of it: `only` some partitions, all `except` some, or a `window` of the records that changed
 * since the previous snapshot.
 */
export const scopeShape = v.union([
  v.strictObject({ only: v.pipe(v.array(v.string()), v.readonly()) }),
  v.strictObject({ except: v.pipe(v.array(v.string()), v.readonly()) }),
  v.strictObject({ window: v.literal(true) }),
]);
export type Scope = Readonly<v.InferOutput<typeof scopeShape>>;
/** Scopes by table. A table that is missing is read whole. */
export type Scopes = ReadonlyMap<string, Scope>;

/**
 * Grades of proof, strongest first. `overlap`: pages overlap by a record. `repaged`: passes had pages of different sizes. `rechained`: the
 * same, and each page named the next one. `repeated`: passes sent the same requests. `chain`: the same, and each page named the next one.
 * `single`: one response, or a list in which no page named another one. `incremental`: a window joins the rows of the previous snapshot, whose
 * list had another grade.
 */
export const grades = ['overlap', 'repaged', 'rechained', 'repeated', 'chain', 'single', 'incremental'] as const;
export type Grade = (typeof grades)[number];

/**
 * Signs of the end of a pass. `empty page`: the page past the end has no records. `status`: it has status 204, 404, 410 or 416. `null`: the last
 * page says that no page follows. `missing`: it names no next page, but others did. `hasMore`: the declared flag is false. `total`: the
 * declared count is reached. `body`: the response was intact. `listing`: the full listing shows the end.
 */
const endSigns = ['empty page', 'status', 'null', 'missing', 'hasMore', 'total', 'body', 'listing'] as const;
export type EndSign = (typeof endSigns)[number];

export interface PartitionRows {
  readonly partition: string;
  readonly before: number;
  readonly now: number;
}

const text = v.string();
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Also the shape of the verdicts in manifests and landings. */
export const verdictShape = v.object({
  dataset: text,
  /** Null for the full listing, and for its records without a partition. */
  partition: v.nullable(text),
  /** Its name in the records. Missing if the declaration doesn't say which column has it. */
  name: v.optional(text),
  complete: v.boolean(),
  /** What shows that the partition is complete. */
  proof: v.picklist(['own end', 'full listing', 'none']),
  grade: v.nullable(v.picklist(grades)),
  /** Records of the partition in the full listing; null if there is no listing. */
  listed: v.nullable(count),
  received: count,
  pages: count,
  readings: count,
  /** ISO 8601. */
  read_at: text,
  /** Why the partition is incomplete, and what to do; null if it is complete. */
  reason: v.nullable(text),
  /** Fingerprint of the keys and values of its records, in any order. Null if the full listing proves it. */
  content: v.nullable(text),
  /** What showed the end of the accepted pass; null if unknown. Missing if no pass was accepted. */
  end: v.optional(v.nullable(v.picklist(endSigns))),
  /** Records of the longest page in each pass that agreed. Missing if no pass was accepted. */
  page_sizes: v.optional(v.pipe(v.array(count), v.readonly())),
  /** The requested start of the window, and the grade that its passes prove. Missing if the whole list was read. */
  window: v.optional(v.object({ since: text, grade: v.nullable(v.picklist(grades)) })),
  /** Run that read it. Missing in a landing, which belongs to one run. */
  run: v.optional(text),
});
/** The result of reading a partition: whether it is complete, and what shows it. */
export type Verdict = Readonly<v.InferOutput<typeof verdictShape>>;

/** Accepted records of a response: `count` records from row `first` on. */
export interface AcceptedPage {
  readonly response: number;
  readonly first: number;
  readonly count: number;
  /** Returns only the accepted records, from memory or from the landing. */
  read(): Promise<Page>;
  release(): void;
}

/** A partition after reading, with its accepted pages in order; without pages if it couldn't be proved complete. */
export interface AcceptedReading {
  readonly verdict: Verdict;
  readonly pages: readonly AcceptedPage[];
}

export type Place = Readonly<Record<string, number | bigint | string | boolean | null>>;

export const severities = ['error', 'warning'] as const;
/** Severity of a violation. With --strict, the gate refuses errors. */
export type Severity = (typeof severities)[number];

export interface Violation {
  readonly dataset: string;
  readonly place: Place;
  readonly check_name: string;
  readonly severity: Severity;
  readonly column_name: string;
  /** The text as received; null if the field is missing or null, and for sums. */
  readonly raw_value: string | null;
  readonly expected: string | null;
  readonly actual: string | null;
}

export interface Quarantined {
  readonly dataset: string;
  readonly reason: string;
  readonly record: string;
  /** Value of the filter parameter in that request; null for the full listing. */
  readonly partition: string | null;
  readonly request: string;
}

/** A batch of a table's rows: the pipeline's columns in their order, then `is_consistent`. */
export interface Batch {
  readonly rows: RecordBatch;
  readonly violations: readonly Violation[];
  readonly quarantined: readonly Quarantined[];
}

/** Accounts for every record: fetched = published + quarantined + duplicates. */
export interface Ledger {
  readonly fetched: number;
  readonly published: number;
  readonly quarantined: number;
  readonly duplicates: number;
}

/** Totals of a transformed dataset. The loaded tables must agree with them. */
export interface TransformTotals {
  readonly ledger: Ledger;
  /** Fingerprint of the quarantined records, in any order. */
  readonly quarantine: string;
  readonly sums: Readonly<Record<string, bigint>>;
  readonly nulls: Readonly<Record<string, number>>;
}
