/** Which runs came to their end: those can be replayed, and none of them is resumed. */

import { readRuns } from '../publish/runs-log.ts';
import { listSnapshotIds } from '../warehouse/run-ids.ts';

/**
 * Ids of the syncs that made tables of their answers: they published them, found nothing new, were dry ones, or the gate refused them. One that
 * died between the switch and its line in runs.jsonl has its snapshot to show.
 */
export async function finishedRuns(warehouse: string): Promise<ReadonlySet<string>> {
  const withTables = (await readRuns(warehouse)).filter(
    ({ kind, outcome }) => kind === 'sync' && outcome !== 'failed' && outcome !== 'interrupted',
  );
  return new Set([...withTables.map(({ run }) => run), ...(await listSnapshotIds(warehouse))]);
}
