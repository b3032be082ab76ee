/** Finds contradictions in a project, each as a sentence with the file and the name it concerns. */

import type { AnyPipeline, Auth, ColumnKind, Project } from './declaration.ts';
import { partitionParameters } from './partition-list.ts';
import { formatNumber } from '../runtime/text.ts';
import { problemOfFormat } from './time-format.ts';
import { afterColumn, fieldPath, isBeside, isFrom, nextPointer } from './field-path.ts';
import { type Columns, findCheckProblems, type Found, isOf, repeated, suggest, summable } from './validate-checks.ts';
import {
  type DeclarationProblem,
  findCheckNameProblems,
  findNameProblems,
  findNamesProblems,
  findSqlFileProblems,
} from './validate-names.ts';
import {
  filterParameters,
  findIncrementalProblems,
  findPartitionProblems,
  pagingParameters,
} from './validate-reading.ts';
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
