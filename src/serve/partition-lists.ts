/** Serves the endpoints that list partitions, such as /regions, from the records of their datasets. */

import type { AnyPipeline, Pipeline } from '../project/declaration.ts';
import { fieldPath, writeMember } from '../project/field-path.ts';
import { partitionList } from '../project/partition-list.ts';
import { buildRecordSet, type RecordSet, type RecordSource } from './record-source.ts';

/** Returns the lists that no dataset serves, one per path. */
export function partitionLists(pipelines: readonly AnyPipeline[]): Pipeline[] {
  const taken = new Set(pipelines.map(({ path }) => path));
  return pipelines.flatMap((pipeline) => {
    const list = partitionList(pipeline);
    if (list === null || taken.has(list.path)) return [];
    taken.add(list.path);
    return [list];
  });
}

/** Adds the lists to a source. Datasets that declare the same path share a list. */
export function withPartitionLists(source: RecordSource, pipelines: readonly AnyPipeline[]): RecordSource {
  const owners = new Map<string, AnyPipeline[]>();
  for (const list of partitionLists(pipelines))
    owners.set(
      list.table,
      pipelines.filter((pipeline) => partitionList(pipeline)?.path === list.path),
    );
  return {
    ...source,
    current(pipeline) {
      const datasets = owners.get(pipeline.table)?.map((owner) => source.current(owner));
      return datasets === undefined ? source.current(pipeline) : listPartitions(pipeline, datasets);
    },
  };
}

function listPartitions({ columns, key }: AnyPipeline, datasets: readonly RecordSet[]): RecordSet {
  const path = fieldPath(columns[key[0]!]!.field);
  const values = new Set(datasets.flatMap(({ byPartition }) => [...byPartition.keys()]));
  const records = [...values].map((value) => {
    const record = {};
    writeMember(record, path, value);
    return { text: JSON.stringify(record), partition: null };
  });
  const lastModified = new Date(Math.max(...datasets.map((set) => set.lastModified.getTime())));
  return buildRecordSet(records, lastModified);
}
