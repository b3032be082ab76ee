/** A snapshot's folder from its beginning under a hidden name to the rename that publishes it, and how old ones go. */

import { chmod, mkdir, readdir, readlink, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RekapError, systemCode, systemReason } from '../errors.ts';
import { nextPublished, nextRollback, prepareLink, switchCurrent } from './current-link.ts';
import { lockInMaking } from './lock.ts';
import type { RunStep } from '../runtime/context.ts';
import { databaseFile, listLandedIds, listSnapshotIds, warehousePaths } from '../warehouse/snapshot-format.ts';
import { flush } from '../warehouse/with-file.ts';

const building = '.building-';
const pruned = '.pruned-';

/** A snapshot in the folder that it was built in, with the paths of its files below that. */
export interface FinishedSnapshot {
  readonly id: string;
  readonly folder: string;
  readonly files: readonly string[];
}

/** Told of each step on the way. */
type EnterStep = (step: RunStep) => void;

/** An id that sorts after every id in use: the time to the second, then six hexadecimal digits, counted up within one second. */
export function newSnapshotId(now: Date, random: number, latest: string | null): string {
  const time = `${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  // The upper half is kept free, so that counting up within a second never runs over.
  const suffix = Math.floor(random * 0x800000);
  const fresh = `${time}-${hex(suffix)}`;
  if (latest === null || latest < fresh) return fresh;
  const [latestTime, latestSuffix] = latest.split('-') as [string, string];
  const next = Number.parseInt(latestSuffix, 16) + 1;
  if (next > 0xffffff)
    throw new RekapError(
      'warehouse',
      `No run id can follow ${latest}.`,
      'Remove that folder from snapshots/ or landing/.',
    );
  return `${latestTime}-${hex(next)}`;
}

function hex(value: number): string {
  return value.toString(16).padStart(6, '0');
}

/** Makes the warehouse's folders where they are missing; warns where it begins in a folder that is used for something else. */
export async function makeWarehouse(warehouse: string, warn: (message: string) => void): Promise<void> {
  const paths = warehousePaths(warehouse);
  if (!(await exists(paths.snapshots))) {
    const others = await othersIn(warehouse);
    const named = `${others.slice(0, 3).join(', ')}${others.length > 3 ? ` and ${others.length - 3} more` : ''}`;
    if (others.length > 0)
      warn(`The warehouse begins in ${warehouse}, which holds other things (${named}); they are left alone.`);
  }
  await makeFolder(paths.snapshots);
  await makeFolder(paths.landing);
}

/** What lies in a folder that is no warehouse yet, and is no warehouse's. */
async function othersIn(folder: string): Promise<string[]> {
  const own = new Set(Object.values(warehousePaths(folder)).map((path) => basename(path)));
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => !own.has(name) && !name.startsWith('.') && name !== 'lost+found').toSorted();
}

/** Makes a folder and those above it. Node's own recursive mkdir never returns in places like /proc, where nothing can be made. */
async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const parent = dirname(path);
    if (systemCode(error) !== 'ENOENT' || parent === path) throw error;
    if (!(await exists(parent))) await makeFolder(parent);
    await makeOne(path);
  }
}

/** Another run may make the same folder at the same time. What it lies in may be closed to readers, and so to flushing. */
async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path);
    await flush(dirname(path)).catch(() => undefined);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST' || !(await exists(path)) || !(await stat(path)).isDirectory()) throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

/** Removes what a run that died has left; to be called with the lock held. */
export async function clearLeftovers(warehouse: string): Promise<void> {
  const { folder, snapshots, current } = warehousePaths(warehouse);
  // A snapshot whose run died between its rename and the switch was never current: it goes too.
  const unpublished = await readLink(join(folder, nextPublished));
  if (unpublished !== null && unpublished !== (await readLink(current)))
    await takeNames(warehouse, [basename(unpublished)]);
  for (const name of await readdir(snapshots)) {
    if (name.startsWith(building) || name.startsWith(pruned)) {
      await rm(join(snapshots, name), { recursive: true, force: true });
    }
  }
  const halfMade = (await readdir(folder)).filter((name) => lockInMaking.test(name));
  for (const name of [nextPublished, nextRollback, ...halfMade]) await rm(join(folder, name), { force: true });
}

/** Where a link points to; null where there is none. Whoever cannot tell must not remove anything. */
async function readLink(path: string): Promise<string | null> {
  try {
    return await readlink(path);
  } catch (error) {
    if (['ENOENT', 'EINVAL'].includes(systemCode(error))) return null;
    throw error;
  }
}

/** The folder in which snapshot `id` is built. */
export async function beginSnapshotFolder(warehouse: string, id: string): Promise<string> {
  const folder = join(warehousePaths(warehouse).snapshots, building + id);
  await mkdir(folder);
  return folder;
}

/** Gives up a snapshot that was being built. */
export async function discardSnapshotFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** The latest id that a run has used, for its snapshot or only for its landing; null in a new warehouse. */
export async function latestRunId(warehouse: string): Promise<string | null> {
  return [...(await listSnapshotIds(warehouse)), ...(await listLandedIds(warehouse))].toSorted().at(-1) ?? null;
}

/**
 * Flushes a finished folder to the disk, gives it its name, and makes it current by rename: whoever opens `current` sees the old
 * snapshot or the new one. The link that will replace it is made first, so that a run that dies in between can be cleared up after.
 */
export async function publishSnapshotFolder(
  warehouse: string,
  { id, folder, files }: FinishedSnapshot,
  enter: EnterStep,
): Promise<void> {
  enter('flush to the disk');
  await flushTree(folder, files);
  await prepareLink(warehouse, nextPublished, id);
  // Before the snapshot has its name: else a power cut could leave that name, and nothing that says it was never current.
  await flush(warehouse);
  await nameFlushed(warehouse, id, folder, enter);
  enter('switch current');
  await switchCurrent(warehouse, nextPublished);
  await flushSwitch(warehouse, id);
}

/** From here on a power cut takes nothing back. */
async function flushSwitch(warehouse: string, id: string): Promise<void> {
  try {
    await flush(warehouse);
  } catch (error) {
    throw new RekapError(
      'file',
      `Snapshot ${id} is current, but ${warehouse} could not be flushed to the disk: ${systemReason(error)}.`,
      'A power cut may bring back the snapshot before. Check the disk, then run it again.',
      { cause: error },
    );
  }
}

/** Gives a finished folder its name among the snapshots, and leaves `current` as it is. */
export async function nameSnapshotFolder(
  warehouse: string,
  { id, folder, files }: FinishedSnapshot,
  enter: EnterStep,
): Promise<void> {
  enter('flush to the disk');
  await flushTree(folder, files);
  await nameFlushed(warehouse, id, folder, enter);
}

async function nameFlushed(warehouse: string, id: string, folder: string, enter: EnterStep): Promise<void> {
  const { snapshots } = warehousePaths(warehouse);
  enter('name the snapshot');
  await rename(folder, join(snapshots, id));
  await flush(snapshots);
}

/** Makes a published snapshot the current one again. One that a run died over, before it was current, is as good as published then. */
export async function pointCurrent(warehouse: string, id: string): Promise<void> {
  await prepareLink(warehouse, nextRollback, id);
  await switchCurrent(warehouse, nextRollback);
  const unpublished = join(warehouse, nextPublished);
  if (basename((await readLink(unpublished)) ?? '') === id) await rm(unpublished);
  await flushSwitch(warehouse, id);
}

/**
 * Removes all but the newest `keep` snapshots and those that are spared, such as the current one; gives the ids removed.
 */
export async function pruneSnapshots(
  warehouse: string,
  keep: number,
  spared: readonly (string | null)[],
): Promise<string[]> {
  const ids = await listSnapshotIds(warehouse);
  const kept = new Set([...(keep === 0 ? [] : ids.slice(-keep)), ...spared]);
  const doomed = ids.filter((id) => !kept.has(id));
  // A power cut could else take the switch back, to a snapshot that is gone.
  if (doomed.length > 0) await flush(warehouse);
  await takeNames(warehouse, doomed);
  for (const id of doomed)
    await rm(join(warehousePaths(warehouse).snapshots, pruned + id), { recursive: true, force: true });
  return doomed;
}

/** Takes the names of snapshots that are to be removed, those that there are, so that no half of one is ever seen, even after a power cut. */
async function takeNames(warehouse: string, doomed: readonly string[]): Promise<void> {
  const { snapshots } = warehousePaths(warehouse);
  const there = await listSnapshotIds(warehouse);
  const taken = doomed.filter((id) => there.includes(id));
  for (const id of taken) await rename(join(snapshots, id), join(snapshots, pruned + id));
  if (taken.length > 0) await flush(snapshots);
}

/** Flushes the files, each of which must be there, and the folders that they lie in. The DuckDB file is for reading only from then on. */
async function flushTree(folder: string, files: readonly string[]): Promise<void> {
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
