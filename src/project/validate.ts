/** Finds contradictions in a project, each as a sentence with the file and the name it concerns. */

import type { AnyPipeline, Auth, ColumnKind, Paging, PartitionParameter, Project } from './declaration.ts';
import { endOfPeriod } from './closed-partitions.ts';
import { durationOf } from './duration.ts';
import { partitionParameters } from './partition-list.ts';
import { withSuggestion } from '../runtime/closest-name.ts';
import { formatNumber } from '../runtime/text.ts';
import { problemOfFormat } from './time-format.ts';
import { afterColumn, fieldPath, isBeside, isFrom, nextPointer } from './field-path.ts';
import {
  allColumns,
  columnOf,
  type Columns,
  findCheckProblems,
  type Found,
  isOf,
  repeated,
  suggest,
  summable,
} from './validate-checks.ts';
import {
  type DeclarationProblem,
  findCheckNameProblems,
  findNameProblems,
  findNamesProblems,
  findSqlFileProblems,
} from './validate-names.ts';
import { consistencyColumn, ownRowColumns, ownTables, reconciliationName } from './reserved.ts';

/** RFC 6901. The index - of an array has no value. */
const isPointer = /^(?:\/(?!-(?:\/|$))(?:[^~/]|~[01])*)+$/;
/** With so many columns, `rekap check` takes about 4 s and 0.5 GB. Both grow faster than the number of columns. */
export const maxColumns = 1000;
const identifying: readonly ColumnKind[] = ['text', 'integer', 'boolean', 'date', 'timestamp'];

export function* findProblems(project: Project): Generator<DeclarationProblem> {
  for (const pipeline of project.pipelines)
    for (const [near, what] of findPipelineProblems(pipeline, project)) yield { of: pipeline.table, near, what };
  yield* findNamesProblems(project);
  yield* findSqlFileProblems(project);
}

function* findPipelineProblems(pipeline: AnyPipeline, project: Project): Found {
  const columns: Columns = new Map(Object.entries(pipeline.columns));
  const { table, watch, checks } = pipeline;
  yield* findNameProblems('the table name', table);
  if (ownTables.has(table) || table === reconciliationName)
    yield [table, `the table name "${table}" is reserved for a table that rekap creates`];
  yield* findColumnProblems(columns);
  yield* findKeyProblems(pipeline, columns);
  yield* findPartitionProblems(pipeline, columns, project);
  yield* findParameterProblems(pipeline);
  yield* findIncrementalProblems(pipeline, project);
  yield* findOutsideProblems(pipeline, project.auth);
  yield* findPointerProblems(pipeline);
  for (const name of watch)
    if (!isOf(summable, columns.get(name)))
      yield [name, suggest(`watch names "${name}", which is not a count, an integer or a decimal`, name, columns)];
  for (const name of repeated(checks.map((check) => check.name))) yield [name, `two checks have the name "${name}"`];
  for (const check of checks) {
    yield* findCheckNameProblems(check.name);
    yield* findCheckProblems(check, columns, project);
  }
}

function* findColumnProblems(columns: Columns): Found {
  if (columns.size === 0) yield ['columns', 'it declares no columns'];
  if (columns.size > maxColumns)
    yield [
      'columns',
      `it declares ${formatNumber(columns.size)} columns, but a dataset has at most ${formatNumber(maxColumns)}; declare only the columns that you need`,
    ];
  const owners = new Map<string, string>();
  for (const [name, column] of columns) {
    const { field } = column;
    yield* findNameProblems('the column name', name);
    if (name === consistencyColumn)
      yield [name, `the column name "${name}" is reserved for a column that rekap adds to every table`];
    if (field.startsWith('/') && !isPointer.test(field))
      yield [
        field,
        `the column "${name}" reads "${field}", which is not a JSON pointer such as /owner/name or /tags/0`,
      ];
    if (isBeside(column)) continue;
    const place = JSON.stringify(fieldPath(field));
    const owner = owners.get(place);
    if (owner !== undefined) yield [field, `the columns "${owner}" and "${name}" both read the field "${field}"`];
    owners.set(place, name);
    if (column.kind === 'decimal' && column.scale > column.precision)
      yield [
        name,
        `the column "${name}" has a scale (${column.scale}) that is larger than its precision (${column.precision})`,
      ];
    if (column.kind === 'decimal' && (column.point ?? '.') === column.group)
      yield [name, `the column "${name}" has the same character for point and group`];
    if (column.kind === 'date' || column.kind === 'timestamp') {
      const { kind, format } = column;
      const isEpoch = kind === 'timestamp' && (format === 's' || format === 'ms');
      const problem = format === undefined || isEpoch ? null : problemOfFormat(format, kind === 'date');
      if (problem !== null) yield [format!, `the format "${format}" of the column "${name}" ${problem}`];
    }
    if (column.kind === 'integer' && (column.min ?? -Infinity) > (column.max ?? Infinity))
      yield [name, `the column "${name}" has a min that is larger than its max`];
  }
}

