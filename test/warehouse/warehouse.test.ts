/** The current snapshot of a warehouse is found, or it is said what stands in its place. */

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeManifest } from '../../src/publish/manifest.ts';
import { readCurrent, readSnapshot, requireCurrent, requireWarehouse } from '../../src/warehouse/warehouse.ts';
import { datasetOf, manifestOf, snapshotId as id } from '../support/manifests.ts';

const voters = datasetOf();
const manifest = manifestOf({
  datasets: { voters },
  files: [{ path: 'parquet/voters/voters.parquet', bytes: 1, rows: 1, sha256: '00' }],
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-warehouse-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A warehouse whose current snapshot has this text for a manifest. */
async function makeWarehouse(text: string): Promise<string> {
  const warehouse = await makeFolder();
  await mkdir(join(warehouse, 'snapshots', id), { recursive: true });
  await writeFile(join(warehouse, 'snapshots', id, 'manifest.json'), text);
  await symlink(`snapshots/${id}`, join(warehouse, 'current'));
  return warehouse;
}

const file = (path: string) => ({ path, bytes: 1, rows: 1, sha256: '00' });

describe('the current snapshot', () => {
  it('is the one that the link names', async () => {
    const warehouse = await makeWarehouse(JSON.stringify(manifest));
    expect(await readCurrent(warehouse)).toEqual({ id, folder: join(warehouse, 'snapshots', id), manifest });
  });

  it('is none where nothing was published, or nothing is there at all', async () => {
    const folder = await makeFolder();
    expect(await readCurrent(folder)).toBeNull();
    expect(await readCurrent(join(folder, 'none'))).toBeNull();
    await expect(requireCurrent(folder)).rejects.toThrow(expect.objectContaining({ code: 'snapshot-not-found' }));
    await expect(requireWarehouse(folder)).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
  });

  it('is refused where a file stands in the place of the warehouse', async () => {
    const path = join(await makeFolder(), 'file');
    await writeFile(path, '');
    await expect(readCurrent(path)).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
    await expect(readCurrent(path)).rejects.toThrow(/is not a folder/);
  });

  it.each([
    ['a plain folder', (path: string) => mkdir(path)],
    ['a plain file', (path: string) => writeFile(path, id)],
    ['a link to somewhere else', (path: string) => symlink('/etc', path)],
    ['a link to a snapshot elsewhere', (path: string) => symlink(`../snapshots/${id}`, path)],
    ['an absolute link', (path: string) => symlink(join(path, '..', 'snapshots', id), path)],
    ['a link to a name that is no id', (path: string) => symlink('snapshots/latest', path)],
    ['a link to what is being built', (path: string) => symlink(`snapshots/.building-${id}`, path)],
  ])('is refused where it is %s', async (_, make) => {
    const folder = await makeFolder();
    await mkdir(join(folder, 'snapshots', id), { recursive: true });
    await writeManifest(join(folder, 'snapshots', id), manifestOf());
    await make(join(folder, 'current'));
    await expect(readCurrent(folder)).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
    await expect(readCurrent(folder)).rejects.toMatchObject({
      exitCode: 2,
      next: expect.stringContaining('rekap replay'),
    });
  });

  it('is refused where the link names a snapshot that is gone', async () => {
    const folder = await makeFolder();
    await symlink(`snapshots/${id}`, join(folder, 'current'));
    await expect(readCurrent(folder)).rejects.toThrow(expect.objectContaining({ code: 'snapshot-not-found' }));
  });
});

describe('a snapshot', () => {
  it.each(['', '..', '../../..', 'latest', `${id}/..`, `${id}0`, id.toUpperCase()])(
    'has no id such as "%s"',
    async (name) => {
      const warehouse = await makeWarehouse(JSON.stringify(manifest));
      await expect(readSnapshot(warehouse, name)).rejects.toThrow(
        expect.objectContaining({ code: 'snapshot-not-found' }),
      );
    },
  );

  it.each([
    ['', /not JSON/],
    ['{"format":1', /not JSON/],
    ['null', /not a manifest/],
    ['[]', /not a manifest/],
    [JSON.stringify({ ...manifest, format: 2 }), /not a manifest/],
    [JSON.stringify({ ...manifest, snapshot: '20261120T030002Z-000000' }), /not a manifest/],
    [JSON.stringify({ ...manifest, source: undefined }), /not a manifest/],
    [JSON.stringify({ ...manifest, created_at: 5 }), /not a manifest/],
    [JSON.stringify({ ...manifest, run: null }), /not a manifest/],
    [JSON.stringify({ ...manifest, warnings: null }), /not a manifest/],
    [JSON.stringify({ ...manifest, datasets: null }), /not a manifest/],
    [JSON.stringify({ ...manifest, datasets: { voters: null } }), /not a manifest/],
    [JSON.stringify({ ...manifest, datasets: { voters: {} } }), /not a manifest/],
    [JSON.stringify({ ...manifest, files: [null] }), /not a manifest/],
    [JSON.stringify({ ...manifest, files: [{ path: 'x' }] }), /not a manifest/],
    ...['../secret', 'parquet/../../secret', '/etc/passwd', '', 'a//b', '..', 'a\0b', '..\\x'].map(
      (path): [string, RegExp] => [JSON.stringify({ ...manifest, files: [file(path)] }), /not a manifest/],
    ),
  ])('is refused where its manifest reads %s', async (text, message) => {
    const warehouse = await makeWarehouse(text);
    await expect(readCurrent(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
    await expect(readCurrent(warehouse)).rejects.toThrow(message);
  });

  it('is refused where its manifest is not there', async () => {
    const warehouse = await makeWarehouse('');
    await rm(join(warehouse, 'snapshots', id, 'manifest.json'));
    await expect(readCurrent(warehouse)).rejects.toThrow(
      /manifest\.json cannot be read: no such file or directory \(ENOENT\)/,
    );
  });

  it.each([
    { ...manifest, datasets: { voters: { ...voters, ledger: null } } },
    { ...manifest, datasets: { voters: { ...voters, sums: null } } },
    { ...manifest, datasets: { voters: { ...voters, nulls: undefined } } },
    { ...manifest, datasets: { voters: { ...voters, rows: undefined } } },
    { ...manifest, datasets: { voters: { ...voters, violations: null } } },
    { ...manifest, datasets: { voters: { ...voters, districts: [null] } } },
    { ...manifest, tool: undefined },
    { ...manifest, files: [{ path: 'x', sha256: '00' }] },
  ])('is refused where its manifest lacks a part that commands read: %#', async (wrong) => {
    const warehouse = await makeWarehouse(JSON.stringify(wrong));
    await expect(readCurrent(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
  });
});
