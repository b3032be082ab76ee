/** What mends a warehouse in which something is damaged: commands that do not go by what is damaged, with ids that are there and whole. */

import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFiles, checkManifestFile } from './check-files.ts';
import { describeFile } from './describe-file.ts';
import { errorCode } from './errors.ts';
import { listLandedIds, listSnapshotIds } from './run-ids.ts';
import { isManifest, isSnapshotId, manifestFile, warehousePaths, type Manifest } from './snapshot-format.ts';

/**
 * The commands that lead out, as one sentence.
 *
 * @param damaged Id of the damaged snapshot; null where it is `current` itself.
 * @param madeBy The run that made it, where that is known to be another than its id says.
 */
export async function wayBack(warehouse: string, damaged: string | null, madeBy = damaged): Promise<string> {
  const paths = warehousePaths(warehouse);
  const snapshots = await readable(listSnapshotIds, warehouse);
  const runs = await readable(listLandedIds, warehouse);
  const run = runs.find((id) => id === madeBy) ?? runs.findLast((id) => snapshots.includes(id)) ?? runs.at(-1);
  const other = await newestWhole(warehouse, damaged);
  const ways = [
    run === undefined ? [] : `"rekap replay ${run}" builds a snapshot again from its answers`,
    other === null ? [] : `"rekap snapshots rollback ${other}" makes that one current`,
  ].flat();
  if (ways.length > 0) return `${ways.join('; ')}.`;
  return `There is nothing to go back to: remove ${paths.current} if it is there, then run the sync again.`;
}

/** The id of the newest snapshot, but for `except`, whose files and answers are to the byte what its manifest says; null where none is. */
export async function newestWhole(warehouse: string, except: string | null): Promise<string | null> {
  const ids = await readable(listSnapshotIds, warehouse);
  for (const id of ids.toReversed()) if (id !== except && (await isWhole(warehouse, id))) return id;
  return null;
}

/** Whether every byte of a snapshot, and of its answers as far as they are kept, is as it was; the tables are not opened for it. */
async function isWhole(warehouse: string, id: string): Promise<boolean> {
  const { snapshots, landing } = warehousePaths(warehouse);
  const folder = join(snapshots, id);
  try {
    const manifest: unknown = JSON.parse(await readFile(join(folder, manifestFile), 'utf8'));
    if (!isManifest(manifest, id)) return false;
    const problems = [...(await checkManifestFile(folder)), ...(await checkFiles(folder, manifest))];
    return problems.length === 0 && (await areAnswersWhole(join(landing, manifest.run), manifest));
  } catch {
    // What cannot be read is not whole.
    return false;
  }
}

async function areAnswersWhole(folder: string, { run, landing }: Manifest): Promise<boolean> {
  if (!isSnapshotId(run) || !(await isThere(folder))) return true;
  for (const { path, sha256 } of landing) if ((await describeFile(folder, path, null)).sha256 !== sha256) return false;
  return true;
}

/** Whether there is such a folder, readable or not. */
export async function isThere(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ENOENT';
  }
}

/** Where a folder cannot be read, nothing in it leads out. */
function readable(list: (warehouse: string) => Promise<string[]>, warehouse: string): Promise<string[]> {
  return list(warehouse).catch(() => []);
}
