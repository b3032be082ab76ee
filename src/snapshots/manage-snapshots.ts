/** Changes to a warehouse besides a sync: going back to an earlier snapshot, and removing old ones; both under the same lock. */

import { explainFileError } from '../warehouse/file-errors.ts';
import type { Project } from '../pipeline.ts';
import { lockWarehouse } from '../publish/lock.ts';
import { pruneSnapshots } from '../publish/snapshot-folder.ts';
import { pointCurrent } from '../publish/switch-current.ts';
import { pruneLandings, type Retention } from '../run/landings.ts';
import { damagedError, verifyPublished, type Verification } from './verify-published.ts';
import { beginsAnew } from '../run/run.ts';
import { readCurrent, readCurrentId, readSnapshot, requireWarehouse } from '../warehouse/warehouse.ts';

/**
 * Makes snapshot `id` the current one, if it is whole. Gives what is wrong with its answers, which are not needed for it.
 *
 * @throws `snapshot-not-found` where there is none of this id, VerificationError naming what is wrong with a damaged one.
 */
export async function rollBack({ pipelines }: Project, warehouse: string, id: string): Promise<RolledBack> {
  return locked(warehouse, async () => {
    const before = await readCurrent(warehouse).catch(() => null);
    const { problems, answerProblems, next } = await verifyPublished(warehouse, id, pipelines);
    if (problems.length > 0) throw damagedError(`Snapshot ${id} is damaged and was not made current:`, problems, next);
    await pointCurrent(warehouse, id);
    const now = await readSnapshot(warehouse, id);
    const source = before?.manifest.source ?? now.manifest.source;
    return { answerProblems, next, endsHistoryOf: beginsAnew(source, now) ? source : null };
  });
}

/** What there is to say of a snapshot that has been made current again. */
export interface RolledBack extends Pick<Verification, 'answerProblems' | 'next'> {
  /** The source whose history the next sync begins anew, for the snapshot holds sample figures; null where it goes on. */
  readonly endsHistoryOf: string | null;
}

/** What a pruning removed. */
export interface Pruned {
  /** Ids of snapshots. */
  readonly removed: readonly string[];
  /** Ids of runs whose answers are gone. */
  readonly landings: readonly string[];
}

/** Removes the oldest snapshots and answers beyond what is to be kept, never the current ones. */
export async function prune(retention: Retention): Promise<Pruned> {
  const { warehouse, keep } = retention;
  return locked(warehouse, async () => {
    const removed = await pruneSnapshots(warehouse, keep, [await readCurrentId(warehouse)]);
    return { removed, landings: await pruneLandings(retention) };
  });
}

async function locked<Value>(warehouse: string, act: () => Promise<Value>): Promise<Value> {
  await requireWarehouse(warehouse);
  try {
    const unlock = await lockWarehouse(warehouse);
    try {
      return await act();
    } finally {
      unlock();
    }
  } catch (error) {
    throw explainFileError(error, warehouse);
  }
}
