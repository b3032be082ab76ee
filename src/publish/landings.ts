/** Selects the landings of a warehouse to resume or remove. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRekapError, systemCode } from '../errors.ts';
import { type LandedRun, openLandedRun } from '../land/landed-run.ts';
import { readRuns } from '../warehouse/runs-log.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { listLandedIds, listSnapshotIds, readCurrentId, readSnapshot } from '../warehouse/warehouse.ts';
import type { Run, SyncOptions } from './run.ts';
import { orClose } from '../runtime/bound-signal.ts';

/** Returns the IDs of syncs that built tables. A run that stopped before its line in runs.jsonl counts if its snapshot exists. */
export async function finishedRuns(warehouse: string): Promise<ReadonlySet<string>> {
  const withTables = (await readRuns(warehouse)).filter(
    ({ kind, outcome }) => kind === 'sync' && outcome !== 'failed' && outcome !== 'interrupted',
  );
  return new Set([...withTables.flatMap(({ run }) => run ?? []), ...(await listSnapshotIds(warehouse))]);
}

/** Opens the landings of runs interrupted since the last finished run, newest first. Empty if the run can't resume. */
export async function openResumedRuns(run: Run): Promise<LandedRun[]> {
  const { options, warn } = run;
  if (options.resumeWithin === null) return [];
  const nothing = (why: string): LandedRun[] => {
    warn(`There is nothing to resume: ${why}. The sync sends all its requests.`);
    return [];
  };
  // Only the full listing shows whether the stored pages are still current.
  const isPartial = options.partitions !== null || [...run.scopes.values()].some((scope) => 'except' in scope);
  if (isPartial) return nothing('a sync of some partitions does not read the full listing');
  const runs = await openBrokenOffRuns(run, new Date(run.startedAt.getTime() - options.resumeWithin));
  return runs.length === 0 ? nothing('no recent run was interrupted, or it stored no pages') : runs;
}

async function openBrokenOffRuns(run: Run, since: Date): Promise<LandedRun[]> {
  const { warehouse, source } = run.options;
  const { landing } = warehousePaths(warehouse);
  const finished = await finishedRuns(warehouse);
  const newestFirst = (await listLandedIds(warehouse)).filter((id) => id < run.id).toReversed();
  const firstFinished = newestFirst.findIndex((id) => finished.has(id));
  const opened: LandedRun[] = [];
  for (const id of newestFirst.slice(0, firstFinished < 0 ? undefined : firstFinished)) {
    const landed = await orClose(opened, () => openUsable(join(landing, id), since, run));
    if (landed === null) continue;
    if (landed.file.source === source && landed.size > 0) opened.push(landed);
    else await orClose(opened, () => landed.close());
  }
  return opened;
}

/** Returns null with a warning for an unreadable landing, so that the sync continues. */
async function openUsable(folder: string, since: Date, { warn }: Run): Promise<LandedRun | null> {
  try {
    return await openLandedRun(folder, since);
  } catch (error) {
    if (!isRekapError(error, 'landing')) throw error;
    warn(`A run cannot be resumed: ${error.message}`);
    return null;
  }
}

/** Removes old landings, except those of snapshots (with `keepLanding`, of the current one). Returns the IDs of the removed landings. */
export async function pruneLandings({
  warehouse,
  keep,
  keepLanding,
}: Pick<SyncOptions, 'warehouse' | 'keep' | 'keepLanding'>): Promise<string[]> {
  const current = await readCurrentId(warehouse);
  const ids = keepLanding === null ? await listSnapshotIds(warehouse) : current === null ? [] : [current];
  const needed = new Set<string>();
  for (const id of ids) for (const run of await runsOf(warehouse, id)) needed.add(run);
  const runs = await listLandedIds(warehouse);
  const old = runs.slice(0, Math.max(0, runs.length - (keepLanding ?? keep))).filter((run) => !needed.has(run));
  for (const run of old) await rm(join(warehousePaths(warehouse).landing, run), { recursive: true, force: true });
  return old;
}

/** Returns the runs whose responses have the rows of a snapshot. Throws if the manifest can't be read for now, because they would be removed. */
async function runsOf(warehouse: string, id: string): Promise<string[]> {
  try {
    const { manifest } = await readSnapshot(warehouse, id);
    return [manifest.run, ...Object.values(manifest.datasets).flatMap(({ reading }) => reading?.runs ?? [])];
  } catch (error) {
    if (['EIO', 'EMFILE', 'ENFILE'].includes(systemCode(error instanceof Error ? error.cause : null))) throw error;
    return [id];
  }
}
