/** Which answers are kept: those of the newest runs, and of snapshots, as far as the user wants them. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import { listLandedIds, listSnapshotIds } from '../warehouse/run-ids.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { readCurrentId, readSnapshot } from '../warehouse/warehouse.ts';

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
