/** Creates, cleans up and removes the folders of snapshots. `switch-current.ts` publishes them. */

import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RekapError, systemCode } from '../errors.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { listLandedIds, listSnapshotIds } from '../warehouse/warehouse.ts';
import { flush, isFolder } from '../runtime/with-file.ts';
import { unfinishedLock } from './lock.ts';
import { nextPinned, nextPublished, nextRollback, readLink } from './switch-current.ts';

const building = '.building-';
const pruned = '.pruned-';

/** Returns an ID that sorts after all others: the time to the second, then six hexadecimal digits that count up within a second. */
export function newSnapshotId(now: Date, random: number, latest: string | null): string {
  const time = `${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  // Starts in the lower half, so that counting up within a second doesn't overflow.
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

/** Returns the latest ID of a snapshot or landing, or null in a new warehouse. */
export async function latestRunId(warehouse: string): Promise<string | null> {
  return [...(await listSnapshotIds(warehouse)), ...(await listLandedIds(warehouse))].toSorted().at(-1) ?? null;
}

/** Creates missing folders of the warehouse. Warns if a new warehouse's folder contains other files. */
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

/** Creates a folder and its parents. Node's recursive mkdir never returns in places like /proc. */
async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent);
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST' || !(await isFolder(path))) throw error;
  }
  await flush(parent).catch(() => undefined);
}

export async function beginSnapshotFolder(warehouse: string, id: string): Promise<string> {
  const folder = join(warehousePaths(warehouse).snapshots, building + id);
  await mkdir(folder);
  return folder;
}

export async function discardSnapshotFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** Removes leftovers of interrupted runs. The caller must hold the lock. */
export async function clearLeftovers(warehouse: string): Promise<void> {
  const { folder, snapshots, current } = warehousePaths(warehouse);
  // A snapshot that was renamed but never current is removed too.
  const unpublished = await readLink(join(folder, nextPublished));
  if (unpublished !== null && unpublished !== (await readLink(current)))
    await renameForRemoval(warehouse, [basename(unpublished)]);
  for (const name of await readdir(snapshots))
    if (name.startsWith(building) || name.startsWith(pruned)) await discardSnapshotFolder(join(snapshots, name));
  const unfinished = (await readdir(folder)).filter((name) => unfinishedLock.test(name));
  for (const name of [nextPublished, nextRollback, nextPinned, ...unfinished])
    await rm(join(folder, name), { force: true });
}

/** Removes all snapshots except the newest `keep` and those in `spared`. Returns the removed IDs. */
export async function pruneSnapshots(
  warehouse: string,
  keep: number,
  spared: readonly (string | null)[],
): Promise<string[]> {
  const ids = await listSnapshotIds(warehouse);
  const kept = new Set([...(keep === 0 ? [] : ids.slice(-keep)), ...spared]);
  const removed = ids.filter((id) => !kept.has(id));
  // Otherwise a power failure could restore a link to a removed snapshot.
  if (removed.length > 0) await flush(warehouse);
  await renameForRemoval(warehouse, removed);
  for (const id of removed) await discardSnapshotFolder(join(warehousePaths(warehouse).snapshots, pruned + id));
  return removed;
}

/** Renames snapshots before removal, so that no partial one is visible, even after a power failure. */
async function renameForRemoval(warehouse: string, ids: readonly string[]): Promise<void> {
  const { snapshots } = warehousePaths(warehouse);
  const existing = await listSnapshotIds(warehouse);
  const renamed = ids.filter((id) => existing.includes(id));
  for (const id of renamed) await rename(join(snapshots, id), join(snapshots, pruned + id));
  if (renamed.length > 0) await flush(snapshots);
}
