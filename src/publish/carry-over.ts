/**
 * Decides what a run reads of each dataset, and which rows of the previous snapshot stay in the new one. A failed sync publishes nothing, so it
 * keeps the whole previous snapshot.
 */

import { RekapError } from '../errors.ts';
import { type CarryOver, fullSyncHint, type Kept } from '../load/previous-tables.ts';
import { isClosed } from '../project/closed-partitions.ts';
import type { AnyPipeline, Incremental } from '../project/declaration.ts';
import { durationOf } from '../project/duration.ts';
import { comparePartitions } from '../project/partition-list.ts';
import type { Scope, Scopes, Verdict } from '../stages.ts';
import type { DatasetReading, Manifest, ManifestDataset } from '../warehouse/snapshot-format.ts';
import { recoveryHint, type Snapshot } from '../warehouse/warehouse.ts';
import { datasetFingerprint } from './manifest.ts';
import { findDamage } from './previous.ts';
import type { Run } from './run.ts';

/** Closed partitions that a sync reads again, each day others. */
const closedToRead = 3;

/** Milliseconds. A schedule doesn't start to the second, and seven nights may be a little less than seven days. */
const scheduleSlack = 3_600_000;

/**
 * Plans what to read.
 *
 * @param stored The scopes of the run that is replayed; null for a sync.
 * @throws `usage`, `source-mismatch` or `warehouse` if a partial sync can't keep the other rows.
 */
export async function planScopes(run: Run, stored: Scopes | null): Promise<Scopes> {
  const { requested, options, previous, project, warn } = run;
  const isPartial = options.partitions !== null || requested.length < project.pipelines.length;
  const scopes = new Map<string, Scope>();
  for (const pipeline of project.pipelines) {
    const { table } = pipeline;
    const scope = !requested.includes(pipeline)
      ? { only: [] }
      : options.partitions !== null
        ? { only: options.partitions }
        : stored === null
          ? incrementalScope(run, pipeline)
          : stored.get(table);
    if (scope !== undefined) scopes.set(table, scope);
  }
  if (previous === null) {
    if (isPartial)
      warn('There is no previous snapshot. The new snapshot will contain only the requested partitions and datasets.');
    return scopes;
  }
  if (scopes.size === 0) return scopes;
  requireSameRows(run, previous, scopes);
  const problems = await findDamage(previous, run.signal);
  if (problems.length === 0) return scopes;
  if (isPartial || stored !== null)
    throw new RekapError(
      'warehouse',
      `Nothing can be carried over from snapshot ${previous.id}, because it is damaged: ${problems.join('; ')}.`,
      `${fullSyncHint} ${recoveryHint(previous.id)}`,
    );
  warn(`Snapshot ${previous.id} is damaged, so the whole lists are read: ${problems.join('; ')}.`);
  return new Map();
}

/** Returns what a sync reads of a dataset that declares `incremental` or closed partitions; undefined for the whole list. */
function incrementalScope({ options, startedAt, previous }: Run, pipeline: AnyPipeline): Scope | undefined {
  const { incremental, partition, table } = pipeline;
  const before = previous?.manifest.datasets[table];
  if (before === undefined || previous?.manifest.source !== options.source) return undefined;
  if (before.definition !== datasetFingerprint(pipeline)) return undefined;
  if (partition?.closed !== undefined) {
    const closed = before.partitions.flatMap(({ partition: id }) =>
      id !== null && isClosed(pipeline, id, startedAt) ? [id] : [],
    );
    // Multiples of the golden ratio reach all partitions, on whichever days syncs run.
    const days = Math.floor(startedAt.getTime() / 86_400_000);
    const turn = Math.floor(((days * 0.618_034) % 1) * closed.length);
    const again = new Set([...closed, ...closed].slice(turn, turn + closedToRead));
    return { except: closed.filter((id) => !again.has(id)) };
  }
  if (incremental === undefined || before.rows === 0) return undefined;
  // All other grades require a proof of the whole list.
  if (options.requireProof !== null && options.requireProof !== 'incremental') return undefined;
  return isWholeDue(incremental, before, startedAt) ? undefined : { window: true };
}

/** Returns whether a proof of the whole list is due: there is none, or it is too old. */
export function isWholeDue({ wholeEvery }: Incremental, { reading }: ManifestDataset, startedAt: Date): boolean {
  const age = startedAt.getTime() - Date.parse(reading?.whole_at ?? '');
  return !(age >= 0 && age + scheduleSlack < durationOf(wholeEvery));
}

