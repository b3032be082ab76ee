/** What contradicts itself in the declaration of a pipeline or of a project, each as the rest of a sentence that begins with its name. */

import { RekapError } from './errors.ts';
import type { AnyPipeline, ColumnDefinition, ColumnKind, Pipeline, Project, SumCheck } from './pipeline.ts';
import type { Severity } from './stages.ts';
import { NoCount } from './records/fields.ts';

const identifier = /^[a-z][a-z0-9_]*$/;
/** Names that objects of JavaScript have of themselves; what reads a manifest passes them over. */
const reserved = new Set(['constructor', 'prototype']);
const kinds: readonly ColumnKind[] = ['count', 'integer', 'text'];
const severities: readonly Severity[] = ['error', 'warning'];
/** Parameters by which every list is paged. */
const pagingParameters = new Set(['limit', 'offset']);

type Columns = ReadonlyMap<string, ColumnDefinition>;

function* complaintsAboutPipeline(pipeline: AnyPipeline): Generator<string> {
  const columns: Columns = new Map(Object.entries(pipeline.columns));
  yield* complaintsAboutTable(pipeline);
  yield* complaintsAboutColumns(columns);
  yield* complaintsAboutKey(pipeline, columns);
  if (columns.get(pipeline.total)?.kind !== 'count') yield `its total "${pipeline.total}" is not a count`;
  const checkNames = new Set<string>();
  for (const check of pipeline.checks) {
    if (checkNames.has(check.name)) yield `two checks have the name "${check.name}"`;
    checkNames.add(check.name);
    yield* complaintsAboutCheck(check, columns);
  }
}

/** What only shows when pipelines, views and checks stand side by side. */
function* complaintsAboutProject({ pipelines, models, checks }: Project): Generator<string> {
  if (pipelines.length === 0) yield 'it has no pipelines';
  const tables = pipelines.map(({ table }) => table);
  for (const table of repeated(tables)) yield `two pipelines create the table "${table}"`;
  for (const endpoint of repeated(pipelines.map((pipeline) => pipeline.endpoint)))
    yield `two pipelines read the endpoint "${endpoint}"`;
  yield* complaintsAboutKeys(pipelines);
  for (const name of repeated([...tables, reconciliationName, ...models.map((model) => model.name)]))
    yield `two of its tables and views have the name "${name}"`;
  for (const { name } of models) {
    yield* complaintsAboutName("the view's name", name);
    if (ownTables.has(name)) yield `the view "${name}" has the name of a table that rekap creates`;
  }
  for (const name of repeated(checks.map((check) => check.name)))
    yield `two checks across tables have the name "${name}"`;
  const rowChecks = new Set(pipelines.flatMap((pipeline) => pipeline.checks.map(({ name }) => name)));
  for (const { name } of checks) {
    yield* complaintsAboutCheckName(name);
    if (rowChecks.has(name)) yield `a row check and a check across tables both have the name "${name}"`;
  }
}

function* complaintsAboutTable({ table, title, comment, endpoint, districtParameter }: AnyPipeline): Generator<string> {
  yield* complaintsAboutName('the table name', table);
  if (ownTables.has(table)) yield `the table name "${table}" is reserved for a table that rekap creates`;
  if (isBlank(title)) yield 'its title is empty';
  if (isBlank(comment)) yield 'its comment is empty';
  if (!/^(?:\/[\w-]+)+$/.test(endpoint)) yield `the endpoint "${endpoint}" is not a plain path such as /api/name`;
  if (!/^[\w-]+$/.test(districtParameter))
    yield `its districtParameter "${districtParameter}" is not a valid name of a query parameter`;
  if (pagingParameters.has(districtParameter))
    yield `its districtParameter "${districtParameter}" is reserved for paging`;
}

function* complaintsAboutColumns(columns: Columns): Generator<string> {
  if (columns.size === 0) yield 'it declares no columns';
  const fieldOwners = new Map<string, string>();
  for (const [name, { field, kind, comment }] of columns) {
    yield* complaintsAboutName('the column name', name);
    if (name === consistencyColumn)
      yield `the column name "${name}" is reserved for a column that rekap adds to every table`;
    if (!kinds.includes(kind)) yield `the column "${name}" has the kind "${kind}", which is not one of ${list(kinds)}`;
    if (isBlank(comment)) yield `the comment of the column "${name}" is empty`;
    if (isBlank(field)) yield `the field of the column "${name}" is empty`;
    const owner = fieldOwners.get(field);
    if (owner !== undefined) yield `the columns "${owner}" and "${name}" both read the field "${field}"`;
    fieldOwners.set(field, name);
  }
}

