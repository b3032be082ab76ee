/** What mends a warehouse in which something is damaged: commands that do not go by what is damaged, with ids that are there and whole. */

import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFiles, checkManifestFile, findAltered } from './check-files.ts';
import { systemCode } from '../errors.ts';
import { listLandedIds, listSnapshotIds } from './run-ids.ts';
import { isManifest, manifestFile, warehousePaths, type Manifest } from './snapshot-format.ts';

/**
 * The commands that lead out, as one sentence.
 *
 * @param damaged Id of the damaged snapshot; null where it is `current` itself.
 * @param madeBy The run that made it, where that is known to be another than its id says.
 */
export async function recoveryHint(warehouse: string, damaged: string | null, madeBy = damaged): Promise<string> {
  const paths = warehousePaths(warehouse);
  const snapshots = await readable(listSnapshotIds, warehouse);
  const runs = await readable(listLandedIds, warehouse);
  // What made the damaged one first, then what made others, the newest first.
  const candidates = [madeBy, ...runs.filter((id) => snapshots.includes(id)).toReversed(), ...runs.toReversed()];
  const run = await firstOf(candidates, async (id) => runs.includes(id) && (await areAnswersWhole(warehouse, id)));
  const other = await newestWhole(warehouse, damaged);
  const ways = [
    run === null ? [] : `"rekap replay ${run}" builds a snapshot again from its answers`,
    other === null ? [] : `"rekap snapshots rollback ${other}" makes that one current`,
  ].flat();
  if (ways.length > 0) return `${ways.join('; ')}.`;
  return `There is nothing to go back to: remove ${paths.current} if it is there, then run the sync again.`;
}

/** The id of the newest snapshot, but for `except`, whose files are to the byte what its manifest says; null where none is. */
export async function newestWhole(warehouse: string, except: string | null): Promise<string | null> {
  const ids = await readable(listSnapshotIds, warehouse);
  return firstOf(ids.toReversed(), async (id) => id !== except && (await isWhole(warehouse, id)));
}

/** The first id that passes; each is tried once, and no more than need be. */
async function firstOf(
  ids: readonly (string | null)[],
  passes: (id: string) => Promise<boolean>,
): Promise<string | null> {
  for (const id of new Set(ids)) if (id !== null && (await passes(id))) return id;
  return null;
}

/** Whether every byte of a snapshot is as it was; the tables are not opened for it. */
async function isWhole(warehouse: string, id: string): Promise<boolean> {
  const folder = join(warehousePaths(warehouse).snapshots, id);
  try {
    const manifest = await readManifest(folder, id);
    if (manifest === null) return false;
    return [...(await checkManifestFile(folder)), ...(await checkFiles(folder, manifest))].length === 0;
  } catch {
    // What cannot be read is not whole.
    return false;
  }
}

/** Whether a run's answers are as they were, as far as its own snapshot can tell: where that one is gone, a replay finds out. */
async function areAnswersWhole(warehouse: string, run: string): Promise<boolean> {
  const { snapshots, landing } = warehousePaths(warehouse);
  const manifest = await readManifest(join(snapshots, run), run).catch(() => null);
  if (manifest === null) return true;
  // What cannot be read is not whole.
  const altered = await findAltered(join(landing, run), manifest.landing).catch(() => null);
  return altered?.length === 0;
}

async function readManifest(folder: string, id: string): Promise<Manifest | null> {
  const manifest: unknown = JSON.parse(await readFile(join(folder, manifestFile), 'utf8'));
  return isManifest(manifest, id) ? manifest : null;
}

/** Whether there is such a folder, readable or not. */
export async function isThere(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ENOENT';
  }
}

/** Where a folder cannot be read, nothing in it leads out. */
function readable(list: (warehouse: string) => Promise<string[]>, warehouse: string): Promise<string[]> {
  return list(warehouse).catch(() => []);
}