/** @throws `source-mismatch` or `usage` if the previous snapshot has figures from elsewhere, or was built by other rules. */
function requireSameRows({ options, project }: Run, previous: Snapshot, scopes: Scopes): void {
  if (previous.manifest.source !== options.source)
    throw new RekapError(
      'source-mismatch',
      `Snapshot ${previous.id} contains figures from ${previous.manifest.source}. Carrying them over would mix them with figures from ${options.source}.`,
      fullSyncHint,
    );
  for (const pipeline of project.pipelines) {
    const { table } = pipeline;
    const before = previous.manifest.datasets[table];
    if (before === undefined || !scopes.has(table) || before.definition === datasetFingerprint(pipeline)) continue;
    const old = previous.manifest.project.pipelines.find((other) => other.table === table);
    const place = old === undefined ? null : firstDifference(old, pipeline);
    throw new RekapError(
      'usage',
      `Rows of ${table} cannot be carried over from snapshot ${previous.id}, because ${place === null ? 'another release of rekap built it' : `the declaration of ${table} has changed: ${place}`}.`,
      fullSyncHint,
    );
  }
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

/** Returns the rows that stay, from what was read. A window that joined no rows was replaced by the whole list. */
export function keptRows(
  { scopes, previous, project }: Pick<Run, 'scopes' | 'previous' | 'project'>,
  verdicts: readonly Verdict[],
): CarryOver {
  const kept = new Map<string, Kept>();
  for (const { table } of project.pipelines) {
    const scope = scopes.get(table);
    if (scope === undefined || previous?.manifest.datasets[table] === undefined) continue;
    const own = verdicts.filter(({ dataset }) => dataset === table);
    if ('only' in scope) kept.set(table, { outside: scope.only });
    else if ('except' in scope) kept.set(table, { outside: own.flatMap(({ partition }) => partition ?? []) });
    else if (own.some(({ window }) => window !== undefined)) kept.set(table, { otherKeys: true });
  }
  return kept;
}

/** Returns the verdicts on all partitions of a dataset: those of this run, and the previous ones on what it keeps. */
export function verdictsAfter(
  { previous, id }: Pick<Run, 'previous' | 'id'>,
  kept: CarryOver,
  table: string,
  verdicts: readonly Verdict[],
): ManifestDataset['partitions'] {
  const own = verdicts.filter(({ dataset }) => dataset === table).map((verdict) => ({ ...verdict, run: id }));
  const rows = kept.get(table);
  if (rows === undefined || 'otherKeys' in rows) return own.toSorted(byPartition);
  const before = previous?.manifest.datasets[table]?.partitions ?? [];
  const others = before.filter(({ partition }) => partition === null || !rows.outside.includes(partition));
  return [...others, ...own].toSorted(byPartition);
}

function byPartition(a: Verdict, b: Verdict): number {
  return comparePartitions(a.partition, b.partition);
}

/** Returns how a dataset was read, and which runs have the responses with its rows. */
export function readingAfter(
  { previous, id, startedAt, scopes }: Pick<Run, 'previous' | 'id' | 'startedAt' | 'scopes'>,
  kept: CarryOver,
  table: string,
  partitions: ManifestDataset['partitions'],
): Omit<DatasetReading, 'missed'> {
  const rows = kept.get(table);
  const scope = scopes.get(table);
  if (rows === undefined && scope !== undefined && 'only' in scope)
    return scope.only.length === 0
      ? { scope: 'nothing', from: null, whole_at: null, runs: [] }
      : { scope: 'partitions', from: null, whole_at: null, runs: [id] };
  const before = previous?.manifest;
  if (rows === undefined || before === undefined)
    return { scope: 'whole', from: null, whole_at: startedAt.toISOString(), runs: [id] };
  const { whole_at, runs } = readingOf(before, table);
  const from = before.snapshot;
  if ('otherKeys' in rows) return { scope: 'window', from, whole_at, runs: [...runs, id] };
  if (rows.outside.length === 0) return { scope: 'nothing', from, whole_at, runs };
  const readBy = new Set(partitions.map(({ run }) => run ?? before.run));
  return { scope: 'partitions', from, whole_at, runs: [...readBy].toSorted() };
}

/** Returns how a dataset of a manifest was read. A manifest of an earlier release doesn't say it. */
export function readingOf(manifest: Manifest, table: string): DatasetReading {
  const { reading } = manifest.datasets[table]!;
  return reading ?? { scope: 'whole', from: null, whole_at: manifest.created_at, runs: [manifest.run] };
}
