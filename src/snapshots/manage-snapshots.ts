/** Verifies and rolls back published snapshots. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRekapError, RekapError, systemCode, systemReason } from '../errors.ts';
import { verifyLanding } from '../land/landed-run.ts';
import { lockWarehouse } from '../publish/lock.ts';
import { pinSnapshot, pointCurrent } from '../publish/switch-current.ts';
import { explainFileError } from '../warehouse/file-errors.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { readCurrent, readSnapshot, recoveryHint, requireWarehouse, type Snapshot } from '../warehouse/warehouse.ts';
import { startsNewHistory } from '../run/with-run.ts';
import { verifyAgainst } from '../publish/check-built.ts';

/** Result of a verification. */
export interface Verification {
  readonly files: number;
  /** Problems of the snapshot, as sentences. */
  readonly problems: readonly string[];
  /** Problems of its stored responses, as sentences. */
  readonly responseProblems: readonly string[];
  /** 'gone' after retention removed the responses, which isn't damage. 'unknown' if the manifest can't be read. */
  readonly responses: 'kept' | 'damaged' | 'gone' | 'unknown';
  readonly next: string;
}

/**
 * Verifies a snapshot and its stored responses. An unreadable manifest counts as damage.
 * @throws `snapshot-not-found` if no snapshot has this ID.
 */
export async function verifyPublished(warehouse: string, id: string, signal?: AbortSignal): Promise<Verification> {
  let snapshot: Snapshot;
  try {
    snapshot = await readSnapshot(warehouse, id);
  } catch (error) {
    if (!isRekapError(error, 'warehouse')) throw error;
    return { files: 0, problems: [error.message], responseProblems: [], responses: 'unknown', next: error.next };
  }
  const { run, landing, files } = snapshot.manifest;
  const problems = await verifyAgainst(snapshot, signal);
  const folder = join(warehousePaths(warehouse).landing, run);
  const isKept = await readdir(folder).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT',
  );
  const damage = isKept ? await verifyLanding(folder, landing, signal) : [];
  const altered = damage.map((problem) => `landing/${run}: ${problem}`);
  const responses = !isKept ? 'gone' : altered.length > 0 ? 'damaged' : 'kept';
  const next = nextStep(snapshot, problems.length > 0, responses);
  return { files: files.length, problems, responseProblems: altered, responses, next };
}

function nextStep({ id }: Snapshot, isDamaged: boolean, responses: Verification['responses']): string {
  if (isDamaged && responses === 'kept') return recoveryHint(id);
  if (isDamaged)
    return 'Run the sync again, or roll back to another snapshot. To list the snapshots, run "rekap snapshots".';
  return responses === 'damaged'
    ? 'The tables are intact, but a replay cannot reproduce them. To store new responses, run the sync again.'
    : '';
}

export function damagedError(what: string, problems: readonly string[], next: string): RekapError {
  return new RekapError('verification', [what, ...problems.map((problem) => `  - ${problem}`)].join('\n'), next);
}

interface RolledBack extends Pick<Verification, 'responseProblems' | 'next'> {
  /** The source whose history restarts with the next sync, because the snapshot contains sample figures. Otherwise null. */
  readonly endsHistoryOf: string | null;
}

/**
 * Makes an intact snapshot current and pins it, so that no sync replaces it. Returns problems of its responses, which don't prevent this.
 * @throws `snapshot-not-found` if no snapshot has this ID, `verification` if it is damaged.
 */
export async function rollBack(warehouse: string, id: string): Promise<RolledBack> {
  return locked(warehouse, async () => {
    const before = await readCurrent(warehouse).catch(() => null);
    const { problems, responseProblems, next } = await verifyPublished(warehouse, id);
    if (problems.length > 0) throw damagedError(`Snapshot ${id} is damaged and was not made current:`, problems, next);
    // Current first, so that readers get correct figures even if the rollback is interrupted.
    await pointCurrent(warehouse, id);
    await pinSnapshot(warehouse, id).catch((error: unknown) => {
      const what = `Snapshot ${id} is current, but it could not be pinned: ${systemReason(error)}.`;
      throw new RekapError('file', what, 'The next sync will replace it. Run the rollback again.', { cause: error });
    });
    const now = await readSnapshot(warehouse, id);
    const source = before?.manifest.source ?? now.manifest.source;
    return { responseProblems, next, endsHistoryOf: startsNewHistory(source, now) ? source : null };
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
