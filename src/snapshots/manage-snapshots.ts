/** What is done with published snapshots besides a sync: verify one, go back to one, remove old ones. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRekapError, RekapError, systemCode, systemReason } from '../errors.ts';
import { verifyLanding } from '../land/landed-run.ts';
import { lockWarehouse } from '../publish/lock.ts';
import { pruneSnapshots } from '../publish/snapshot-folder.ts';
import { pinSnapshot, pointCurrent, unpinSnapshot } from '../publish/switch-current.ts';
import { explainFileError } from '../warehouse/file-errors.ts';
import { isSnapshotId, warehousePaths } from '../warehouse/snapshot-format.ts';
import {
  readCurrent,
  readCurrentId,
  readPinnedId,
  readSnapshot,
  recoveryHint,
  requireWarehouse,
  type Snapshot,
} from '../warehouse/warehouse.ts';
import { pruneLandings, type Retention } from '../publish/landings.ts';
import { beginsAnew } from '../run.ts';
import { verifyAgainst } from '../publish/verify-against.ts';

/** What a verification found. */
interface Verification {
  /** Number of files that the manifest names; 0 where it cannot be read. */
  readonly files: number;
  /** Everything that is wrong with the snapshot itself, as sentences. */
  readonly problems: readonly string[];
  /** The same of the answers that it was made of. */
  readonly answerProblems: readonly string[];
  /** That retention has removed the answers is no damage. Unknown where the manifest does not say what they were. */
  readonly answers: 'kept' | 'damaged' | 'gone' | 'unknown';
  /** What to do about the problems; empty where there are none. */
  readonly next: string;
}

/**
 * Checks the snapshot of this id and, as far as they are kept, the answers that it was made of. A manifest that cannot be read is damage too.
 *
 * @throws `snapshot-not-found` where there is none of this id.
 */
export async function verifyPublished(warehouse: string, id: string): Promise<Verification> {
  let snapshot: Snapshot;
  try {
    snapshot = await readSnapshot(warehouse, id);
  } catch (error) {
    if (!isRekapError(error, 'warehouse')) throw error;
    return { files: 0, problems: [error.message], answerProblems: [], answers: 'unknown', next: error.next };
  }
  const { run, landing, files } = snapshot.manifest;
  const problems = await verifyAgainst(snapshot);
  const folder = join(warehousePaths(warehouse).landing, run);
  // What is there and cannot be read is named file by file.
  const isKept = isSnapshotId(run) && (await isThere(folder));
  const altered = isKept ? (await verifyLanding(folder, landing)).map((problem) => `landing/${run}: ${problem}`) : [];
  const answers = !isKept ? 'gone' : altered.length > 0 ? 'damaged' : 'kept';
  const next = nextStep(snapshot, problems.length > 0, answers);
  return { files: files.length, problems, answerProblems: altered, answers, next };
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

function nextStep({ id, manifest }: Snapshot, isDamaged: boolean, answers: Verification['answers']): string {
  if (isDamaged && answers === 'kept') return recoveryHint(id, manifest.run);
  if (isDamaged)
    return 'Run the sync again, or roll back to another snapshot. To list the snapshots, run "rekap snapshots list".';
  return answers === 'damaged' ? 'The tables are intact, but a replay can no longer prove them.' : '';
}

/** The error of a command that met a damaged snapshot: every problem on a line of its own. */
export function damagedError(what: string, problems: readonly string[], next: string): RekapError {
  return new RekapError('verification', [what, ...problems.map((problem) => `  - ${problem}`)].join('\n'), next);
}

/** What there is to say of a snapshot that has been made current again. */
interface RolledBack extends Pick<Verification, 'answerProblems' | 'next'> {
  /** The source whose history the next sync begins anew, because the snapshot holds sample figures; null where it goes on. */
  readonly endsHistoryOf: string | null;
}

/**
 * Makes snapshot `id` the current one, if it is whole, and pins it, so that no sync replaces it. Gives what is wrong with its answers, which
 * are not needed for it.
 *
 * @throws `snapshot-not-found` where there is none of this id, `verification` naming what is wrong with a damaged one.
 */
export async function rollBack(warehouse: string, id: string): Promise<RolledBack> {
  return locked(warehouse, async () => {
    const before = await readCurrent(warehouse).catch(() => null);
    const { problems, answerProblems, next } = await verifyPublished(warehouse, id);
    if (problems.length > 0) throw damagedError(`Snapshot ${id} is damaged and was not made current:`, problems, next);
    // Readers get the right figures first: a rollback that dies in between has not pinned anything, and hasn't said so.
    await pointCurrent(warehouse, id);
    await pinSnapshot(warehouse, id).catch((error: unknown) => {
      const what = `Snapshot ${id} is current, but it could not be pinned: ${systemReason(error)}.`;
      throw new RekapError('file', what, 'The next sync will replace it. Run the rollback again.', { cause: error });
    });
    const now = await readSnapshot(warehouse, id);
    const source = before?.manifest.source ?? now.manifest.source;
    return { answerProblems, next, endsHistoryOf: beginsAnew(source, now) ? source : null };
  });
}

/** Removes the pin, so that the next sync can replace the current snapshot. Returns the id that was pinned; null if none was, or if the pin was damaged. */
export async function unpin(warehouse: string): Promise<string | null> {
  return locked(warehouse, async () => {
    const pinned = await readPinnedId(warehouse).catch(() => null);
    await unpinSnapshot(warehouse);
    return pinned;
  });
}

/** What a pruning removed. */
interface Pruned {
  /** Ids of snapshots. */
  readonly removed: readonly string[];
  /** Ids of runs whose answers are gone. */
  readonly landings: readonly string[];
}

/** Removes the oldest snapshots and answers beyond what is to be kept, never the current and the pinned ones. */
export async function prune(retention: Retention): Promise<Pruned> {
  const { warehouse, keep } = retention;
  return locked(warehouse, async () => {
    const removed = await pruneSnapshots(warehouse, keep, [
      await readCurrentId(warehouse),
      await readPinnedId(warehouse),
    ]);
    return { removed, landings: await pruneLandings(retention) };
  });
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
