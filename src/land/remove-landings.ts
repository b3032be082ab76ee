/** Keeps the landings of the newest runs and of the snapshots there are; removes all others. */

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSnapshotId } from '../snapshot-format.ts';

/**
 * @param landings Folder that holds one folder per run; run ids sort by time.
 * @param keep How many of the newest runs to keep.
 * @param needed Runs to keep in any case.
 * @returns The runs whose landings are gone.
 */
export async function removeLandings(landings: string, keep: number, needed: ReadonlySet<string>): Promise<string[]> {
  // What somebody else has put there is theirs, and is no run to be counted.
  const runs = (await readdir(landings)).filter(isSnapshotId).toSorted();
  const doomed = runs.slice(0, Math.max(0, runs.length - keep)).filter((run) => !needed.has(run));
  for (const run of doomed) await rm(join(landings, run), { recursive: true, force: true });
  return doomed;
}
