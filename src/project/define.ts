/** What a project's files are written with: typed helpers that give plain data. `rekap check` says what types cannot. */

import type { Severity } from '../stages.ts';
import type {
  ColumnDefinition,
  ColumnKind,
  Partition,
  PartitionValues,
  PatternCheck,
  PipelineDeclaration,
  ProjectDeclaration,
  RangeCheck,
  ReferenceCheck,
  SourceSettings,
  SumCheck,
} from './declaration.ts';

type Columns = Readonly<Record<string, ColumnDefinition>>;

export interface Nullable {
  readonly nullable?: true;
}

type Declared<Kind extends ColumnKind, Given> = Given & {
  readonly kind: Kind;
  readonly field: string;
  readonly comment: string;
};

/** A text, as the source writes it. An empty one is a violation unless the column is nullable. */
export function text<const Given extends Nullable>(field: string, comment: string, given?: Given) {
  return { ...given, kind: 'text', field, comment } as Declared<'text', Given>;
}

/** A whole number of 64 bits, or one between the bounds `min` and `max`, both included. */
export function integer<const Given extends Nullable & { readonly min?: number; readonly max?: number }>(
  field: string,
  comment: string,
  given?: Given,
) {
  return { ...given, kind: 'integer', field, comment } as Declared<'integer', Given>;
}

/** A number of people or things, from 0 to 2,147,483,647, in digits alone. Its sum is kept in the manifest. */
export function count<const Given extends Nullable>(field: string, comment: string, given?: Given) {
  return { ...given, kind: 'count', field, comment } as Declared<'count', Given>;
}

/** A decimal number of at most `precision` digits (38), `scale` of them after the point. It never passes through a float. */
export function decimal<const Given extends Nullable & { readonly precision: number; readonly scale: number }>(
  field: string,
  comment: string,
  given: Given,
) {
  return { ...given, kind: 'decimal', field, comment } as Declared<'decimal', Given>;
}

/** true or false, as JSON has them or as a text. */
export function boolean<const Given extends Nullable>(field: string, comment: string, given?: Given) {
  return { ...given, kind: 'boolean', field, comment } as Declared<'boolean', Given>;
}

/** A day of the calendar, as `2024-02-14`. */
export function date<const Given extends Nullable>(field: string, comment: string, given?: Given) {
  return { ...given, kind: 'date', field, comment } as Declared<'date', Given>;
}

/** A moment in the notation of RFC 3339, stored in UTC. `offset`, such as `+07:00`, is that of values without one of their own. */
export function timestamp<const Given extends Nullable & { readonly offset?: string }>(
  field: string,
  comment: string,
  given?: Given,
) {
  return { ...given, kind: 'timestamp', field, comment } as Declared<'timestamp', Given>;
}

/** What every check may be given; a name of its own where the default is not the one to publish. */
interface CheckOptions {
  readonly name?: string;
  readonly severity?: Severity;
}

/** The columns of `parts` add up to `whole`. */
export function sum<const Name extends string>(
  whole: Name,
  parts: readonly Name[],
  { name = `${whole}_sum`, severity = 'error' }: CheckOptions = {},
): SumCheck<Name> {
  return { kind: 'sum', name, severity, whole, parts };
}

/** Values lie between `min` and `max`, both included; at least one of them is given. */
export function range<const Name extends string>(
  column: Name,
  { name = `${column}_range`, severity = 'error', ...bounds }: CheckOptions & Pick<RangeCheck, 'min' | 'max'>,
): RangeCheck<Name> {
  return { kind: 'range', name, severity, column, ...bounds };
}

/** Texts match a regular expression (RE2) as a whole. */
export function pattern<const Name extends string>(
  column: Name,
  expression: string,
  { name = `${column}_pattern`, severity = 'error' }: CheckOptions = {},
): PatternCheck<Name> {
  return { kind: 'pattern', name, severity, column, pattern: expression };
}

/** Values stand in a column of another table, written `table.column`. */
export function refersTo<const Name extends string>(
  column: Name,
  target: `${string}.${string}`,
  { name = `${column}_reference`, severity = 'error' }: CheckOptions = {},
): ReferenceCheck<Name> {
  return { kind: 'reference', name, severity, column, target };
}

/** Partitions that are known by their values. */
export function list(values: readonly (string | number)[]): PartitionValues {
  return { from: 'list', values: values.map(String) };
}

/** Partitions from a JSON file, an array of objects, of which `field` is taken. The path is relative to the project's folder. */
export function reference(file: string, field: string): PartitionValues {
  return { from: 'file', file, field };
}

/** Partitions from a list that another endpoint of the source gives. */
export function endpoint(
  path: string,
  field: string,
  more: Pick<Extract<PartitionValues, { from: 'endpoint' }>, 'records' | 'paging'> = {},
): PartitionValues {
  return { from: 'endpoint', path, field, ...more };
}

/** Partitions from a column of another pipeline, written `table.column`. */
export function columnOf(name: `${string}.${string}`): PartitionValues {
  return { from: 'pipeline', column: name };
}

type NamesOf<Given extends Columns, Wanted> = {
  [Name in keyof Given & string]: Given[Name] extends Wanted ? Name : never;
}[keyof Given & string];

/** Columns whose values may be summed. */
type Summable<Given extends Columns> = NamesOf<Given, { readonly kind: 'count' | 'integer' | 'decimal' }>;
/** Columns that may identify a record: never nullable, and no measure. */
type Identifying<Given extends Columns> = Exclude<
  NamesOf<Given, { readonly kind: 'text' | 'integer' | 'boolean' | 'date' | 'timestamp' }>,
  NamesOf<Given, { readonly nullable: true }>
>;

type CheckOf<Given extends Columns> =
  | SumCheck<Summable<Given>>
  | RangeCheck<NamesOf<Given, { readonly kind: Exclude<ColumnKind, 'text' | 'boolean'> }>>
  | PatternCheck<NamesOf<Given, { readonly kind: 'text' }>>
  | ReferenceCheck<keyof Given & string>;

interface GivenPipeline<Given extends Columns>
  extends Omit<PipelineDeclaration, 'columns' | 'key' | 'watch' | 'checks' | 'partition'>, Partial<SourceSettings> {
  readonly columns: Given;
  readonly partition?: Partition<NoInfer<Identifying<Given>>>;
  readonly key: readonly NoInfer<Identifying<Given>>[];
  readonly watch?: readonly NoInfer<Summable<Given>>[];
  readonly checks?: readonly NoInfer<CheckOf<Given>>[];
}

/** A pipeline as its file exports it: what it leaves to its project is not there. */
export type DeclaredPipeline<Column extends string = string> = PipelineDeclaration<Column> & Partial<SourceSettings>;

/** Declares a dataset: one endpoint of the service, and the table that its records become. */
export function definePipeline<const Given extends Columns>({
  watch = [],
  checks = [],
  ...pipeline
}: GivenPipeline<Given>): DeclaredPipeline<keyof Given & string> {
  return { ...pipeline, watch, checks };
}

/** Declares a project: its source, and what its pipelines have in common. */
export function defineProject(project: ProjectDeclaration): ProjectDeclaration {
  return project;
}
