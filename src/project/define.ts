/** Typed helpers to write the files of a project. They return plain data, which `rekap check` validates further. */

import type { Severity } from '../stages.ts';
import { commentOn } from './field-path.ts';
import type {
  ColumnKind,
  DeclaredColumn,
  DeclaredPipeline,
  Incremental,
  Partition,
  PartitionValues,
  PatternCheck,
  ProjectDeclaration,
  RangeCheck,
  ReferenceCheck,
  ReportSection,
  Separator,
  SumCheck,
} from './declaration.ts';

type Columns = Readonly<Record<string, DeclaredColumn>>;

export interface Nullable {
  readonly nullable?: true;
}

type Declared<Kind extends ColumnKind, Given> = Given & {
  readonly kind: Kind;
  readonly field: string;
  readonly comment: string;
};

/**
 * Declares a text column. An empty text is a violation unless the column is nullable. `from: 'any'` also takes numbers, true and false as they
 * were written, `from: 'name'` the name of the record in an object of records, and `from: 'request'` the value of the requested partition.
 */
export function text<const Given extends Nullable & { readonly from?: 'any' | 'name' | 'request' }>(
  field: string,
  comment = commentOn(field),
  given?: Given,
) {
  return { ...given, kind: 'text', field, comment } as Declared<'text', Given>;
}

/** Declares a column of 64-bit integers, optionally limited to `min` and `max` (inclusive). */
export function integer<
  const Given extends Nullable & {
    readonly from?: 'request';
    readonly min?: number;
    readonly max?: number;
    readonly group?: Separator;
  },
>(field: string, comment: string = commentOn(field), given?: Given) {
  return { ...given, kind: 'integer', field, comment } as Declared<'integer', Given>;
}

/** Declares a column of counts from 0 to 2,147,483,647. The manifest stores their sum. */
export function count<const Given extends Nullable & { readonly group?: Separator }>(
  field: string,
  comment = commentOn(field),
  given?: Given,
) {
  return { ...given, kind: 'count', field, comment } as Declared<'count', Given>;
}

interface DecimalSettings extends Nullable {
  readonly precision: number;
  readonly scale: number;
  readonly point?: Separator;
  readonly group?: Separator;
}

/**
 * Declares a column of decimals with up to `precision` digits (at most 38), `scale` of them after the point. Values never pass through a float.
 * `{ group: '.', point: ',' }` reads texts such as 1.234,5.
 */
export function decimal<const Given extends DecimalSettings>(field: string, comment: string | undefined, given: Given) {
  return { ...given, kind: 'decimal', field, comment: comment ?? commentOn(field) } as Declared<'decimal', Given>;
}

/** Declares a column of true and false, as JSON literals or texts. */
export function boolean<const Given extends Nullable>(field: string, comment = commentOn(field), given?: Given) {
  return { ...given, kind: 'boolean', field, comment } as Declared<'boolean', Given>;
}

/** Declares a column of floating-point numbers. For exact digits, use `decimal`. */
export function double<const Given extends Nullable>(field: string, comment = commentOn(field), given?: Given) {
  return { ...given, kind: 'double', field, comment } as Declared<'double', Given>;
}

/** Declares a column that keeps any value, such as an array or an object, as JSON. */
export function json<const Given extends Nullable>(field: string, comment = commentOn(field), given?: Given) {
  return { ...given, kind: 'json', field, comment } as Declared<'json', Given>;
}

/** Declares a column of dates such as `2024-02-14`, or in a `format` such as `DD/MM/YYYY`. */
export function date<const Given extends Nullable & { readonly format?: string }>(
  field: string,
  comment = commentOn(field),
  given?: Given,
) {
  return { ...given, kind: 'date', field, comment } as Declared<'date', Given>;
}

/**
 * Declares a column of timestamps in RFC 3339 format, stored in UTC. `offset`, such as `+07:00`, applies to values without an offset. `format`
 * is `s` or `ms` since 1970, or such as `DD/MM/YYYY HH:mm:ss`, which is UTC without an offset. `cut` leaves out what is smaller than a
 * microsecond. Without it, such a value is malformed.
 */
export function timestamp<
  const Given extends Nullable & { readonly offset?: string; readonly format?: string; readonly cut?: true },
>(field: string, comment: string = commentOn(field), given?: Given) {
  return { ...given, kind: 'timestamp', field, comment } as Declared<'timestamp', Given>;
}

