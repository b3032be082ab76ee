/** How a pipeline is declared, and what a project is made of. */

import { PipelineDefinitionError } from './errors.ts';

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
  /** The column of the national total: the publishing gate watches its sum, and measures by it what other sums may move. */
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

/** The names of the columns that hold counts. */
export function countColumns({ columns }: AnyPipeline): string[] {
  return Object.entries(columns)
    .filter(([, { kind }]) => kind === 'count')
    .map(([name]) => name);
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
