/** Gives a line in runs.jsonl to runs that died before they could write their own. Called with the lock held: nobody is under way. */

import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRekapError } from '../errors.ts';
import { answersFile, type RunFile } from '../land/formats.ts';
import { readAnswers, readRunFile } from '../land/landed-run.ts';
import { appendRun, readRuns } from '../warehouse/runs-log.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { listLandedIds, listSnapshotIds } from '../warehouse/warehouse.ts';

/** What a process that is killed has for an exit code. */
const killed = 137;

/** A warehouse whose log somebody took away says nothing of who was killed. */
export async function recordKilled(warehouse: string): Promise<void> {
  const paths = warehousePaths(warehouse);
  const published = new Set(await listSnapshotIds(warehouse));
  if (!existsSync(paths.runs) && published.size > 0) return;
  const known = new Set((await readRuns(warehouse)).map(({ run }) => run));
  const silent = (await listLandedIds(warehouse)).filter((id) => !known.has(id));
  for (const id of silent) await record(warehouse, join(paths.landing, id), published.has(id));
}

async function record(warehouse: string, landing: string, isPublished: boolean): Promise<void> {
  let file: RunFile;
  let requests = 0;
  try {
    file = await readRunFile(landing);
    requests = (await readAnswers(landing)).length;
  } catch (error) {
    // What cannot be read tells nothing of its run.
    if (isRekapError(error, 'landing')) return;
    throw error;
  }
  const { run, started_at, source } = file;
  const { mtime } = await stat(join(landing, answersFile));
  await appendRun(warehouse, {
    run,
    kind: 'sync',
    started_at,
    // The last that was heard of it.
    finished_at: mtime.toISOString(),
    outcome: isPublished ? 'published' : 'interrupted',
    exit_code: killed,
    source,
    snapshot: isPublished ? run : null,
    reason: isPublished
      ? 'The process ended after it published, but before it recorded the outcome.'
      : 'The process was killed, or the machine stopped.',
    requests,
    retries: 0,
  });
}
