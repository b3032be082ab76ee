/** Which runs and snapshots there are: each has a folder by its id, and ids sort by time. */

import { readdir } from 'node:fs/promises';
import { systemCode, RekapError, systemReason } from '../errors.ts';
import { isSnapshotId, warehousePaths } from './snapshot-format.ts';

/** Ids of the snapshots that have a name, oldest first. */
export function listSnapshotIds(warehouse: string): Promise<string[]> {
  return idsIn(warehousePaths(warehouse).snapshots);
}

/** Ids of the runs whose answers are kept, oldest first. */
export function listLandedIds(warehouse: string): Promise<string[]> {
  return idsIn(warehousePaths(warehouse).landing);
}

/** What somebody else has put there is theirs, and counts for nothing. */
async function idsIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(isSnapshotId).toSorted();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error))) return [];
    throw new RekapError(
      'warehouse',
      `${folder} cannot be read: ${systemReason(error)}.`,
      'Correct it, or name another folder with --warehouse.',
      { cause: error },
    );
  }
}
