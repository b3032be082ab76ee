/** The folders of a warehouse that a run makes, builds its snapshot in, clears up and removes; `switch-current.ts` publishes one. */

import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RekapError, systemCode } from '../errors.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { listLandedIds, listSnapshotIds } from '../warehouse/warehouse.ts';
import { flush } from '../runtime/with-file.ts';
import { lockInMaking } from './lock.ts';
import { nextPinned, nextPublished, nextRollback, readLink } from './switch-current.ts';

const building = '.building-';
const pruned = '.pruned-';

/** An id that sorts after every id in use: the time to the second, then six hexadecimal digits, counted up within one second. */
export function newSnapshotId(now: Date, random: number, latest: string | null): string {
  const time = `${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  // The upper half is kept free, so that counting up within a second never runs over.
  const fresh = `${time}-${hex(Math.floor(random * 0x800000))}`;
  if (latest === null || latest < fresh) return fresh;
  const [latestTime, latestSuffix] = latest.split('-') as [string, string];
  const next = Number.parseInt(latestSuffix, 16) + 1;
  if (next <= 0xffffff) return `${latestTime}-${hex(next)}`;
  throw new RekapError(
    'warehouse',
    `${latest} is the highest possible run ID, so a new run cannot get an ID after it.`,
    'Remove the folder of this name from snapshots/ or landing/ in the warehouse.',
  );
}

function hex(value: number): string {
  return value.toString(16).padStart(6, '0');
}

/** The latest id that a run has used, for its snapshot or only for its landing; null in a new warehouse. */
export async function latestRunId(warehouse: string): Promise<string | null> {
  return [...(await listSnapshotIds(warehouse)), ...(await listLandedIds(warehouse))].toSorted().at(-1) ?? null;
}

/** Makes the warehouse's folders where they are missing; warns where it begins in a folder that is used for something else. */
export async function makeWarehouse(warehouse: string, warn: (message: string) => void): Promise<void> {
  const paths = warehousePaths(warehouse);
  const own = new Set(Object.values(paths).map((path) => basename(path)));
  const names = (await isFolder(paths.snapshots)) ? [] : await readdir(warehouse).catch(() => []);
  const others = names.filter((name) => !own.has(name) && !name.startsWith('.') && name !== 'lost+found').toSorted();
  if (others.length > 0) {
    const named = `${others.slice(0, 3).join(', ')}${others.length > 3 ? ` and ${others.length - 3} more` : ''}`;
    warn(
      `The folder ${warehouse} of the new warehouse already contains other files (${named}). rekap does not change them.`,
    );
  }
  await makeFolder(paths.snapshots);
  await makeFolder(paths.landing);
}

/** Makes a folder and those above it. Node's own recursive mkdir never returns in places like /proc, where nothing can be made. */
async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent);
  try {
    await mkdir(path);
  } catch (error) {
    // Another run may have made it at the same time.
    if (systemCode(error) !== 'EEXIST' || !(await isFolder(path))) throw error;
  }
  // The folder above may be closed to readers, and so to flushing.
  await flush(parent).catch(() => undefined);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
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

/** Removes what a run that died has left; to be called with the lock held. */
export async function clearLeftovers(warehouse: string): Promise<void> {
  const { folder, snapshots, current } = warehousePaths(warehouse);
  // A snapshot whose run died between its rename and the switch was never current: it goes too.
  const unpublished = await readLink(join(folder, nextPublished));
  if (unpublished !== null && unpublished !== (await readLink(current)))
    await takeNames(warehouse, [basename(unpublished)]);
  for (const name of await readdir(snapshots))
    if (name.startsWith(building) || name.startsWith(pruned)) await discardSnapshotFolder(join(snapshots, name));
  const halfMade = (await readdir(folder)).filter((name) => lockInMaking.test(name));
  for (const name of [nextPublished, nextRollback, nextPinned, ...halfMade])
    await rm(join(folder, name), { force: true });
}

/** Removes all but the newest `keep` snapshots and those that are spared, such as the current one; gives the ids removed. */
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
  for (const id of doomed) await discardSnapshotFolder(join(warehousePaths(warehouse).snapshots, pruned + id));
  return doomed;
}

/** Takes the names of snapshots that are to be removed, so that no half of one is ever seen, even after a power cut. */
async function takeNames(warehouse: string, doomed: readonly string[]): Promise<void> {
  const { snapshots } = warehousePaths(warehouse);
  const there = await listSnapshotIds(warehouse);
  const taken = doomed.filter((id) => there.includes(id));
  for (const id of taken) await rename(join(snapshots, id), join(snapshots, pruned + id));
  if (taken.length > 0) await flush(snapshots);
}
