/** Finds parameters of a filter that the source seems to ignore, if the records don't repeat their values. */

import { isFrom } from '../project/field-path.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { comparePartitions, partitionParameters, splitPartition } from '../project/partition-list.ts';
import type { Doubt } from './listing-checks.ts';

/**
 * Yields a doubt for each parameter that changes nothing. Only different partitions show that the source applies it.
 *
 * @param contents Contents of the partitions with records, without the values of the request.
 */
export function* findIgnoredFilters(pipeline: AnyPipeline, contents: ReadonlyMap<string, string>): Generator<Doubt> {
  for (const [place, { parameter, column }] of partitionParameters(pipeline).entries()) {
    if (!isFrom(pipeline.columns[column], 'request')) continue;
    // Partitions that differ only in this value.
    const groups = new Map<string, string[]>();
    for (const id of contents.keys()) {
      const others = splitPartition(pipeline, id).toSpliced(place, 1).join('/');
      groups.set(others, [...(groups.get(others) ?? []), id]);
    }
    const several = [...groups.values()].filter(({ length }) => length > 1);
    const isApplied = several.some((ids) => new Set(ids.map((id) => contents.get(id))).size > 1);
    if (isApplied || several.length === 0) continue;
    const named = several[0]!.toSorted(comparePartitions).slice(0, 3).join(', ');
    const reason = `partitions that differ only in "${parameter}", such as ${named}, have the same records, so the source seems to ignore "${parameter}"`;
    yield { partition: null, reason };
  }
}
