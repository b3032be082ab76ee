/** Finds the current snapshot of a warehouse, and refuses a broken link or manifest. */

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeManifest } from '../../src/publish/manifest.ts';
import {
  listLandedIds,
  listSnapshotIds,
  readCurrent,
  readSnapshot,
  requireCurrent,
  requireWarehouse,
} from '../../src/warehouse/warehouse.ts';
import { datasetOf, manifestOf, snapshotId as id } from '../support/manifests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const file = (path: string) => ({ path, bytes: 1, rows: 1, sha256: '00' });
const voters = datasetOf();
const manifest = manifestOf({ datasets: { voters }, files: [file('parquet/voters/voters.parquet')] });

/** A warehouse whose current snapshot has this text for a manifest. */
async function makeWarehouse(text: string): Promise<string> {
  const warehouse = await temporaryFolder();
  await mkdir(join(warehouse, 'snapshots', id), { recursive: true });
  await writeFile(join(warehouse, 'snapshots', id, 'manifest.json'), text);
  await symlink(`snapshots/${id}`, join(warehouse, 'current'));
  return warehouse;
}

describe('the current snapshot', () => {
  it('is the target of the link', async () => {
    const warehouse = await makeWarehouse(JSON.stringify(manifest));
    expect(await readCurrent(warehouse)).toEqual({ id, folder: join(warehouse, 'snapshots', id), manifest });
  });

  it('is null if nothing was published or the folder is missing', async () => {
    const folder = await temporaryFolder();
    expect(await readCurrent(folder)).toBeNull();
    expect(await readCurrent(join(folder, 'none'))).toBeNull();
    await expect(requireCurrent(folder)).rejects.toMatchObject({ code: 'snapshot-not-found' });
    await expect(requireWarehouse(folder)).rejects.toMatchObject({ code: 'warehouse' });
  });

  it('is refused if the warehouse is a file', async () => {
    const path = join(await temporaryFolder(), 'file');
    await writeFile(path, '');
    for (const read of [readCurrent, requireWarehouse])
      await expect(read(path)).rejects.toMatchObject({ code: 'warehouse', message: `${path} is not a folder.` });
  });

  it.each([
    ['a plain folder', (path: string) => mkdir(path)],
    ['a plain file', (path: string) => writeFile(path, id)],
    ['an absolute link', (path: string) => symlink(join(path, '..', 'snapshots', id), path)],
  ])('is refused if it is %s', async (_, make) => {
    const warehouse = await temporaryFolder();
    await mkdir(join(warehouse, 'snapshots', id), { recursive: true });
    await writeManifest(join(warehouse, 'snapshots', id), manifestOf());
    await make(join(warehouse, 'current'));
    const refusal = { code: 'warehouse', exitCode: 2, next: expect.stringContaining('rekap snapshots rollback') };
    await expect(readCurrent(warehouse)).rejects.toMatchObject(refusal);
  });

  it('is refused if the link names a missing snapshot', async () => {
    const warehouse = await temporaryFolder();
    await symlink(`snapshots/${id}`, join(warehouse, 'current'));
    await expect(readCurrent(warehouse)).rejects.toMatchObject({ code: 'snapshot-not-found' });
  });
});

describe('a snapshot', () => {
  it.each(['', '../../..', 'latest', `${id}/..`, `${id}0`])('cannot have the ID %j', async (name) => {
    const warehouse = await makeWarehouse(JSON.stringify(manifest));
    await expect(readSnapshot(warehouse, name)).rejects.toMatchObject({ code: 'snapshot-not-found' });
  });

  // `warehouse-properties.test.ts` leaves out and replaces any part.
  it.each<unknown>([
    null,
    { ...manifest, snapshot: '20261120T030002Z-000000' },
    { ...manifest, datasets: { voters: { ...voters, partitions: [null] } } },
    { ...manifest, files: [{ path: 'x', sha256: '00' }] },
    ...['../secret', 'parquet/../../secret', '/etc/passwd', '', 'a//b', '..', 'a\0b', '..\\x'].map((path) => ({
      ...manifest,
      files: [file(path)],
    })),
  ])('is refused if its manifest has another shape: %#', async (wrong) => {
    const refusal = { code: 'warehouse', message: expect.stringContaining('is not a manifest') };
    await expect(readCurrent(await makeWarehouse(JSON.stringify(wrong)))).rejects.toMatchObject(refusal);
  });

  it.each<[string, string]>([
    ['has format 3, but this release of rekap reads only format 2', JSON.stringify({ ...manifest, format: 3 })],
    [
      'has an inconsistent declaration',
      JSON.stringify({ ...manifest, project: { ...manifest.project, pipelines: [] } }),
    ],
  ])('is refused if its manifest %s', async (reason, text) => {
    const refusal = { code: 'warehouse', message: expect.stringContaining(reason) };
    await expect(readCurrent(await makeWarehouse(text))).rejects.toMatchObject(refusal);
  });
});

describe('ids of runs and snapshots', () => {
  it('are the names of folders, oldest first', async () => {
    const warehouse = await temporaryFolder();
    expect(await listSnapshotIds(warehouse)).toEqual([]);
    const ids = ['20261117T030000Z-aaaaaa', '20261118T030000Z-bbbbbb'];
    for (const name of [...ids.toReversed(), '.building-20261119T030000Z-cccccc', 'notes'])
      await mkdir(join(warehouse, 'snapshots', name), { recursive: true });
    expect(await listSnapshotIds(warehouse)).toEqual(ids);
    await writeFile(join(warehouse, 'landing'), '');
    expect(await listLandedIds(warehouse)).toEqual([]);
  });

  it('cannot be listed if their folder is unreadable', async () => {
    const warehouse = await temporaryFolder();
    await symlink('landing', join(warehouse, 'landing'));
    const refusal = { code: 'warehouse', message: expect.stringMatching(/landing cannot be read: .*\(ELOOP\)\.$/) };
    await expect(listLandedIds(warehouse)).rejects.toMatchObject(refusal);
  });
});
