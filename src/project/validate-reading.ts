/** Finds contradictions in what a pipeline reads: its partitions, its windows, and the parameters of its paging. */

import { withSuggestion } from '../runtime/closest-name.ts';
import { endOfPeriod } from './closed-partitions.ts';
import type { AnyPipeline, ColumnKind, Paging, PartitionParameter, Project } from './declaration.ts';
import { durationOf } from './duration.ts';
import { afterColumn } from './field-path.ts';
import { partitionParameters } from './partition-list.ts';
import { allColumns, columnOf, type Columns, type Found, isOf, repeated, suggest } from './validate-checks.ts';

export function* findPartitionProblems(pipeline: AnyPipeline, columns: Columns, project: Project): Found {
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

/** Finds contradictions in `incremental` and `closed`. */
export function* findIncrementalProblems(pipeline: AnyPipeline, { pipelines }: Project): Found {
  const { incremental, partition, columns, paging, parameters = {}, table } = pipeline;
  const { closed } = partition ?? {};
  if (closed !== undefined && !partitionParameters(pipeline).some(({ column }) => column === closed.column))
    yield [
      closed.column,
      `its closed partitions are named by "${closed.column}", which is not a column of the partition`,
    ];
  if (closed !== undefined && partition?.values === undefined)
    yield ['closed', 'its closed partitions need "values", because the list that names all partitions is not read'];
  const named = partitionParameters(pipeline).find(({ column }) => column === closed?.column)?.values;
  const odd = named?.from === 'list' ? named.values.find((value) => endOfPeriod(value) === null) : undefined;
  if (odd !== undefined)
    yield [odd, `its closed partitions must be named by a year, a month or a day, such as 2024-02, but "${odd}" isn't`];
  const child = pipelines.find((other) => parentsOf({ pipelines }, other.table).includes(table));
  if (child !== undefined && (incremental ?? closed) !== undefined)
    yield [
      incremental === undefined ? 'closed' : 'incremental',
      `it names the partitions of ${child.table}, so its whole list is needed`,
    ];
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
}

/** Returns the pipelines whose records name the partitions of a pipeline. */
export function parentsOf({ pipelines }: Pick<Project, 'pipelines'>, table: string): string[] {
  return pipelines
    .filter((pipeline) => pipeline.table === table)
    .flatMap(partitionParameters)
    .flatMap(({ values }) => (values?.from === 'pipeline' ? [values.column.split('.')[0]!] : []));
}

export function filterParameters(pipeline: AnyPipeline): string[] {
  return partitionParameters(pipeline).map(({ parameter }) => parameter);
}

export function pagingParameters(paging: Paging): (string | undefined)[] {
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
