/** The contract: how a pipeline is declared, and what passes between the stages. */

import type { RecordBatch } from 'apache-arrow';
import { PipelineDefinitionError } from './errors.ts';

// ---------------------------------------------------------------- the definition

/** 'count' is a number of people and may be NULL; 'integer' and 'text' describe the place and the election. */
export type ColumnKind = 'count' | 'integer' | 'text';

/** One column of the published table and the field of the source's record that it is read from. */
export interface ColumnDefinition {
  readonly field: string;
  readonly kind: ColumnKind;
  /** The column's meaning in one sentence; becomes its comment in DuckDB and its description in Parquet. */
  readonly comment: string;
}

export type Severity = 'error' | 'warning';

/** A row check: the columns of `parts` add up to the column `whole`. Not evaluated where one of them is NULL. */
export interface SumCheck<Column extends string = string> {
  readonly name: string;
  readonly severity: Severity;
  readonly parts: readonly Column[];
  readonly whole: Column;
}

/** What moves: one endpoint of the service into one table. */
export interface Pipeline<Column extends string = string> {
  /** The table's name, and the dataset's name wherever one is printed or stored. */
  readonly table: string;
  readonly title: string;
  /** One sentence on the table; becomes its comment in DuckDB. */
  readonly comment: string;
  /** Path of the endpoint below the base URL, beginning with a slash. */
  readonly endpoint: string;
  readonly columns: Readonly<Record<Column, ColumnDefinition>>;
  /** The columns that identify a record; the table is sorted by them. */
  readonly key: readonly NoInfer<Column>[];
  /** The column by which the endpoint is filtered and its completeness proved. */
  readonly district: NoInfer<Column>;
  /** The query parameter that filters by `district`. */
  readonly districtParameter: string;
  /** The column of the national total that the publishing gate watches. */
  readonly total: NoInfer<Column>;
  readonly checks: readonly SumCheck<NoInfer<Column>>[];
}

/** Any pipeline, for the code that moves data without knowing its columns. */
export type AnyPipeline = Pipeline;

/**
 * Declares a pipeline and checks the declaration, so that a mistake shows when the program starts.
 *
 * @throws PipelineDefinitionError naming the pipeline and the part that is wrong.
 */
export function definePipeline<const Column extends string>(pipeline: Pipeline<Column>): Pipeline<Column> {
  for (const complaint of complaintsAbout(pipeline)) {
    throw new PipelineDefinitionError(`Pipeline "${pipeline.table}": ${complaint}.`, 'Correct its file in pipelines/.');
  }
  return pipeline;
}

const identifier = /^[a-z][a-z0-9_]*$/;

function* complaintsAbout(pipeline: AnyPipeline): Generator<string> {
  const columns = new Map(Object.entries(pipeline.columns));
  if (!identifier.test(pipeline.table)) yield `the table name "${pipeline.table}" is not lower-case snake_case`;
  if (!/^\/[\w/-]*$/.test(pipeline.endpoint)) yield `the endpoint "${pipeline.endpoint}" is not a plain path`;
  if (columns.size === 0) yield 'it declares no columns';
  const fieldOwners = new Map<string, string>();
  for (const [name, { field }] of columns) {
    if (!identifier.test(name)) yield `the column name "${name}" is not lower-case snake_case`;
    if (field === '') yield `the column "${name}" names no field`;
    const owner = fieldOwners.get(field);
    if (owner !== undefined) yield `the columns "${owner}" and "${name}" both read the field "${field}"`;
    fieldOwners.set(field, name);
  }
  if (pipeline.key.length === 0) yield 'its key is empty';
  for (const name of pipeline.key) {
    if (!columns.has(name)) yield `its key names the column "${name}", which it does not declare`;
    if (columns.get(name)?.kind === 'count') yield `its key names the count "${name}"`;
  }
  if (!pipeline.key.includes(pipeline.district))
    yield `its district column "${pipeline.district}" is not part of the key`;
  if (columns.get(pipeline.district)?.kind !== 'integer')
    yield `its district column "${pipeline.district}" is not an integer`;
  if (columns.get(pipeline.total)?.kind !== 'count') yield `its total "${pipeline.total}" is not a count`;
  const checkNames = new Set<string>();
  for (const check of pipeline.checks) {
    if (checkNames.has(check.name)) yield `two checks are called "${check.name}"`;
    checkNames.add(check.name);
    if (check.parts.length < 2) yield `the check "${check.name}" adds up fewer than two columns`;
    for (const name of [...check.parts, check.whole]) {
      if (columns.get(name)?.kind !== 'count')
        yield `the check "${check.name}" names "${name}", which is not one of its counts`;
    }
  }
}

