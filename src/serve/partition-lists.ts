/** Serves the endpoints that list partitions, such as /regions, from the records of their datasets. */

import type { AnyPipeline, Pipeline } from '../project/declaration.ts';
import { fieldPath, writeMember } from '../project/field-path.ts';
import { partitionLists, partitionParameters, splitPartition } from '../project/partition-list.ts';
import { buildRecordSet, type RecordSet, type RecordSource } from './record-source.ts';

/** Returns the lists that no dataset serves, one per path. */
export function servedLists(pipelines: readonly AnyPipeline[]): Pipeline[] {
  const taken = new Set(pipelines.map(({ path }) => path));
  return pipelines.flatMap(partitionLists).filter(({ path }) => !taken.has(path) && taken.add(path));
}

/** Adds the lists to a source. Datasets that declare the same path share a list. */
export function withPartitionLists(source: RecordSource, pipelines: readonly AnyPipeline[]): RecordSource {
  const lists = servedLists(pipelines);
  return {
    ...source,
    current(pipeline) {
      if (!lists.some(({ table }) => table === pipeline.table)) return source.current(pipeline);
      return listPartitions(pipeline, pipelines, (owner) => source.current(owner));
    },
  };
}

function listPartitions(
  { columns, key, path: listPath }: AnyPipeline,
  pipelines: readonly AnyPipeline[],
  current: (pipeline: AnyPipeline) => RecordSet,
): RecordSet {
  const path = fieldPath(columns[key[0]!]!.field);
  const datasets: RecordSet[] = [];
  const values = new Set<string>();
  for (const owner of pipelines)
    for (const [place, { values: from }] of partitionParameters(owner).entries()) {
      if (from?.from !== 'endpoint' || from.path !== listPath) continue;
      const set = current(owner);
      datasets.push(set);
      for (const partition of set.byPartition.keys()) values.add(splitPartition(owner, partition)[place]!);
    }
  const records = [...values].map((value) => {
    const record = {};
    writeMember(record, path, value);
    return { text: JSON.stringify(record), partition: null };
  });
  const lastModified = new Date(Math.max(...datasets.map((set) => set.lastModified.getTime())));
  return buildRecordSet(records, lastModified);
}
