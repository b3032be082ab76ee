/** Changes to a warehouse besides a sync: going back to an earlier snapshot, and removing old ones; both under the same lock. */

import { lockWarehouse } from './publish/lock.ts';
import { explainFileError } from './file-errors.ts';
import { pointCurrent, pruneSnapshots } from './publish/snapshot-folder.ts';
import { readCurrentId, readSnapshot, requireWarehouse } from './warehouse.ts';

/** Makes snapshot `id` the current one. */
export async function rollBack(warehouse: string, id: string): Promise<void> {
  await locked(warehouse, async () => {
    await readSnapshot(warehouse, id);
    await pointCurrent(warehouse, id);
  });
}

/** Removes the oldest snapshots beyond `keep`, never the current one; gives their ids. */
export async function prune(warehouse: string, keep: number): Promise<string[]> {
  return locked(warehouse, async () => pruneSnapshots(warehouse, keep, await readCurrentId(warehouse)));
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