/** A query over all tables. It returns one row per violation, with the columns of `violations`; no row is a pass. */
export interface SqlFile {
  readonly name: string;
  readonly sql: string;
  /** The file's leading comment: what the view shows or the check demands. */
  readonly comment: string;
  /** What the columns mean, as far as the file says so. */
  readonly columns: Readonly<Record<string, string>>;
}

/** Everything the command line hands to a sync: what moves, and what analysts read afterwards. */
export interface Project {
  readonly pipelines: readonly AnyPipeline[];
  /** Views, in the order in which they are created. */
  readonly models: readonly SqlFile[];
  /** Checks across tables. */
  readonly checks: readonly SqlFile[];
  /** Districts known from law, by id; a source whose ids are of the same kind is asked for these too. */
  readonly referenceDistricts: readonly number[];
  /** Folder that holds the sample data in the records' own shape. */
  readonly sampleFolder: string;
}

// ---------------------------------------------------------------- the surroundings

/** Time, handed in so that tests own it. */
export interface Clock {
  now(): Date;
  /** Milliseconds from a clock that never goes back. */
  monotonic(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when it is aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** A number from 0 up to but not including 1. */
export type Random = () => number;

/** The steps of a run in their order. A process that dies at any of them leaves the warehouse as it was, or as it is to be. */
export const runSteps = [
  'clear leftovers',
  'begin',
  'fetch',
  'build tables',
  'hash files',
  'pass the gate',
  'verify',
  'write the manifest',
  'flush to the disk',
  'name the snapshot',
  'switch current',
  'remove old snapshots',
  'record the run',
] as const;

export type RunStep = (typeof runSteps)[number];

/** Something a person watching the run may want to know. */
export type RunEvent =
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'request'; readonly dataset: string; readonly retried: boolean }
  | { readonly kind: 'districts'; readonly dataset: string; readonly total: number }
  | { readonly kind: 'district'; readonly dataset: string; readonly records: number; readonly verdict: Verdict }
  | { readonly kind: 'step'; readonly step: RunStep };

export type Report = (event: RunEvent) => void;

// ---------------------------------------------------------------- extract and land

/** What was asked of the source, and in which reading: no two requests of a run are alike. */
export interface PageRequest {
  readonly dataset: string;
  /** Null for the sweep over all districts. */
  readonly dapil: number | null;
  /**
   * Of a district: 1 for its first reading, 2 for the second; 0 for a page read ahead, which stands in for the first reading's.
   * Of the sweep: 0, and 1 for the probe of its offset; 2 and 3 of a second sweep.
   */
  readonly reading: number;
  readonly offset: number;
  readonly limit: number;
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

/** Keeps an answer and gives a way to read its body again. */
export type Land = (answer: Answer) => Promise<LandedBody>;

/** Reads a landed body back from the disk. */
export type LandedBody = () => Promise<Buffer>;

/** The answers that an earlier run has landed. */
export interface LandedAnswers {
  /** Whether there is an answer to this very request. */
  has(request: PageRequest): boolean;
  /**
   * The last answer to the request; null where there is none.
   *
   * @throws LandingError where its bytes do not fit their hash.
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
  readonly records: RecordIndex;
}

/** What is known of one district after it was read. */
export interface Verdict {
  readonly dataset: string;
  /** Null for the records of the sweep that name no district. */
  readonly dapil: number | null;
  readonly complete: boolean;
  /** How the end was proved: by agreement with the sweep, or by an empty page. */
  readonly proof: 'sweep' | 'empty page' | 'none';
  /** Distinct records that the sweep listed; null where there was no sweep. */
  readonly listed: number | null;
  /** Distinct records that the district's own pages brought. */
  readonly received: number;
  readonly pages: number;
  /** How many times the district was read in all. */
  readonly readings: number;
  /** ISO 8601 time of the last page. */
  readonly readAt: string;
  /** Why it is not complete; null where it is. */
  readonly reason: string | null;
}

/** A district that was read, with its pages in the order of their offsets; reading a page loads it if it was set aside. */
export interface DistrictReading {
  readonly verdict: Verdict;
  readonly pages: readonly (() => Promise<Page>)[];
}

// ---------------------------------------------------------------- transform

/** Values of a pipeline's key columns: where a violation is. */
export type Place = Readonly<Record<string, number | string | null>>;

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
  readonly message: string;
}

/** A record that has no place in a table, whole. */
export interface Quarantined {
  readonly dataset: string;
  readonly reason: string;
  /** The JSON as received. */
  readonly record: string;
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
