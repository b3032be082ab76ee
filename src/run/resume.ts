/** Finds what broken-off runs have landed, for the next run to go on from. */

import { join } from 'node:path';
import { closeAll, orClose } from '../close-all.ts';
import { isRekapError } from '../errors.ts';
import { finishedRuns } from './finished-runs.ts';
import { openLandedRun, type LandedRun } from '../land/landed-run.ts';
import type { LandedAnswers } from '../stages.ts';
import type { Run } from './run.ts';
import { listLandedIds } from '../warehouse/run-ids.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';

export interface ResumedAnswers extends LandedAnswers {
  close(): Promise<void>;
}

/**
 * The pages that the runs since the last finished one have landed, the newest first; null where the run is not to be resumed or there is
 * nothing to go on from.
 */
export async function openResumedAnswers(run: Run): Promise<ResumedAnswers | null> {
  const { options, around } = run;
  if (options.resumeWithin === null) return null;
  const nothing = (why: string): null => {
    around.report({ kind: 'warning', message: `There is nothing to resume: ${why}. Everything is asked for.` });
    return null;
  };
  // Without the full listing nothing says whether what was landed is what the source holds now.
  if (options.districts !== null) return nothing('districts that are asked for by --dapil are read without the list');
  const runs = await openBrokenOffRuns(run, new Date(run.startedAt.getTime() - options.resumeWithin));
  if (runs.length === 0) return nothing('no run was broken off lately, or it landed nothing');
  return {
    has: (request) => runs.some((landed) => landed.has(request)),
    answerTo: async (request) => (await runs.find((landed) => landed.has(request))?.answerTo(request)) ?? null,
    close: () => closeAll(runs),
  };
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
async function openUsable(folder: string, since: Date, { around }: Run): Promise<LandedRun | null> {
  try {
    return await openLandedRun(folder, since);
  } catch (error) {
    if (!isRekapError(error, 'landing')) throw error;
    around.report({ kind: 'warning', message: `A landing cannot be resumed from: ${error.message}` });
    return null;
  }
}
