/** Publishes a snapshot: flushes its files, gives its folder its name, and replaces the link `current` by rename. */

import { chmod, lstat, readdir, readlink, rename, rm, rmdir, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RekapError, systemCode, systemReason } from '../errors.ts';
import type { RunStep } from '../runtime/context.ts';
import { currentTarget, databaseFile, warehousePaths } from '../warehouse/snapshot-format.ts';
import { flush } from '../runtime/with-file.ts';

/** The links that are about to replace `current`: to a new snapshot, and to one that is gone back to. */
export const nextPublished = '.current-next';
export const nextRollback = '.rollback-next';
/** The link that is about to replace `pinned`. */
export const nextPinned = '.pinned-next';

/** A snapshot in the folder that it was built in, with the paths of its files below that. */
export interface FinishedSnapshot {
  readonly id: string;
  readonly folder: string;
  readonly files: readonly string[];
}

/** Told of each step on the way. */
type EnterStep = (step: RunStep) => void;

/**
 * Makes a finished snapshot the current one: whoever opens `current` sees the old snapshot or the new one. The link that will replace it is
 * made first, so that a run that dies in between can be cleared up after.
 *
 * @param makeRoom Called just before the folder gets its name.
 */
export async function publishSnapshotFolder(
  warehouse: string,
  snapshot: FinishedSnapshot,
  enter: EnterStep,
  makeRoom: () => Promise<void> = async () => {},
): Promise<void> {
  enter('flush to the disk');
  await flushTree(snapshot);
  await prepareLink(warehouse, nextPublished, snapshot.id);
  // Before the snapshot has its name: else a power cut could leave that name, and nothing that says it was never current.
  await flush(warehouse);
  enter('name the snapshot');
  await makeRoom();
  await giveName(warehouse, snapshot);
  enter('switch current');
  await switchCurrent(warehouse, nextPublished);
  await flushSwitch(warehouse, snapshot.id);
}

/** Gives a finished folder its name among the snapshots, and leaves `current` as it is. */
export async function nameSnapshotFolder(
  warehouse: string,
  snapshot: FinishedSnapshot,
  enter: EnterStep,
): Promise<void> {
  enter('flush to the disk');
  await flushTree(snapshot);
  enter('name the snapshot');
  await giveName(warehouse, snapshot);
}

/** Makes a published snapshot the current one again. One that a run died over, before it was current, is as good as published then. */
export async function pointCurrent(warehouse: string, id: string): Promise<void> {
  await prepareLink(warehouse, nextRollback, id);
  await switchCurrent(warehouse, nextRollback);
  const unpublished = join(warehouse, nextPublished);
  if (basename((await readLink(unpublished)) ?? '') === id) await rm(unpublished);
  await flushSwitch(warehouse, id);
}

/** Pins a snapshot. The pin is a link as `current` is, so it is replaced in one step too, and a backup or a rollback by hand can read it. */
export async function pinSnapshot(warehouse: string, id: string): Promise<void> {
  await prepareLink(warehouse, nextPinned, id);
  await rename(join(warehouse, nextPinned), warehousePaths(warehouse).pinned);
  await flush(warehouse);
}

/** Removes the pin, damaged or not. */
export async function unpinSnapshot(warehouse: string): Promise<void> {
  await rm(warehousePaths(warehouse).pinned, { force: true });
  await flush(warehouse);
}

/** Flushes the files, each of which must be there, and the folders that they lie in. The DuckDB file is for reading only from then on. */
async function flushTree({ folder, files }: FinishedSnapshot): Promise<void> {
  const folders = new Set([folder]);
  for (const path of files) {
    if (path === databaseFile) await forbidWriting(join(folder, path));
    await flush(join(folder, path));
    for (let above = dirname(path); above !== '.'; above = dirname(above)) folders.add(join(folder, above));
  }
  // The deepest first: a name is on the disk only when the folder that holds it is.
  for (const path of [...folders].toSorted((a, b) => b.length - a.length)) await flush(path);
}

/** DuckDB opens a file for writing unless it is told otherwise, which keeps every other reader out and can alter what was published. */
async function forbidWriting(file: string): Promise<void> {
  const { mode } = await stat(file);
  // Some file systems know no permissions.
  await chmod(file, mode & 0o555).catch(() => undefined);
}

async function giveName(warehouse: string, { id, folder }: FinishedSnapshot): Promise<void> {
  const { snapshots } = warehousePaths(warehouse);
  await rename(folder, join(snapshots, id));
  await flush(snapshots);
}

async function prepareLink(warehouse: string, next: string, id: string): Promise<void> {
  const path = join(warehouse, next);
  await rm(path, { force: true });
  await symlink(currentTarget(id), path);
}

/** Puts the prepared link in the place of `current`: also of a file or an empty folder that somebody has put there. */
async function switchCurrent(warehouse: string, next: string): Promise<void> {
  const { current } = warehousePaths(warehouse);
  await requireReplaceable(warehouse);
  // A rename replaces anything but a folder.
  if (await isFolderItself(current)) await rmdir(current);
  await rename(join(warehouse, next), current);
}

/** From here on a power cut takes nothing back. */
async function flushSwitch(warehouse: string, id: string): Promise<void> {
  try {
    await flush(warehouse);
  } catch (error) {
    throw new RekapError(
      'file',
      `Snapshot ${id} is current, but ${warehouse} could not be flushed to disk: ${systemReason(error)}.`,
      'After a power failure, the previous snapshot may be current again. Check the disk, then run the command again.',
      { cause: error },
    );
  }
}

/** @throws `warehouse` where a folder with something in it stands in the place of `current`: that is somebody's, and not ours to delete. */
export async function requireReplaceable(warehouse: string): Promise<void> {
  const { current } = warehousePaths(warehouse);
  if (!(await isFolderItself(current)) || (await readdir(current)).length === 0) return;
  throw new RekapError(
    'warehouse',
    `${current} must be a symbolic link to a snapshot, but is a folder that is not empty.`,
    `Remove or move ${current}, then run the command again.`,
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

/** Where a link points to; null where there is none. Whoever cannot tell must not remove anything. */
export async function readLink(path: string): Promise<string | null> {
  try {
    return await readlink(path);
  } catch (error) {
    if (['ENOENT', 'EINVAL'].includes(systemCode(error))) return null;
    throw error;
  }
}
