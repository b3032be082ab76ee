/** The landings of a warehouse: which runs came to their end, which can be gone on from, and which are removed. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRekapError, systemCode } from '../errors.ts';
import { type LandedRun, openLandedRun } from '../land/landed-run.ts';
import { readRuns } from '../warehouse/runs-log.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { listLandedIds, listSnapshotIds, readCurrentId, readSnapshot } from '../warehouse/warehouse.ts';
import type { Run } from '../run-options.ts';
import { orClose } from '../runtime/bound-signal.ts';

/**
 * Ids of the syncs that made tables of their answers: they published them, found nothing new, were dry ones, or the gate refused them. One that
 * died between the switch and its line in runs.jsonl has its snapshot to show.
 */
export async function finishedRuns(warehouse: string): Promise<ReadonlySet<string>> {
  const withTables = (await readRuns(warehouse)).filter(
    ({ kind, outcome }) => kind === 'sync' && outcome !== 'failed' && outcome !== 'interrupted',
  );
  return new Set([...withTables.flatMap(({ run }) => run ?? []), ...(await listSnapshotIds(warehouse))]);
}

/**
 * The landings of runs that were broken off since the last one that came to its end, the newest first; none where the run is not to be
 * resumed or there is nothing to go on from.
 */
export async function openResumedRuns(run: Run): Promise<LandedRun[]> {
  const { options, warn } = run;
  if (options.resumeWithin === null) return [];
  const nothing = (why: string): LandedRun[] => {
    warn(`There is nothing to resume: ${why}. The sync reads all data.`);
    return [];
  };
  // Without the full listing nothing says whether what was landed is what the source holds now.
  if (options.partitions !== null) return nothing('a sync of some partitions does not read the full listing');
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

/** A landing that cannot be read is no reason not to sync. */
async function openUsable(folder: string, since: Date, { warn }: Run): Promise<LandedRun | null> {
  try {
    return await openLandedRun(folder, since);
  } catch (error) {
    if (!isRekapError(error, 'landing')) throw error;
    warn(`A run cannot be resumed: ${error.message}`);
    return null;
  }
}

export interface Retention {
  readonly warehouse: string;
  /** Snapshots to keep. */
  readonly keep: number;
  /** Landings to keep; null for as many as snapshots. */
  readonly keepLanding: number | null;
}

/**
 * Removes the landings of old runs. Those of every snapshot there is are kept, or where `keepLanding` is given, the current one's only.
 *
 * @returns The ids of the runs whose answers are gone.
 */
export async function pruneLandings({ warehouse, keep, keepLanding }: Retention): Promise<string[]> {
  const current = await readCurrentId(warehouse);
  const ids = keepLanding === null ? await listSnapshotIds(warehouse) : current === null ? [] : [current];
  const needed = new Set<string>();
  for (const id of ids) needed.add(await runOf(warehouse, id));
  const runs = await listLandedIds(warehouse);
  const old = runs.slice(0, Math.max(0, runs.length - (keepLanding ?? keep))).filter((run) => !needed.has(run));
  for (const run of old) await rm(join(warehousePaths(warehouse).landing, run), { recursive: true, force: true });
  return old;
}

/**
 * The run that made a snapshot; a replay gives a snapshot an id of its own where the run's is taken. A damaged manifest tells no run. One that
 * cannot be read for now may name a run whose answers would be gone: it keeps all of them.
 */
async function runOf(warehouse: string, id: string): Promise<string> {
  try {
    return (await readSnapshot(warehouse, id)).manifest.run;
  } catch (error) {
    if (['EIO', 'EMFILE', 'ENFILE'].includes(systemCode(error instanceof Error ? error.cause : null))) throw error;
    return id;
  }
}
