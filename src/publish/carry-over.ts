/**
 * Decides which rows of the previous snapshot stay in the new one: those of datasets and partitions that a partial sync doesn't read. A failed
 * sync publishes nothing, so it keeps the whole previous snapshot.
 */

import { RekapError } from '../errors.ts';
import { type CarryOver, fullSyncHint } from '../load/previous-tables.ts';
import { comparePartitions } from '../project/partition-list.ts';
import type { Verdict } from '../stages.ts';
import type { ManifestDataset } from '../warehouse/snapshot-format.ts';
import { recoveryHint } from '../warehouse/warehouse.ts';
import { datasetFingerprint } from './manifest.ts';
import { findDamage } from './previous.ts';
import type { Run } from './run.ts';

/** Plans to carry over partitions and datasets that this run doesn't request. Returns null if nothing is carried over. */
export async function planCarryOver({
  requested,
  options,
  previous,
  project,
  warn,
  signal,
}: Run): Promise<CarryOver | null> {
  const isPartial = options.partitions !== null || requested.length < project.pipelines.length;
  if (!isPartial) return null;
  if (previous === null) {
    warn('There is no previous snapshot. The new snapshot will contain only the requested partitions and datasets.');
    return null;
  }
  if (previous.manifest.source !== options.source) {
    throw new RekapError(
      'source-mismatch',
      `Snapshot ${previous.id} contains figures from ${previous.manifest.source}. Carrying them over would mix them with figures from ${options.source}.`,
      fullSyncHint,
    );
  }
  const problems = await findDamage(previous, signal);
  if (problems.length > 0) {
    throw new RekapError(
      'warehouse',
      `Nothing can be carried over from snapshot ${previous.id}, because it is damaged: ${problems.join('; ')}.`,
      `${fullSyncHint} ${recoveryHint(previous.id)}`,
    );
  }
  const replaced = new Map<string, readonly string[] | null>();
  for (const pipeline of project.pipelines) {
    const { table } = pipeline;
    const before = previous.manifest.datasets[table];
    const partitions = requested.includes(pipeline) ? options.partitions : [];
    if (before !== undefined && partitions !== null && before.definition !== datasetFingerprint(pipeline)) {
      const old = previous.manifest.project.pipelines.find((other) => other.table === table);
      const place = old === undefined ? null : firstDifference(old, pipeline);
      throw new RekapError(
        'usage',
        `Rows of ${table} cannot be carried over from snapshot ${previous.id}, because ${place === null ? 'another release of rekap built it' : `the declaration of ${table} has changed: ${place}`}.`,
        fullSyncHint,
      );
    }
    replaced.set(table, before === undefined ? null : partitions);
  }
  return { replaced };
}

/** Returns where two declarations first differ, such as `columns.day.offset`, or null. */
function firstDifference(old: unknown, now: unknown, place: readonly string[] = []): string | null {
  if (!isObject(old) || !isObject(now)) return old === now ? null : place.join('.');
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  for (const name of names) {
    const found = firstDifference(old[name], now[name], [...place, name]);
    if (found !== null) return found;
  }
  // The order of columns is that of the table.
  return place.join() === 'columns' && Object.keys(old).join() !== Object.keys(now).join() ? place.join('.') : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Returns the verdicts on all partitions of a dataset: those of this run, and the previous ones on what it keeps. */
export function verdictsAfter(
  { carryOver, previous }: Run,
  table: string,
  verdicts: readonly Verdict[],
): ManifestDataset['partitions'] {
  const read = carryOver?.replaced.get(table) ?? null;
  const before = read === null ? [] : (previous?.manifest.datasets[table]?.partitions ?? []);
  const kept = before.filter(({ partition }) => partition === null || !read!.includes(partition));
  const own = verdicts.filter(({ dataset }) => dataset === table);
  return [...kept, ...own].toSorted((a, b) => comparePartitions(a.partition, b.partition));
}

/** Returns whether a run reads all records of a dataset, so that nothing of the previous snapshot stays. */
export function readsAll({ carryOver }: Run, table: string): boolean {
  return (carryOver?.replaced.get(table) ?? null) === null;
}
