/** Checks a published snapshot and, as far as they are kept, the answers that it was made of. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from './errors.ts';
import { verifyLanding } from './land/verify-landing.ts';
import type { AnyPipeline } from './pipeline.ts';
import { verifySnapshot } from './publish/verify-snapshot.ts';
import { isSnapshotId, warehousePaths, wayBack, type Snapshot } from './warehouse.ts';

/** What a verification found. */
export interface Verification {
  /** Everything that is wrong, as sentences. */
  readonly problems: readonly string[];
  /** Whether the answers are kept and were checked; that retention has removed them is no damage. */
  readonly answers: 'kept' | 'gone';
  /** What to do about the problems. */
  readonly next: string;
}

export async function verifyPublished(
  warehouse: string,
  { id, folder, manifest }: Snapshot,
  pipelines: readonly AnyPipeline[],
): Promise<Verification> {
  const { run, landing: files } = manifest;
  const problems = await verifySnapshot(folder, manifest, pipelines);
  const landing = join(warehousePaths(warehouse).landing, run);
  if (!isSnapshotId(run) || !(await isThere(landing)))
    return { problems, answers: 'gone', next: await wayBack(warehouse, id) };
  const altered = (await verifyLanding(landing, files)).map((problem) => `landing/${run}: ${problem}`);
  const next =
    altered.length === 0
      ? await wayBack(warehouse, id)
      : problems.length === 0
        ? 'The tables are as they were published, but a replay of these answers can show it no more.'
        : 'Make another snapshot the current one with "rekap snapshots rollback", or run "rekap sync".';
  return { problems: [...problems, ...altered], answers: 'kept', next };
}

async function isThere(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch (error) {
    // What is there and cannot be read is named file by file.
    return errorCode(error) !== 'ENOENT';
  }
}
