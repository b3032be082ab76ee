/** Declares the types of projects and pipelines. A declaration is plain data: it can be stored, compared, and written by hand as JSON. */

import type { Severity } from '../stages.ts';
import type { Auth, Incremental, Partition, PostRequest, SourceSettings } from './source-declaration.ts';
import type { Message, SqlFile } from './sql-file.ts';

export type * from './source-declaration.ts';

interface DescribedColumn {
  /** The field of the source's record by its exact name, or a JSON pointer to a member of an inner object, such as `/owner/name`. */
  readonly field: string;
  /** The column's meaning in one sentence. It becomes the comment in DuckDB and the description in Parquet. */
  readonly comment: string;
  /** True if null, an empty text and a missing field are valid. Otherwise each of them is a violation. */
  readonly nullable?: true;
}

/**
 * A column of the published table. `text` has strings; with `from: 'any'` numbers, true and false too, as they were written; with `from: 'name'`
 * the name of the record in an object of records; with `from: 'request'` the value of the partition that was requested, also as an `integer`. `count` is a whole number
 * from 0 to 2,147,483,647 that may be summed. `integer` has 64 bits, or the given bounds. `decimal` has `precision` digits, `scale` of them after
 * the point. In texts, `group` separates groups of three digits, and `point` the fraction: `{ group: '.', point: ',' }` reads 1.234,5. `double` is
 * a floating-point number. `json` keeps any value as JSON. `date` may have a `format` such as DD/MM/YYYY. `timestamp` is stored in UTC. `offset`,
 * such as `+07:00`, applies to values without an offset, `format` is `s` or `ms` since 1970, or such as DD/MM/YYYY HH:mm:ss, and `cut` leaves out
 * what is smaller than a microsecond.
 */
export type ColumnDefinition = DescribedColumn &
  (
    | { readonly kind: 'boolean' | 'double' | 'json' }
    | { readonly kind: 'text'; readonly from?: 'any' | 'name' | 'request' }
    | { readonly kind: 'count'; readonly group?: Separator }
    | {
        readonly kind: 'integer';
        readonly from?: 'request';
        readonly min?: number;
        readonly max?: number;
        readonly group?: Separator;
      }
    | {
        readonly kind: 'decimal';
        readonly precision: number;
        readonly scale: number;
        readonly point?: Separator;
        readonly group?: Separator;
      }
    | { readonly kind: 'date'; readonly format?: string }
    | { readonly kind: 'timestamp'; readonly offset?: string; readonly format?: string; readonly cut?: true }
  );

/** A character between digits. A blank also stands for a no-break space. */
export type Separator = '.' | ',' | ' ' | "'";

/** Name of a kind of column. */
export type ColumnKind = ColumnDefinition['kind'];

interface NamedCheck {
  readonly name: string;
  readonly severity: Severity;
}

/** Checks that the columns of `parts` add up to the column `whole`. Rows with a NULL in one of them are not checked. */
export interface SumCheck<Column extends string = string> extends NamedCheck {
  readonly kind: 'sum';
  readonly whole: Column;
  readonly parts: readonly Column[];
}

/** Checks that values are between two bounds (inclusive). A bound is a number, a date or a timestamp. */
export interface RangeCheck<Column extends string = string> extends NamedCheck {
  readonly kind: 'range';
  readonly column: Column;
  readonly min?: number | string;
  readonly max?: number | string;
}

/** Checks that the whole text matches a regular expression (RE2). */
export interface PatternCheck<Column extends string = string> extends NamedCheck {
  readonly kind: 'pattern';
  readonly column: Column;
  readonly pattern: string;
}

/** Checks that a column of another table, written `table.column`, contains the value. */
export interface ReferenceCheck<Column extends string = string> extends NamedCheck {
  readonly kind: 'reference';
  readonly column: Column;
  readonly target: string;
}

/** A check of single rows. */
export type RowCheck = SumCheck | RangeCheck | PatternCheck | ReferenceCheck;

/** Declares a dataset: the endpoint that it comes from, and the table that it becomes. */
export interface PipelineDeclaration<Column extends string = string> {
  /** Name of the table and of the dataset. */
  readonly table: string;
  readonly title: string;
  /** Describes the table in one sentence. It becomes the comment in DuckDB. */
  readonly comment: string;
  /** Unit of the counts, such as `people`. */
  readonly unit?: string;
  /** Path of the endpoint below the base URL. `{name}` is the place of a parameter. */
  readonly path: string;
  /** If missing, requests are GET. */
  readonly request?: PostRequest;
  /** Query parameters of every request. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** If missing, the list is proved complete as a whole. */
  readonly partition?: Partition<Column>;
  /** If missing, every sync reads the whole list. */
  readonly incremental?: Incremental<Column>;
  readonly columns: Readonly<Record<Column, ColumnDefinition>>;
  /** Columns that identify a record, from the widest to the narrowest. The table is sorted by them. */
  readonly key: readonly Column[];
  /** Numeric columns whose sums must not change by more than 10 % between snapshots. The first is the total of the dataset. */
  readonly watch: readonly Column[];
  readonly checks: readonly RowCheck[];
  /** Number of records that the dataset should have. Fewer cause a warning. */
  readonly expectedRecords?: number;
}

