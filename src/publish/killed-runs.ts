/** Finds and records runs whose process ended without recording them, such as after `kill -9`. */

import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRekapError } from '../errors.ts';
import { responsesFile } from '../land/formats.ts';
import { readLandedResponses, readRunFile } from '../land/landed-run.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { appendRun, readRuns, type RunLine } from '../warehouse/runs-log.ts';
import { listLandedIds, listSnapshotIds } from '../warehouse/warehouse.ts';
import { isLocked, lockWarehouse } from './lock.ts';

const killed = 137;

/** Returns all runs, oldest first, with a line for each killed run that isn't recorded yet, and the ID of the run that hasn't ended. */
export async function readAllRuns(
  warehouse: string,
): Promise<{ readonly lines: readonly RunLine[]; readonly running: string | null }> {
  const unrecorded = await listUnrecorded(warehouse);
  const running = unrecorded.length > 0 && (await isLocked(warehouse)) ? unrecorded.at(-1)! : null;
  // Read after the lock, because a run records its end before it releases the lock.
  const lines = await readRuns(warehouse);
  if (running !== null) return { lines, running };
  const recorded = new Set(lines.map(({ run }) => run));
  const dead = unrecorded.filter((id) => !recorded.has(id));
  return { lines: [...lines, ...(await describeKilled(warehouse, dead))], running };
}

/** Records killed runs, and returns their lines. The caller holds the lock, so no run is active. */
export async function recordKilled(warehouse: string): Promise<RunLine[]> {
  const lines = await describeKilled(warehouse, await listUnrecorded(warehouse));
  for (const line of lines) await appendRun(warehouse, line);
  return lines;
}

/** Records killed runs unless a run is active. Throws as `lockWarehouse` does. */
export async function lockAndRecordKilled(warehouse: string): Promise<RunLine[]> {
  if ((await listUnrecorded(warehouse)).length === 0) return [];
  const unlock = await lockWarehouse(warehouse);
  try {
    return await recordKilled(warehouse);
  } finally {
    unlock();
  }
}

/** Returns the IDs of runs without a line. None if the log is missing, because then recorded runs look the same. */
async function listUnrecorded(warehouse: string): Promise<string[]> {
  if (!existsSync(warehousePaths(warehouse).runs) && (await listSnapshotIds(warehouse)).length > 0) return [];
  const landed = await listLandedIds(warehouse);
  const recorded = new Set((await readRuns(warehouse)).map(({ run }) => run));
  return landed.filter((id) => !recorded.has(id));
}

async function describeKilled(warehouse: string, ids: readonly string[]): Promise<RunLine[]> {
  const { landing } = warehousePaths(warehouse);
  const published = new Set(await listSnapshotIds(warehouse));
  const lines: RunLine[] = [];
  for (const id of ids)
    try {
      lines.push(await describeLanding(join(landing, id), published.has(id)));
    } catch (error) {
      if (!isRekapError(error, 'landing')) throw error;
    }
  return lines;
}

async function describeLanding(landing: string, isPublished: boolean): Promise<RunLine> {
  const { run, started_at, source } = await readRunFile(landing);
  const requests = (await readLandedResponses(landing)).length;
  const { mtime } = await stat(join(landing, responsesFile));
  return {
    run,
    kind: 'sync',
    started_at,
    // The last sign of the run.
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
  };
}