function* findKeyProblems({ key }: AnyPipeline, columns: Columns): Found {
  if (key.length === 0) yield ['key', 'its key is empty'];
  for (const name of repeated(key)) yield [name, `its key contains the column "${name}" twice`];
  for (const name of key) {
    const column = columns.get(name);
    if (column === undefined)
      yield [name, suggest(`its key contains the column "${name}", which is not declared`, name, columns)];
    else if (!isOf(identifying, column))
      yield [name, `its key contains the column "${name}" of kind ${column.kind}, which cannot identify a row`];
    if (column?.nullable === true) yield [name, `its key contains the nullable column "${name}"`];
    if (ownRowColumns.has(name))
      yield [name, `its key contains the column "${name}", which is reserved in the tables violations and changes`];
  }
}

function* findPartitionProblems(pipeline: AnyPipeline, columns: Columns, project: Project): Found {
  const { table, partition } = pipeline;
  const parameters = partitionParameters(pipeline);
  const name = partition?.name;
  if (name !== undefined && !isOf(['text'], columns.get(name)))
    yield [
      name,
      suggest(`its partitions have their names in the column "${name}", which is not a text`, name, columns),
    ];
  for (const twice of repeated(parameters.flatMap((one) => [one.parameter, `column ${one.column}`])))
    yield [twice, `its partition has the ${twice.startsWith('column ') ? twice : `parameter ${twice}`} twice`];
  for (const parameter of parameters) yield* findParameterOfPartition(parameter, pipeline, columns, project);
  const cycle = findCycle(project, [table]);
  if (cycle !== null) yield ['partition', `its partitions depend on its own partitions (${cycle.join(' from ')})`];
}

function* findParameterOfPartition(
  { parameter, column, values }: PartitionParameter,
  { key, paging, partition }: AnyPipeline,
  columns: Columns,
  project: Project,
): Found {
  if (!key.includes(column)) yield [column, `its partition column "${column}" is not part of the key`];
  if (!isOf(['text', 'integer'], columns.get(column)))
    yield [column, suggest(`its partition column "${column}" is not a text or an integer`, column, columns)];
  if (pagingParameters(paging).includes(parameter))
    yield [parameter, `its partition parameter "${parameter}" is also a parameter of its paging`];
  if (values === undefined && partition?.and !== undefined)
    yield [parameter, `the partition parameter "${parameter}" needs "values", because they are combined`];
  if (values?.from === 'pipeline' && columnOf(project, values.column) === undefined)
    yield [
      values.column,
      withSuggestion(
        `its partitions come from "${values.column}", which is not a column of the project`,
        values.column,
        allColumns(project),
      ),
    ];
}

/** Returns the tables from the first one back to it; null if none of its parents depends on it. */
function findCycle(project: Project, chain: readonly string[]): readonly string[] | null {
  for (const parent of parentsOf(project, chain.at(-1)!)) {
    if (parent === chain[0]) return [...chain, parent];
    const cycle = chain.includes(parent) ? null : findCycle(project, [...chain, parent]);
    if (cycle !== null) return cycle;
  }
  return null;
}

/** A window needs a cursor that every record has, and a list of its own. */
function* findIncrementalProblems(pipeline: AnyPipeline, { pipelines }: Project): Found {
  const { incremental, partition, columns, paging, parameters = {}, table } = pipeline;
  const { closed } = partition ?? {};
  if (closed !== undefined && !partitionParameters(pipeline).some(({ column }) => column === closed.column))
    yield [
      closed.column,
      `its closed partitions are told by "${closed.column}", which is not a column of the partition`,
    ];
  if (closed !== undefined && partition?.values === undefined)
    yield ['closed', 'its closed partitions need "values", because the list that names all partitions is not read'];
  const named = partitionParameters(pipeline).find(({ column }) => column === closed?.column)?.values;
  const odd = named?.from === 'list' ? named.values.find((value) => endOfPeriod(value) === null) : undefined;
  if (odd !== undefined)
    yield [odd, `its closed partitions are told by a year, a month or a day, but "${odd}" is none of them`];
  if (incremental === undefined) return;
  const { cursor, parameter, lookback } = incremental;
  const column = columns[cursor];
  const isById = paging.by === 'after' && parameter === undefined;
  const kinds: readonly ColumnKind[] = isById ? ['integer', 'count'] : ['timestamp', 'date'];
  if (column === undefined || !kinds.includes(column.kind))
    yield [cursor, `its cursor "${cursor}" is not a column of kind ${kinds.join(' or ')}`];
  else if (column.nullable === true) yield [cursor, `its cursor "${cursor}" may be missing`];
  if (isById && afterColumn(pipeline) !== cursor)
    yield [cursor, `its cursor "${cursor}" is not the column of the field that its paging reads`];
  if (isById && lookback !== undefined) yield ['lookback', 'a window of the last records has no "lookback"'];
  if (!isById && (parameter === undefined || lookback === undefined))
    yield ['incremental', 'its windows need "parameter" and "lookback"'];
  if (parameter !== undefined && [...Object.keys(parameters), ...pagingParameters(paging)].includes(parameter))
    yield [
      parameter,
      `the parameter "${parameter}" of its windows is also a parameter of all requests, or of its paging`,
    ];
  if (durationOf(incremental.wholeEvery) <= 3_600_000)
    yield ['wholeEvery', `its "wholeEvery" (${incremental.wholeEvery}) leaves no sync for a window; use at least PT2H`];
  if (parameter !== undefined && pipeline.path.includes(`{${parameter}}`))
    yield [
      parameter,
      `the parameter "${parameter}" of its windows is in the path, but the whole list has no value for it`,
    ];
  if (partition !== undefined)
    yield ['incremental', 'it has both "incremental" and "partition"; close old partitions with "closed" instead'];
  const child = pipelines.find((other) => parentsOf({ pipelines }, other.table).includes(table));
  if (child !== undefined)
    yield ['incremental', `it names the partitions of ${child.table}, so its whole list is needed`];
}

