/** Names and sorts partitions. Describes the endpoint that lists them as a separate pipeline. */

import type { AnyPipeline, Pipeline } from './declaration.ts';

/** The only column of the list. */
export const valueColumn = 'value';

/** Returns the list of a pipeline whose partitions come from an endpoint; null for other pipelines. */
export function partitionList(pipeline: AnyPipeline): Pipeline | null {
  const values = pipeline.partition?.values;
  if (values?.from !== 'endpoint') return null;
  const { path, field, records = pipeline.records, paging = pipeline.paging } = values;
  const comment = `Partitions of ${pipeline.table}.`;
  return {
    table: nameOfList(pipeline),
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
export function nameOfList({ table }: AnyPipeline): string {
  return `${table} partitions`;
}

/** @param name Its name in the records; null if unknown. */
export function namePartition(partition: string | null, name: string | null = null): string {
  return partition === null ? 'the full listing' : `partition ${partition}${name === null ? '' : ` (${name})`}`;
}

/** Compares two partitions for sorting: numbers by value, other texts by code point, the full listing first. */
export function comparePartitions(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  const isNumber = /^-?\d+$/;
  if (isNumber.test(a) && isNumber.test(b)) {
    const difference = BigInt(a) - BigInt(b);
    return difference < 0n ? -1 : Number(difference > 0n);
  }
  return a < b ? -1 : Number(a > b);
}