/** A pipeline with the settings of its project: what a loaded or stored project contains. */
export interface Pipeline<Column extends string = string> extends PipelineDeclaration<Column>, SourceSettings {}

type WithoutComment<Column> = Column extends unknown ? Omit<Column, 'comment'> & { readonly comment?: string } : never;

/** A column as a file declares it. Without a comment, the comment names the field. */
export type DeclaredColumn = WithoutComment<ColumnDefinition>;

/** A table with one row for each item of the arrays in a JSON column. It has the key of the parent, and is a view. */
export interface ChildTable {
  /** The JSON column of the parent. */
  readonly from: string;
  readonly comment?: string;
  /** Columns that identify an item in its array. If missing, the column `place` has its place, from 1. */
  readonly key?: readonly string[];
  readonly columns: Readonly<Record<string, DeclaredColumn>>;
}

type Defaulted = 'title' | 'comment' | 'watch' | 'checks';

/** A pipeline as a file declares it. The title defaults to the name of the table, the comment to the title, and the settings to those of the project. */
export interface DeclaredPipeline<Column extends string = string>
  extends
    Omit<PipelineDeclaration<Column>, Defaulted | 'columns'>,
    Partial<Pick<PipelineDeclaration<Column>, Defaulted>>,
    Partial<SourceSettings> {
  readonly columns: Readonly<Record<Column, DeclaredColumn>>;
  readonly children?: Readonly<Record<string, ChildTable>>;
}

/** Any pipeline, for code that doesn't know its columns. */
export type AnyPipeline = Pipeline;

/** Rows by name. A SQL file uses them as `(VALUES $name)`. */
export type SqlValues = Readonly<Record<string, readonly (readonly (number | string)[])[]>>;

/** Declares a project: the default export of `rekap.project.*`. */
export interface ProjectDeclaration extends Partial<SourceSettings> {
  /** Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Defaults to the name. */
  readonly title?: string;
  /** Describes in a sentence or two what the service publishes. */
  readonly description?: string;
  /** Base URL of the service. It makes the option --base-url optional. */
  readonly baseUrl?: string;
  readonly auth?: Auth;
  /** Datasets, in addition to those in files of their own. */
  readonly pipelines?: readonly DeclaredPipeline[];
  readonly values?: SqlValues;
  /** Queries that `rekap query` shows. */
  readonly examples?: readonly string[];
  /** Folder of the sample records, relative to the project. Default: `sample`. */
  readonly sample?: string;
  /** The sheet that the workbook of `rekap export` starts with. */
  readonly workbook?: ReaderSheet;
  /** Warns people who see figures of the sample. Default: that they are for testing only. */
  readonly sampleNotice?: Message;
}

/** A section that a project adds to its report. */
export interface ReportSection {
  readonly title: string;
  /** Paragraphs above the table. */
  readonly text?: string | readonly string[];
  /** A SELECT on the tables and views of the snapshot. Its result becomes a table. */
  readonly query?: string;
}

/** The first sheet of the workbook of `rekap export`: a table for readers, with a bar chart. */
export interface ReaderSheet {
  /** Also the name of the sheet. */
  readonly title: string;
  /** A SELECT on the tables and views of the snapshot. Its first column names the rows. */
  readonly query: string;
  /** Columns of the query that the chart shows, as bars for each row. */
  readonly chart: readonly string[];
}

/** A project as stored in a snapshot. Commands that read a snapshot use it. */
export interface Project {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly auth: Auth | null;
  readonly examples: readonly string[];
  readonly pipelines: readonly AnyPipeline[];
  /** Views, each after those it reads. */
  readonly models: readonly SqlFile[];
  readonly checks: readonly SqlFile[];
  /** Sections that the project adds to the report. */
  readonly report?: readonly ReportSection[];
  readonly workbook?: ReaderSheet;
  readonly sampleNotice?: Message;
}

export function summedColumns({ columns, watch }: Pick<AnyPipeline, 'columns' | 'watch'>): string[] {
  return Object.entries(columns)
    .filter(([name, { kind }]) => kind === 'count' || kind === 'decimal' || watch.includes(name))
    .map(([name]) => name);
}

/** Returns the position of a column among the fields of a record. */
export function placeOf({ columns }: Pick<AnyPipeline, 'columns'>, column: string): number {
  return Object.keys(columns).indexOf(column);
}

export function keyPlaces(pipeline: Pick<AnyPipeline, 'columns' | 'key'>): number[] {
  return pipeline.key.map((column) => placeOf(pipeline, column));
}

export function sumChecks({ checks }: Pick<AnyPipeline, 'checks'>): SumCheck[] {
  return checks.filter((check) => check.kind === 'sum');
}
