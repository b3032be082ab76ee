/** Snapshots are published by one rename and removed as a whole. Ids sort, and no unfinished snapshot is listed. */

import { mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  beginSnapshotFolder,
  clearLeftovers,
  makeWarehouse,
  newSnapshotId,
  pruneSnapshots,
} from '../../src/publish/snapshot-folder.ts';
import { pointCurrent, publishSnapshotFolder } from '../../src/publish/switch-current.ts';
import { isSnapshotId, warehousePaths } from '../../src/warehouse/snapshot-format.ts';
import { listSnapshotIds, readCurrentId } from '../../src/warehouse/warehouse.ts';
import { holds } from '../support/properties.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ids = [1, 2, 3, 4].map((day) => `2026112${day}T030002Z-00000${day}`) as [string, string, string, string];
const ignore = (): void => {};
const namesIn = async (folder: string) => (await readdir(folder)).toSorted();
const snapshotsIn = (warehouse: string) => namesIn(warehousePaths(warehouse).snapshots);

/** A warehouse with these snapshots, the last one current. */
async function warehouseWith(...published: string[]): Promise<string> {
  const warehouse = await temporaryFolder();
  await makeWarehouse(warehouse, ignore);
  for (const id of published) {
    const folder = await beginSnapshotFolder(warehouse, id);
    await mkdir(join(folder, 'parquet'));
    await writeFile(join(folder, 'parquet', 'file'), id);
    await publishSnapshotFolder(warehouse, { id, folder, files: ['parquet/file'] }, ignore);
  }
  return warehouse;
}

describe('a snapshot id', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 3, 0, second, 999));

  const moment = fc.record({
    second: fc.integer({ min: 0, max: 3 }),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });

  holds(
    'is unique and sorts after all earlier ones, even if the clock goes back',
    fc.property(fc.array(moment, { maxLength: 20 }), (moments) => {
      const made: string[] = [];
      for (const { second, random } of moments) made.push(newSnapshotId(at(second), random, made.at(-1) ?? null));
      expect(made.every(isSnapshotId)).toBe(true);
      expect(made).toEqual([...new Set(made)].toSorted());
    }),
    { runs: 100 },
  );

  it('is refused if none is left within its second', () => {
    const last = '20261120T030002Z-ffffff';
    expect(newSnapshotId(at(2), 0.5, '20261120T030002Z-fffffe')).toBe(last);
    expect(() => newSnapshotId(at(2), 0.5, last)).toThrow(expect.objectContaining({ code: 'warehouse' }));
    expect(newSnapshotId(at(3), 0.5, last)).toMatch(/^20261120T030003Z-/);
  });
});

describe('a warehouse', () => {
  it('is created with all parent folders, and unchanged if it exists', async () => {
    const warehouse = join(await temporaryFolder(), 'a', 'b', 'c');
    for (const _ of [1, 2]) await makeWarehouse(warehouse, ignore);
    expect(await namesIn(warehouse)).toEqual(['landing', 'snapshots']);
  });

  it('warns once if its folder contains other files, and keeps them', async () => {
    const folder = await temporaryFolder();
    for (const name of ['.env', 'b.ts', 'a.ts', 'd.ts', 'c.ts']) await writeFile(join(folder, name), '');
    const warnings: string[] = [];
    for (const _ of [1, 2]) await makeWarehouse(folder, (message) => warnings.push(message));
    expect(warnings).toEqual([
      expect.stringContaining(`${folder} of the new warehouse already contains other files (a.ts, b.ts, c.ts and 1`),
    ]);
    expect(await readdir(folder)).toHaveLength(7);
  });

  it.each(['file', 'link', 'file/below', 'link/below'])(
    'is not created over a file or a broken link: %s',
    async (name) => {
      const top = await temporaryFolder();
      await writeFile(join(top, 'file'), '');
      await symlink('nowhere', join(top, 'link'));
      await expect(makeWarehouse(join(top, name), ignore)).rejects.toThrow(/EEXIST|ENOTDIR|ENOENT/);
      expect(await namesIn(top)).toEqual(['file', 'link']);
    },
  );
});

