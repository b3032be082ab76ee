/** Keeps the landings of the newest runs and of the snapshots there are; removes all others. */

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * @param landings Folder that holds one folder per run; run ids sort by time.
 * @param keep How many of the newest runs to keep.
 * @param needed Runs to keep in any case.
 */
export async function pruneLandings(landings: string, keep: number, needed: ReadonlySet<string>): Promise<void> {
  const runs = (await readdir(landings)).toSorted();
  for (const run of runs.slice(0, Math.max(0, runs.length - keep))) {
    if (!needed.has(run)) await rm(join(landings, run), { recursive: true, force: true });
  }
}
