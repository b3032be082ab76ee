/** Checks a published snapshot and, as far as they are kept, the answers that it was made of. */

import { join } from 'node:path';
import { isRekapError, RekapError } from '../errors.ts';
import { verifyLanding } from '../land/landed-run.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { verifySnapshot } from '../publish/verify-snapshot.ts';
import { isSnapshotId, warehousePaths } from '../warehouse/snapshot-format.ts';
import { readSnapshot, type Snapshot } from '../warehouse/warehouse.ts';
import { isThere, newestWhole, recoveryHint } from '../warehouse/recovery-hint.ts';

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
  return {
    files: files.length,
    problems,
    answerProblems: altered,
    answers: !isKept ? 'gone' : altered.length > 0 ? 'damaged' : 'kept',
    next: await nextStep(warehouse, snapshot, { tables: problems.length > 0, answers: altered.length > 0 }),
  };
}

/** The error of a command that met a damaged snapshot: every problem on a line of its own. */
export function damagedError(what: string, problems: readonly string[], next: string): RekapError {
  return new RekapError('verification', [what, ...problems.map((problem) => `  - ${problem}`)].join('\n'), next);
}

/** What is to be done where the tables or the answers are damaged. */
async function nextStep(
  warehouse: string,
  { id, manifest }: Snapshot,
  damaged: { readonly tables: boolean; readonly answers: boolean },
): Promise<string> {
  if (!damaged.answers) return damaged.tables ? recoveryHint(warehouse, id, manifest.run) : '';
  if (!damaged.tables) return 'The tables are as they were published, but no replay can show that any more.';
  const other = await newestWhole(warehouse, id);
  return other === null
    ? 'Run the sync again to fetch the figures anew.'
    : `"rekap snapshots rollback ${other}" makes that one current; a new sync fetches the figures again.`;
}
