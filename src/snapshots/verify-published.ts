/** Checks a published snapshot and, as far as they are kept, the answers that it was made of. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRekapError, RekapError, systemCode } from '../errors.ts';
import { verifyLanding } from '../land/landed-run.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { verifySnapshot } from '../publish/verify-snapshot.ts';
import { isSnapshotId, warehousePaths } from '../warehouse/snapshot-format.ts';
import { readSnapshot, type Snapshot } from '../warehouse/warehouse.ts';
import { recoveryHint } from '../warehouse/warehouse.ts';

/** What a verification found. */
export interface Verification {
  /** Number of files that the manifest names; 0 where it cannot be read. */
  readonly files: number;
  /** Everything that is wrong with the snapshot itself, as sentences. */
  readonly problems: readonly string[];
  /** The same of the answers that it was made of. */
  readonly answerProblems: readonly string[];
  /** Whether the answers are kept and were checked; that retention has removed them is no damage. Unknown where the manifest does not say what they were. */
  readonly answers: 'kept' | 'damaged' | 'gone' | 'unknown';
  /** What to do about the problems; empty where there are none. */
  readonly next: string;
}

/**
 * Checks the snapshot of this id; a manifest that cannot be read is damage too.
 *
 * @throws `snapshot-not-found` where there is none of this id.
 */
export async function verifyPublished(
  warehouse: string,
  id: string,
  pipelines: readonly AnyPipeline[],
): Promise<Verification> {
  let snapshot: Snapshot;
  try {
    snapshot = await readSnapshot(warehouse, id);
  } catch (error) {
    if (!isRekapError(error, 'warehouse')) throw error;
    return { files: 0, problems: [error.message], answerProblems: [], answers: 'unknown', next: error.next };
  }
  const { run, landing, files } = snapshot.manifest;
  const problems = await verifySnapshot(snapshot.folder, snapshot.manifest, pipelines);
  const folder = join(warehousePaths(warehouse).landing, run);
  // What is there and cannot be read is named file by file.
  const isKept = isSnapshotId(run) && (await isThere(folder));
  const altered = isKept ? (await verifyLanding(folder, landing)).map((problem) => `landing/${run}: ${problem}`) : [];
  const answers = !isKept ? 'gone' : altered.length > 0 ? 'damaged' : 'kept';
  const next = nextStep(snapshot, problems.length > 0, answers);
  return { files: files.length, problems, answerProblems: altered, answers, next };
}

/** The error of a command that met a damaged snapshot: every problem on a line of its own. */
export function damagedError(what: string, problems: readonly string[], next: string): RekapError {
  return new RekapError('verification', [what, ...problems.map((problem) => `  - ${problem}`)].join('\n'), next);
}

/** What is to be done where the tables or the answers are damaged. */
function nextStep({ id, manifest }: Snapshot, isDamaged: boolean, answers: Verification['answers']): string {
  if (isDamaged && answers === 'kept') return recoveryHint(id, manifest.run);
  if (isDamaged)
    return 'Run the sync again to fetch the figures anew, or go back to another snapshot: "rekap snapshots list" shows them.';
  return answers === 'damaged' ? 'The tables are as they were published, but no replay can show that any more.' : '';
}

/** Whether there is such a folder, readable or not. */
async function isThere(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ENOENT';
  }
}
