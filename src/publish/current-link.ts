/** The link `current`: made aside under another name, then put in its place by rename, whatever stands there. */

import { lstat, readdir, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode, RekapError } from '../errors.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';

/** What `current` is about to be replaced by: for a new snapshot, and for one that is gone back to. */
export const nextPublished = '.current-next';
export const nextRollback = '.rollback-next';

type NextLink = typeof nextPublished | typeof nextRollback;

/** Makes the link to snapshot `id` under the name `next`. */
export async function prepareLink(warehouse: string, next: NextLink, id: string): Promise<void> {
  const path = join(warehouse, next);
  await rm(path, { force: true });
  await symlink(`snapshots/${id}`, path);
}

/** Puts the link that was prepared in the place of `current`: also of a file or an empty folder, which somebody has put there. */
export async function switchCurrent(warehouse: string, next: NextLink): Promise<void> {
  const { current } = warehousePaths(warehouse);
  await requireReplaceable(warehouse);
  // A rename replaces anything but a folder.
  if (await isFolderItself(current)) await rmdir(current);
  await rename(join(warehouse, next), current);
}

/** @throws `warehouse` where a folder with something in it stands in the place of `current`: that is somebody's, and not ours to delete. */
export async function requireReplaceable(warehouse: string): Promise<void> {
  const { current } = warehousePaths(warehouse);
  if (!(await isFolderItself(current)) || (await readdir(current)).length === 0) return;
  throw new RekapError(
    'warehouse',
    `${current} is a folder with something in it; a symbolic link to a snapshot belongs in its place.`,
    `Remove ${current} or move it away, then run this again.`,
  );
}

/** Whether a folder stands there, and not a link to one. */
async function isFolderItself(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
