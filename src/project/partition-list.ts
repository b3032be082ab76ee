/** Describes the endpoint that lists the partitions of a pipeline as a pipeline of its own. */

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
    records,
  };
}

/** Returns the name of the list in the landing. It contains a space, so no table can have it. */
export function nameOfList({ table }: AnyPipeline): string {
  return `${table} partitions`;
}
