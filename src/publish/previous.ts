/** Checks the previous snapshot for damage, and decides what a run carries over from it. */

import { join } from 'node:path';
import { verifySnapshot } from './verify-snapshot.ts';
import { findAltered } from '../warehouse/check-files.ts';
import { databaseFile } from '../warehouse/snapshot-format.ts';
import { recoveryHint, type Snapshot } from '../warehouse/warehouse.ts';
import { isRekapError, RekapError } from '../errors.ts';
import { fullSyncHint, type CarryOver } from '../load/previous-tables.ts';
import { datasetFingerprint } from './manifest.ts';
import type { Run } from './run.ts';

/** Returns what is damaged, as sentences. A database that another program holds doesn't count as damaged. */
export async function findDamage({ folder, manifest }: Snapshot, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return await verifySnapshot(folder, manifest, { signal });
  } catch (error) {
    if (isRekapError(error, 'database-held')) return [];
    throw error;
  }
}

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

/**
 * Returns the path of the previous snapshot's DuckDB file, or null to start a new history.
 * @throws `warehouse` if the file was changed and the user doesn't accept losing the history.
 */
export async function findPrevious({ previous, options, warn }: Run): Promise<string | null> {
  if (previous === null) return null;
  const { folder, manifest, id } = previous;
  const [altered] = await findAltered(
    folder,
    manifest.files.filter(({ path }) => path === databaseFile),
  );
  if (altered === undefined) return join(folder, databaseFile);
  const message = `Snapshot ${id} is damaged. Its DuckDB file is not the published one: ${altered.why}.`;
  if (!options.acceptChanges)
    throw new RekapError(
      'warehouse',
      message,
      `${recoveryHint(id)} To start a new history of snapshots and changes, add --accept-changes.`,
    );
  warn(`${message} A new history of snapshots and changes starts.`);
  return null;
}

/** Returns a new error if the previous snapshot is damaged although its hashes match. Such damage shows only when reading. */
export async function explainByPrevious({ previous, signal }: Run, error: unknown): Promise<unknown> {
  if (previous === null || error instanceof RekapError) return error;
  const problems = await verifySnapshot(previous.folder, previous.manifest, { signal });
  if (problems.length === 0) return error;
  return new RekapError(
    'warehouse',
    `The history cannot continue from snapshot ${previous.id}, because it is damaged: ${problems.join('; ')}.`,
    recoveryHint(previous.id),
    { cause: error },
  );
}
