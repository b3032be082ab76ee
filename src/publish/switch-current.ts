/** Publishes a snapshot: writes its report and manifest, flushes its files, renames its folder, and replaces the link `current`. */

import { chmod, readdir, readlink, rename, rm, rmdir, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RekapError, systemCode, systemReason } from '../errors.ts';
import type { RunStep } from '../runtime/context.ts';
import { flush, isFolder } from '../runtime/with-file.ts';
import { currentTarget, databaseFile, type Manifest, warehousePaths } from '../warehouse/snapshot-format.ts';
import { writeManifest } from './manifest.ts';
import type { Run } from './run.ts';
import { addReport } from './write-report.ts';

/** The prepared links that replace `current`, for a new snapshot and for a rollback. */
export const nextPublished = '.current-next';
export const nextRollback = '.rollback-next';
export const nextPinned = '.pinned-next';

export interface FinishedSnapshot {
  readonly id: string;
  readonly folder: string;
  readonly files: readonly string[];
}

type EnterStep = (step: RunStep) => void;

/**
 * Makes a built snapshot current. Readers of `current` see either the old snapshot or the new one.
 * The new link is prepared first, so that an interrupted run can be cleaned up.
 * @param beforeRename Called before the folder is renamed.
 */
export async function publishSnapshotFolder(
  warehouse: string,
  snapshot: FinishedSnapshot,
  enter: EnterStep,
  beforeRename: () => Promise<void> = async () => {},
): Promise<void> {
  enter('flush to the disk');
  await flushTree(snapshot);
  await prepareLink(warehouse, nextPublished, snapshot.id);
  // Otherwise a power failure could leave a named snapshot without a sign that it was never current.
  await flush(warehouse);
  enter('name the snapshot');
  await beforeRename();
  await renameFolder(warehouse, snapshot);
  enter('switch current');
  await switchCurrent(warehouse, nextPublished);
  await flushSwitch(warehouse, snapshot.id);
}

async function nameSnapshotFolder(warehouse: string, snapshot: FinishedSnapshot, enter: EnterStep): Promise<void> {
  enter('flush to the disk');
  await flushTree(snapshot);
  enter('name the snapshot');
  await renameFolder(warehouse, snapshot);
}

/** Makes a published snapshot current. This also completes an interrupted publication of the snapshot. */
export async function pointCurrent(warehouse: string, id: string): Promise<void> {
  await prepareLink(warehouse, nextRollback, id);
  await switchCurrent(warehouse, nextRollback);
  const unpublished = join(warehouse, nextPublished);
  if (basename((await readLink(unpublished)) ?? '') === id) await rm(unpublished);
  await flushSwitch(warehouse, id);
}

/** Pins a snapshot with a link, which can be replaced in one step and read by backup scripts. */
export async function pinSnapshot(warehouse: string, id: string): Promise<void> {
  await prepareLink(warehouse, nextPinned, id);
  await rename(join(warehouse, nextPinned), warehousePaths(warehouse).pinned);
  await flush(warehouse);
}

export async function unpinSnapshot(warehouse: string): Promise<void> {
  await rm(warehousePaths(warehouse).pinned, { force: true });
  await flush(warehouse);
}

/** Flushes the files and their folders, and makes the DuckDB file read-only. */
async function flushTree({ folder, files }: FinishedSnapshot): Promise<void> {
  const folders = new Set([folder]);
  for (const path of files) {
    if (path === databaseFile) await makeReadOnly(join(folder, path));
    await flush(join(folder, path));
    for (let above = dirname(path); above !== '.'; above = dirname(above)) folders.add(join(folder, above));
  }
  // Deepest first: a file's name is on the disk only after its folder is flushed.
  for (const path of [...folders].toSorted((a, b) => b.length - a.length)) await flush(path);
}

/** Prevents writing, because DuckDB opens files for writing by default, which locks out readers. */
async function makeReadOnly(file: string): Promise<void> {
  const { mode } = await stat(file);
  await chmod(file, mode & 0o555).catch(() => undefined);
}

async function renameFolder(warehouse: string, { id, folder }: FinishedSnapshot): Promise<void> {
  const { snapshots } = warehousePaths(warehouse);
  await rename(folder, join(snapshots, id));
  await flush(snapshots);
}

async function prepareLink(warehouse: string, next: string, id: string): Promise<void> {
  const path = join(warehouse, next);
  await rm(path, { force: true });
  await symlink(currentTarget(id), path);
}

/** Replaces `current` with the prepared link, even if it is a file or an empty folder. */
async function switchCurrent(warehouse: string, next: string): Promise<void> {
  const { current } = warehousePaths(warehouse);
  await requireReplaceable(warehouse);
  // A rename can't replace a folder with a link.
  await rmdir(current).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTDIR'].includes(systemCode(error))) throw error;
  });
  await rename(join(warehouse, next), current);
}

/** After this, a power failure can't undo the switch. */
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

/** @throws `warehouse` if `current` is a folder with files, which rekap must not delete. */
export async function requireReplaceable(warehouse: string): Promise<void> {
  const { current } = warehousePaths(warehouse);
  if ((await readLink(current)) !== null || !(await isFolder(current)) || (await readdir(current)).length === 0) return;
  throw new RekapError(
    'warehouse',
    `${current} must be a symbolic link to a snapshot, but is a folder that is not empty.`,
    `Remove or move ${current}, then run the command again.`,
  );
}

/** Returns the target of a link, or null if there is none. Throws other errors, so that callers don't remove files by mistake. */
export async function readLink(path: string): Promise<string | null> {
  try {
    return await readlink(path);
  } catch (error) {
    if (['ENOENT', 'EINVAL'].includes(systemCode(error))) return null;
    throw error;
  }
}

/** Publishes a verified snapshot. If another one is pinned, readers don't see it yet. */
export async function publishBuilt(run: Run, manifest: Manifest) {
  const { id, folder, enter, options, current, pinned } = run;
  enter('write the report');
  const withReport = await addReport(run, manifest);
  enter('write the manifest');
  const finished = { id, folder, files: await writeManifest(folder, withReport) };
  if (pinned !== null) {
    await nameSnapshotFolder(options.warehouse, finished, enter);
    return { outcome: 'held', current, snapshot: id, manifest: withReport } as const;
  }
  if (options.unpin) await unpinSnapshot(options.warehouse);
  await publishSnapshotFolder(options.warehouse, finished, enter);
  return { outcome: 'published', current: id, snapshot: id, manifest: withReport } as const;
}
