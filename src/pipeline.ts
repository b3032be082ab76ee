/** What a pipeline is, and what a project is made of. */

import type { Database } from './duckdb/database.ts';
import type { Severity } from './stages.ts';
import type { Manifest } from './warehouse/snapshot-format.ts';

/** 'count' is a number of people and may be NULL; 'integer' and 'text' describe the place and the election. */
export type ColumnKind = 'count' | 'integer' | 'text';

/** One column of the published table and the field of the source's record that it is read from. */
export interface ColumnDefinition {
  readonly field: string;
  readonly kind: ColumnKind;
  /** The column's meaning in one sentence; becomes its comment in DuckDB and its description in Parquet. */
  readonly comment: string;
}

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
  /** Path of the endpoint below the base URL, such as /api/name. */
  readonly endpoint: string;
  readonly columns: Readonly<Record<Column, ColumnDefinition>>;
  /** The columns that identify a record, from the widest to the narrowest; the table is sorted by them. One key for all pipelines of a project. */
  readonly key: readonly NoInfer<Column>[];
  /** The column by which the endpoint is filtered and its completeness proved. */
  readonly district: NoInfer<Column>;
  /** The query parameter that filters by `district`. */
  readonly districtParameter: string;
  /** The column of the national total: the publishing gate watches its sum, and measures by it what other sums may move. */
  readonly total: NoInfer<Column>;
  readonly checks: readonly SumCheck<NoInfer<Column>>[];
}

/** Any pipeline, for the code that moves data without knowing its columns. */
export type AnyPipeline = Pipeline;

/** The names of the columns that hold counts. */
export function countColumns({ columns }: AnyPipeline): string[] {
  return Object.entries(columns)
    .filter(([, { kind }]) => kind === 'count')
    .map(([name]) => name);
}

/** Where a column stands among those of a page's records, from 0. */
export function placeOf(pipeline: AnyPipeline, column: string): number {
  return Object.keys(pipeline.columns).indexOf(column);
}

/** The same of each column of the key, in the key's order. */
export function keyPlaces(pipeline: AnyPipeline): number[] {
  return pipeline.key.map((column) => placeOf(pipeline, column));
}

/** English and Indonesian. */
export const languages = ['en', 'id'] as const;
export type Language = (typeof languages)[number];

/** A sentence in each language; what stands in braces is filled in. */
export type Message = Readonly<Record<Language, string>>;

/** A query over all tables. It returns one row per violation, with the columns of `violations`; no row is a pass. */
export interface SqlFile {
  readonly name: string;
  readonly sql: string;
  /** The file's leading comment: what the view shows or the check demands. */
  readonly comment: string;
  /** What the columns mean, as far as the file says so. */
  readonly columns: Readonly<Record<string, string>>;
  /** What each of a check's violations says; a check without one gives a column `message` of its own. */
  readonly message?: Message;
}

/** What the report of a snapshot is made from. */
export interface ReportFacts {
  /** The snapshot's, open for reading. */
  readonly database: Database;
  readonly manifest: Manifest;
  /** What the source answered to the run that made the snapshot; none where that is no longer kept. */
  readonly answers: readonly AnswerOfRecord[];
  /** Id of the pinned snapshot; null if no snapshot is pinned. */
  readonly pinned: string | null;
  readonly language: Language;
}

/** Where the figures of a district come from. */
export interface AnswerOfRecord {
  readonly dataset: string;
  /** Null for the full listing. */
  readonly district: number | null;
  readonly url: string;
  /** ISO 8601. */
  readonly at: string;
  readonly status: number;
  readonly sha256: string;
}

/** Keys of a table or view. */
export interface ViewKeys {
  readonly primaryKey: readonly string[];
  readonly foreignKeys?: readonly {
    readonly fields: readonly string[];
    readonly reference: { readonly resource: string; readonly fields: readonly string[] };
  }[];
}

/** Everything the command line hands to a sync: what moves, and what analysts read afterwards. */
export interface Project {
  readonly pipelines: readonly AnyPipeline[];
  /** Views, in the order in which they are created. */
  readonly models: readonly SqlFile[];
  /** Checks across tables. */
  readonly checks: readonly SqlFile[];
  /** Of views, what identifies a row and what it refers to, as a Frictionless table schema has it. */
  readonly relations: Readonly<Record<string, ViewKeys>>;
  /** Districts known from law, by id; a source whose ids are of the same kind is asked for these too. */
  readonly referenceDistricts: readonly number[];
  /** Records that each dataset has where it covers all of these; 0 where that is not known. */
  readonly referenceRecords: number;
  /** Loads what draws the report of a snapshot: one HTML page, or null where its tables have nothing to show. */
  readonly loadReport?: () => Promise<(facts: ReportFacts) => Promise<string | null>>;
  /** Folder that holds the sample data in the records' own shape. */
  readonly sampleFolder: string;
}
