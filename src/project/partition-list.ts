/** Names and sorts partitions. Describes the endpoint that lists them as a separate pipeline. */

import type { AnyPipeline, PartitionParameter, Pipeline } from './declaration.ts';

/** The only column of the list. */
export const valueColumn = 'value';

/** Returns the parameters of a pipeline's filter; none if its list is proved as a whole. */
export function partitionParameters({ partition }: Pick<AnyPipeline, 'partition'>): readonly PartitionParameter[] {
  return partition === undefined ? [] : [partition, ...(partition.and ?? [])];
}

/** Returns the partition with these values, one for each parameter. In a combination, slashes and percent signs of a value are escaped. */
export function joinPartition(values: readonly string[]): string {
  return values.length === 1 ? values[0]! : values.map(escapeSlashes).join('/');
}

function escapeSlashes(value: string): string {
  return value.replaceAll('%', '%25').replaceAll('/', '%2F');
}

/** Returns the values of a partition, one for each parameter. */
export function splitPartition(pipeline: Pick<AnyPipeline, 'partition'>, partition: string): string[] {
  if (partitionParameters(pipeline).length === 1) return [partition];
  return partition.split('/').map((value) => value.replaceAll('%2F', '/').replaceAll('%25', '%'));
}

/** Returns SQL for the partition of a row as a text; NULL for a pipeline without partitions. */
export function partitionSql(pipeline: Pick<AnyPipeline, 'partition'>): string {
  const values = partitionParameters(pipeline).map(({ column }) => `"${column}"::VARCHAR`);
  if (values.length < 2) return values[0] ?? 'NULL::VARCHAR';
  return `(${values.map((value) => `replace(replace(${value}, '%', '%25'), '/', '%2F')`).join(" || '/' || ")})`;
}

/** Returns the lists of a pipeline whose partitions come from endpoints. */
export function partitionLists(pipeline: AnyPipeline): Pipeline[] {
  return partitionParameters(pipeline).flatMap((parameter) => partitionList(pipeline, parameter) ?? []);
}

function partitionList(pipeline: AnyPipeline, parameter: PartitionParameter): Pipeline | null {
  const { values } = parameter;
  if (values?.from !== 'endpoint') return null;
  const { path, field, records = pipeline.records, paging = pipeline.paging } = values;
  const comment = `Partitions of ${pipeline.table}.`;
  return {
    table: nameOfList(pipeline, parameter),
    title: comment,
    comment,
    path,
    columns: { [valueColumn]: { kind: 'text', field, comment } },
    key: [valueColumn],
    watch: [],
    checks: [],
    paging,
    format: pipeline.format,
    ...(pipeline.headers !== undefined && { headers: pipeline.headers }),
    records,
  };
}

/** Returns the name of the list in the landing. It contains a space, so no table can have it. */
export function nameOfList({ table, partition }: AnyPipeline, { column }: PartitionParameter): string {
  return partition?.column === column ? `${table} partitions` : `${table} partitions ${column}`;
}

/** @param name Its name in the records; null if unknown. */
export function namePartition(partition: string | null, name: string | null = null): string {
  return partition === null ? 'the full listing' : `partition ${partition}${name === null ? '' : ` (${name})`}`;
}

/** Compares two partitions for sorting: numbers by value, other texts by code point, the full listing first. */
export function comparePartitions(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  const parts = b.split('/');
  for (const [place, part] of a.split('/').entries()) {
    const difference = place < parts.length ? compareValues(part, parts[place]!) : 1;
    if (difference !== 0) return difference;
  }
  return Number(a.length > b.length) - Number(a.length < b.length);
}

function compareValues(a: string, b: string): number {
  const isNumber = /^-?\d+$/;
  if (isNumber.test(a) && isNumber.test(b)) {
    const difference = BigInt(a) - BigInt(b);
    return difference < 0n ? -1 : Number(difference > 0n);
  }
  return a < b ? -1 : Number(a > b);
}