function* complaintsAboutKey({ key, district }: AnyPipeline, columns: Columns): Generator<string> {
  if (key.length === 0) yield 'its key is empty';
  for (const name of repeated(key)) yield `its key contains the column "${name}" twice`;
  for (const name of key) {
    if (!columns.has(name)) yield `its key contains the column "${name}", which is not declared`;
    if (columns.get(name)?.kind === 'count') yield `its key contains the count column "${name}"`;
    if (ownRowColumns.has(name))
      yield `its key contains the column "${name}", which is reserved in the tables violations and changes`;
  }
  if (!key.includes(district)) yield `its district column "${district}" is not part of the key`;
  if (columns.get(district)?.kind !== 'integer') yield `its district column "${district}" is not an integer`;
}

function* complaintsAboutCheck({ name, severity, parts, whole }: SumCheck, columns: Columns): Generator<string> {
  yield* complaintsAboutCheckName(name);
  if (!severities.includes(severity))
    yield `the check "${name}" has the severity "${severity}", which is not one of ${list(severities)}`;
  if (parts.length < 2) yield `the check "${name}" sums fewer than two columns`;
  for (const part of repeated(parts)) yield `the check "${name}" sums "${part}" twice`;
  if (parts.includes(whole)) yield `the check "${name}" has the column "${whole}" as whole and as part`;
  for (const column of [...parts, whole]) {
    if (columns.get(column)?.kind !== 'count')
      yield `the check "${name}" names "${column}", which is not a count column`;
  }
}

function* complaintsAboutCheckName(name: string): Generator<string> {
  yield* complaintsAboutName("the check's name", name);
  if (ownChecks.has(name)) yield `the check's name "${name}" is reserved for a check of rekap`;
}

function* complaintsAboutName(what: string, name: string): Generator<string> {
  if (!identifier.test(name)) yield `${what} "${name}" is not lower-case snake_case`;
  if (reserved.has(name)) yield `${what} "${name}" is reserved in JavaScript`;
}

/** Violations and changes of all pipelines stand in one table each, with the columns of one key. */
function* complaintsAboutKeys([first, ...others]: readonly AnyPipeline[]): Generator<string> {
  if (first === undefined) return;
  for (const other of others) {
    if (describeKey(other) !== describeKey(first))
      yield `the key of "${other.table}" (${describeKey(other)}) differs from the key of "${first.table}" (${describeKey(first)})`;
  }
}

function describeKey({ key, columns }: AnyPipeline): string {
  return key.map((name) => `${name} ${columns[name]?.kind}`).join(', ');
}

function repeated(names: readonly string[]): Set<string> {
  return new Set(names.filter((name, place) => names.indexOf(name) < place));
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/** The check of a record whose key came before with other values. */
export const conflictingRecords = 'conflicting_records';

/** Tables beside those of the pipelines. */
export const ownTables: ReadonlySet<string> = new Set([
  'violations',
  'violations_log',
  'quarantine',
  'changes',
  'snapshots_log',
]);

/** The view that rekap generates from the sum checks. */
export const reconciliationName = 'reconciliation';

/** The column that every pipeline's table has besides those it declares. */
export const consistencyColumn = 'is_consistent';

/** Columns of `violations`, its log and `changes` beside the key of the row in question. */
export const ownRowColumns: ReadonlySet<string> = new Set([
  'dataset',
  'check_name',
  'severity',
  'column_name',
  'raw_value',
  'expected',
  'actual',
  'message',
  'first_snapshot',
  'since',
  'resolved_snapshot',
  'resolved_at',
  'old_value',
  'new_value',
  'kind',
  'snapshot_id',
]);

/** Checks that the transformation makes of every pipeline; by the first four a mirror knows what a NULL was. */
export const ownChecks: ReadonlySet<string> = new Set([...Object.keys(NoCount), conflictingRecords]);

/**
 * Declares a pipeline and checks the declaration, so that a mistake shows when the program starts.
 *
 * @throws `pipeline-definition` naming the pipeline and the part that is wrong.
 */
export function definePipeline<const Column extends string>(pipeline: Pipeline<Column>): Pipeline<Column> {
  for (const complaint of complaintsAboutPipeline(pipeline)) {
    throw new RekapError(
      'pipeline-definition',
      `Pipeline "${pipeline.table}": ${complaint}.`,
      'Correct its file in pipelines/.',
    );
  }
  return pipeline;
}

/**
 * Puts a project together and checks that its parts agree, as `definePipeline` does for each pipeline by itself.
 *
 * @throws `pipeline-definition` naming what contradicts what.
 */
export function defineProject(project: Project): Project {
  for (const complaint of complaintsAboutProject(project)) {
    throw new RekapError(
      'pipeline-definition',
      `Project: ${complaint}.`,
      'Correct pipelines/index.ts or the files it lists.',
    );
  }
  return project;
}
