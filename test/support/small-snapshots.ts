/** Snapshots of a few bytes: whole enough to be listed, pushed, pulled and pruned, though nobody can query them. */

import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../../src/publish/manifest.ts';
import { makeWarehouse } from '../../src/publish/snapshot-folder.ts';
import { pointCurrent } from '../../src/publish/switch-current.ts';
import { databaseFile, type Manifest, reportFile, warehousePaths } from '../../src/warehouse/snapshot-format.ts';
import { datasetOf, manifestOf } from './manifests.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Ids of the snapshots of five nights. */
export const nights = [1, 2, 3, 4, 5].map((night) => `2026112${night}T030000Z-00000${night}`) as [
  string,
  string,
  string,
  string,
  string,
];

/** Adds a snapshot to a warehouse and makes it current. */
export async function addSnapshot(warehouse: string, id: string, manifest: Partial<Manifest> = {}): Promise<void> {
  const folder = join(warehousePaths(warehouse).snapshots, id);
  await mkdir(folder);
  const texts = { [databaseFile]: `tables of ${id}`, [reportFile]: `report of ${id}` };
  const files = Object.entries(texts).map(([path, text]) => ({
    path,
    bytes: text.length,
    rows: null,
    sha256: createHash('sha256').update(text).digest('hex'),
  }));
  for (const [path, text] of Object.entries(texts)) await writeFile(join(folder, path), text);
  await writeManifest(
    folder,
    manifestOf({ snapshot: id, source: 'test', datasets: { voters: datasetOf() }, files, ...manifest }),
  );
  await pointCurrent(warehouse, id);
}

/** A new warehouse with these snapshots, the last of which is current. */
export async function smallWarehouse(ids: readonly string[], manifest: Partial<Manifest> = {}): Promise<string> {
  const warehouse = await temporaryFolder();
  await makeWarehouse(warehouse, () => undefined);
  for (const id of ids) await addSnapshot(warehouse, id, manifest);
  return warehouse;
}