/** Finds pointers that can't be read: the response has no envelope, or they lead into the records. */
function* findPointerProblems({ records, format, reportedCount, paging }: AnyPipeline): Found {
  const places = Object.entries({
    reportedCount,
    hasMore: paging.hasMore,
    'the next page': nextPointer(paging) ?? undefined,
  });
  for (const [what, pointer] of places) {
    if (pointer === undefined) continue;
    const near = pointer === '' ? what : pointer;
    if (format !== 'json')
      yield [near, `${what} is at "${pointer}", but the format ${format} has nothing beside its records`];
    else if (records === '' || `${pointer}/`.startsWith(`${records}/`))
      yield [near, `${what} is at "${pointer}", which is inside the records at "${records}"`];
    else if (pointer === '') yield [near, `${what} is at "", which is the whole response`];
  }
}

/** Parameters of every request must not replace the filter or the page. */
function* findParameterProblems(pipeline: AnyPipeline): Found {
  const { parameters = {}, paging } = pipeline;
  const taken = new Set([...filterParameters(pipeline), ...pagingParameters(paging)]);
  for (const name of Object.keys(parameters))
    if (taken.has(name)) yield [name, `its parameter "${name}" is also a parameter of its partition or its paging`];
}

/** Every part of the path in braces must be a parameter, and what comes from beside the records must be there. */
function* findOutsideProblems(pipeline: AnyPipeline, auth: Auth | null): Found {
  const { path, parameters = {}, paging, columns, format, request, headers = {} } = pipeline;
  if (paging.by === 'after' && afterColumn(pipeline) === undefined)
    yield [paging.field, `its paging reads "${paging.field}", which is not the field of a text or integer column`];
  const known = [...Object.keys(parameters), ...filterParameters(pipeline), ...pagingParameters(paging)];
  if (pipeline.incremental?.parameter !== undefined) known.push(pipeline.incremental.parameter);
  for (const name of known)
    if (name?.startsWith('/') === true && request === undefined)
      yield [name, `the parameter "${name}" is a JSON pointer, but without "request" there is no body`];
  for (const [name, value] of Object.entries(headers)) {
    if (/^(host|content-length|transfer-encoding|connection)$/i.test(name))
      yield [name, `the header "${name}" can't be declared`];
    else if (/^(authorization|cookie)$/i.test(name) && typeof value === 'string')
      yield [name, `the header "${name}" contains a secret; give a variable: { variable: 'NAME' }`];
  }
  for (const [slot, name] of path.matchAll(/\{([^}]+)\}/g))
    if (!known.includes(name) && !(auth !== null && 'query' in auth && auth.query === name))
      yield [slot, `its path has ${slot}, but no parameter has this name`];
  for (const [name, column] of Object.entries(columns)) {
    if (column.kind !== 'text' && column.kind !== 'integer') continue;
    if (column.from === 'request' && !partitionParameters(pipeline).some((one) => one.column === name))
      yield [name, `the column "${name}" has its value from the request, but it is not the column of the partition`];
    if (column.from === 'name' && format !== 'json')
      yield [name, `the column "${name}" has the name of the record, but records in the format ${format} have none`];
  }
  for (const { parameter, column, values } of partitionParameters(pipeline))
    if (values === undefined && (isFrom(columns[column], 'request') || path.includes(`{${parameter}}`)))
      yield [parameter, `its partitions need "values", because no request returns all of them`];
}

/** Returns the pipelines whose records name the partitions of a pipeline. */
export function parentsOf({ pipelines }: Pick<Project, 'pipelines'>, table: string): string[] {
  return pipelines
    .filter((pipeline) => pipeline.table === table)
    .flatMap(partitionParameters)
    .flatMap(({ values }) => (values?.from === 'pipeline' ? [values.column.split('.')[0]!] : []));
}

function filterParameters(pipeline: AnyPipeline): string[] {
  return partitionParameters(pipeline).map(({ parameter }) => parameter);
}

function pagingParameters(paging: Paging): (string | undefined)[] {
  switch (paging.by) {
    case 'offset':
      return [paging.limit, paging.offset];
    case 'after':
      return [paging.parameter, paging.size];
    case 'page':
      return [paging.page, paging.size];
    case 'next':
      return ['parameter' in paging ? paging.parameter : undefined, paging.size];
    case 'none':
      return [];
  }
}