interface CheckOptions {
  readonly name?: string;
  readonly severity?: Severity;
}

/** Checks that the columns in `parts` add up to `whole`. */
export function sum<const Name extends string>(
  whole: Name,
  parts: readonly Name[],
  { name = `${whole}_sum`, severity = 'error' }: CheckOptions = {},
): SumCheck<Name> {
  return { kind: 'sum', name, severity, whole, parts };
}

/** Checks that values are between `min` and `max` (inclusive). At least one of them is required. */
export function range<const Name extends string>(
  column: Name,
  { name = `${column}_range`, severity = 'error', ...bounds }: CheckOptions & Pick<RangeCheck, 'min' | 'max'>,
): RangeCheck<Name> {
  return { kind: 'range', name, severity, column, ...bounds };
}

/** Checks that the whole text matches a regular expression (RE2). */
export function pattern<const Name extends string>(
  column: Name,
  expression: string,
  { name = `${column}_pattern`, severity = 'error' }: CheckOptions = {},
): PatternCheck<Name> {
  return { kind: 'pattern', name, severity, column, pattern: expression };
}

/** Checks that a column of another table, written `table.column`, contains the value. */
export function refersTo<const Name extends string>(
  column: Name,
  target: `${string}.${string}`,
  { name = `${column}_reference`, severity = 'error' }: CheckOptions = {},
): ReferenceCheck<Name> {
  return { kind: 'reference', name, severity, column, target };
}

/** Lists the partitions by value. */
export function list(values: readonly (string | number)[]): PartitionValues {
  return { from: 'list', values: values.map(String) };
}

/** Reads the partitions from the `field` of each object in a JSON array. The path is relative to the folder of the project. */
export function reference(file: string, field: string): PartitionValues {
  return { from: 'file', file, field };
}

/** Reads the partitions from a list at another endpoint of the source. */
export function endpoint(
  path: string,
  field: string,
  more: Pick<Extract<PartitionValues, { from: 'endpoint' }>, 'records' | 'paging'> = {},
): PartitionValues {
  return { from: 'endpoint', path, field, ...more };
}

/** Reads the partitions from a column of another pipeline, written `table.column`. */
export function columnOf(name: `${string}.${string}`): PartitionValues {
  return { from: 'pipeline', column: name };
}

type NamesOf<Given extends Columns, Wanted> = {
  [Name in keyof Given & string]: Given[Name] extends Wanted ? Name : never;
}[keyof Given & string];

type Summable<Given extends Columns> = NamesOf<Given, { readonly kind: 'count' | 'integer' | 'decimal' }>;
/** Columns that may identify a record: not nullable, and not a measure. */
type Identifying<Given extends Columns> = Exclude<
  NamesOf<Given, { readonly kind: 'text' | 'integer' | 'boolean' | 'date' | 'timestamp' }>,
  NamesOf<Given, { readonly nullable: true }>
>;

type CheckOf<Given extends Columns> =
  | SumCheck<Summable<Given>>
  | RangeCheck<NamesOf<Given, { readonly kind: Exclude<ColumnKind, 'text' | 'boolean'> }>>
  | PatternCheck<NamesOf<Given, { readonly kind: 'text' }>>
  | ReferenceCheck<keyof Given & string>;

interface GivenPipeline<Given extends Columns> extends Omit<
  DeclaredPipeline,
  'columns' | 'key' | 'watch' | 'checks' | 'partition' | 'incremental'
> {
  readonly columns: Given;
  readonly partition?: Partition<NoInfer<Identifying<Given>>>;
  readonly incremental?: Incremental<NoInfer<NamesOf<Given, { readonly kind: 'timestamp' | 'date' | 'integer' }>>>;
  readonly key: readonly NoInfer<Identifying<Given>>[];
  readonly watch?: readonly NoInfer<Summable<Given>>[];
  readonly checks?: readonly NoInfer<CheckOf<Given>>[];
}

/** Declares a dataset: an endpoint of the service, and the table for its records. */
export function definePipeline<const Given extends Columns>(
  pipeline: GivenPipeline<Given>,
): DeclaredPipeline<keyof Given & string> {
  return pipeline;
}

/** Declares the sections that a project adds to its report: the default export of `report.ts`. */
export function defineReport(sections: readonly ReportSection[]): readonly ReportSection[] {
  return sections;
}

/** Declares a project: its source, and the settings that its pipelines share. */
export function defineProject(project: ProjectDeclaration): ProjectDeclaration {
  return project;
}