describe('publishing', () => {
  it('makes the folder and `current` visible together, by a relative link', async () => {
    const warehouse = await warehouseWith();
    const folder = await beginSnapshotFolder(warehouse, ids[0]);
    await writeFile(join(folder, 'file'), 'x');
    expect([await listSnapshotIds(warehouse), await readCurrentId(warehouse)]).toEqual([[], null]);
    await publishSnapshotFolder(warehouse, { id: ids[0], folder, files: ['file'] }, ignore);
    expect(await listSnapshotIds(warehouse)).toEqual([ids[0]]);
    expect(await readlink(warehousePaths(warehouse).current)).toBe(`snapshots/${ids[0]}`);
    expect(await namesIn(warehousePaths(warehouse).current)).toEqual(['file']);
    expect(await namesIn(warehouse)).toEqual(['current', 'landing', 'snapshots']);
  });
});

describe('pruning', () => {
  it.each<[number, number | null, number[]]>([
    [1, 3, [3]],
    [2, 3, [2, 3]],
    [2, 0, [0, 2, 3]],
    [0, 2, [2]],
    [0, null, []],
  ])('to %i snapshots, and snapshot %s, keeps %j', async (keep, spared, kept) => {
    const warehouse = await warehouseWith(...ids);
    const removed = await pruneSnapshots(warehouse, keep, [spared === null ? null : ids[spared]!]);
    expect(await snapshotsIn(warehouse)).toEqual(kept.map((index) => ids[index]));
    expect(removed).toEqual(ids.filter((_, index) => !kept.includes(index)));
  });
});

describe('cleaning up after a killed run', () => {
  it('removes unfinished folders, and keeps snapshots and foreign files', async () => {
    const warehouse = await warehouseWith(ids[0], ids[1]);
    await writeFile(join(await beginSnapshotFolder(warehouse, ids[2]), 'file'), 'half');
    await mkdir(join(warehousePaths(warehouse).snapshots, `.pruned-${ids[3]}`, 'parquet'), { recursive: true });
    await symlink(`snapshots/${ids[0]}`, join(warehouse, '.rollback-next'));
    const halfMade = ['lock-0b2f9a6e-4c1d-4e8a-9b77-0123456789ab', 'lock-0b2f9a6e-4c1d-4e8a-9b77-0123456789ab.wal'];
    const others = ['lock', 'lock-notes.txt', 'lock-0b2f9a6e', 'lockable'];
    for (const name of [...halfMade, ...others]) await writeFile(join(warehouse, name), '');
    await mkdir(join(warehouse, 'lock-history'));
    await clearLeftovers(warehouse);
    expect(await snapshotsIn(warehouse)).toEqual([ids[0], ids[1]]);
    const kept = ['current', 'landing', 'snapshots', 'lock-history', ...others];
    expect(await namesIn(warehouse)).toEqual(kept.toSorted());
    expect(await readCurrentId(warehouse)).toBe(ids[1]);
  });

  /** A warehouse whose last run was killed between naming its snapshot and making it current. */
  async function withUnpublished(): Promise<string> {
    const warehouse = await warehouseWith(ids[0]);
    await mkdir(join(warehousePaths(warehouse).snapshots, ids[1]));
    await symlink(`snapshots/${ids[1]}`, join(warehouse, '.current-next'));
    return warehouse;
  }

  it('removes a named snapshot that never became current', async () => {
    const warehouse = await withUnpublished();
    await clearLeftovers(warehouse);
    expect(await snapshotsIn(warehouse)).toEqual([ids[0]]);
    expect(await readCurrentId(warehouse)).toBe(ids[0]);
  });

  it('keeps a snapshot that a rollback has made current since', async () => {
    const warehouse = await withUnpublished();
    await pointCurrent(warehouse, ids[1]);
    await pointCurrent(warehouse, ids[0]);
    await clearLeftovers(warehouse);
    expect(await snapshotsIn(warehouse)).toEqual([ids[0], ids[1]]);
  });

  it.each(['..', 'landing', '.', `snapshots/${ids[0]}`])(
    'removes nothing else, even if the leftover link points to %s',
    async (target) => {
      const warehouse = await warehouseWith(ids[0]);
      await symlink(target, join(warehouse, '.current-next'));
      await clearLeftovers(warehouse);
      expect(await namesIn(warehouse)).toEqual(['current', 'landing', 'snapshots']);
      expect(await namesIn(warehousePaths(warehouse).current)).toEqual(['parquet']);
    },
  );
});
