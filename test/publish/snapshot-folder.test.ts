/** Snapshots come by one rename and go whole: ids sort, nothing half-made is listed, and the current one stays. */

import { mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  beginSnapshotFolder,
  clearLeftovers,
  discardSnapshotFolder,
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

  it('carries the time to the second in UTC, and chance', () => {
    const given = [0, 0.25, 0.5, 0.999_999].map((random) => newSnapshotId(at(2), random, null));
    expect(new Set(given).size).toBe(4);
    for (const id of given) expect(id).toMatch(/^20261120T030002Z-[0-9a-f]{6}$/);
  });

  const moment = fc.record({
    second: fc.integer({ min: 0, max: 3 }),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });

  holds(
    'sorts after all before it and is never given twice, within a second or with a clock that goes back',
    fc.property(fc.array(moment, { maxLength: 20 }), (moments) => {
      const given: string[] = [];
      for (const { second, random } of moments) given.push(newSnapshotId(at(second), random, given.at(-1) ?? null));
      expect(given.every(isSnapshotId)).toBe(true);
      expect(given).toEqual([...new Set(given)].toSorted());
    }),
    { runs: 300 },
  );

  it('is refused where none is left within its second', () => {
    const last = '20261120T030002Z-ffffff';
    expect(newSnapshotId(at(2), 0.5, '20261120T030002Z-fffffe')).toBe(last);
    expect(() => newSnapshotId(at(2), 0.5, last)).toThrow(expect.objectContaining({ code: 'warehouse' }));
    expect(newSnapshotId(at(3), 0.5, last)).toMatch(/^20261120T030003Z-/);
  });
});

describe('a warehouse', () => {
  it('is made with all folders above it, and left as it is where it stands', async () => {
    const warehouse = join(await temporaryFolder(), 'a', 'b', 'c');
    for (const _ of [1, 2]) await makeWarehouse(warehouse, ignore);
    expect(await namesIn(warehouse)).toEqual(['landing', 'snapshots']);
  });

  it('says so once where it begins among other things, and leaves them alone', async () => {
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
    'is not made where a file or a link to nowhere stands in its way: %s',
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

  it('replaces the snapshot before, which stays and can be gone back to', async () => {
    const warehouse = await warehouseWith(ids[0], ids[1]);
    expect(await readCurrentId(warehouse)).toBe(ids[1]);
    await pointCurrent(warehouse, ids[0]);
    expect(await readCurrentId(warehouse)).toBe(ids[0]);
    expect(await snapshotsIn(warehouse)).toEqual([ids[0], ids[1]]);
    expect(await namesIn(warehouse)).toEqual(['current', 'landing', 'snapshots']);
  });

  it('leaves nothing of a snapshot that is given up', async () => {
    const warehouse = await warehouseWith();
    await discardSnapshotFolder(await beginSnapshotFolder(warehouse, ids[0]));
    expect(await snapshotsIn(warehouse)).toEqual([]);
  });
});

describe('pruning', () => {
  it.each([
    [1, 3, [3]],
    [2, 3, [2, 3]],
    [9, 3, [0, 1, 2, 3]],
    [2, 0, [0, 2, 3]],
    [1, 0, [0, 3]],
    [2, null, [2, 3]],
    [0, 2, [2]],
    [0, null, []],
  ])('to %i with snapshot %s spared keeps %j', async (keep, spared, kept) => {
    const warehouse = await warehouseWith(...ids);
    const removed = await pruneSnapshots(warehouse, keep, [spared === null ? null : ids[spared]!]);
    expect(await snapshotsIn(warehouse)).toEqual(kept.map((index) => ids[index]));
    expect(removed).toEqual(ids.filter((_, index) => !kept.includes(index)));
  });
});

describe('clearing up after a run that died', () => {
  it('removes what was being built or removed, and keeps what was published or is somebody else’s', async () => {
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

  /** A warehouse whose last run died when its snapshot had its name and was not current yet. */
  async function withUnpublished(): Promise<string> {
    const warehouse = await warehouseWith(ids[0]);
    await mkdir(join(warehousePaths(warehouse).snapshots, ids[1]));
    await symlink(`snapshots/${ids[1]}`, join(warehouse, '.current-next'));
    return warehouse;
  }

  it('removes a snapshot that got its name and never became current', async () => {
    const warehouse = await withUnpublished();
    await clearLeftovers(warehouse);
    expect(await snapshotsIn(warehouse)).toEqual([ids[0]]);
    expect(await readCurrentId(warehouse)).toBe(ids[0]);
  });

  it('keeps one that a rollback has made current since, whatever is current now', async () => {
    const warehouse = await withUnpublished();
    await pointCurrent(warehouse, ids[1]);
    await pointCurrent(warehouse, ids[0]);
    await clearLeftovers(warehouse);
    expect(await snapshotsIn(warehouse)).toEqual([ids[0], ids[1]]);
  });

  it.each(['..', '../..', 'landing', '.', `../landing/../landing`, `snapshots/${ids[0]}`])(
    'removes no published snapshot and nothing else, even where the link left over says %s',
    async (target) => {
      const warehouse = await warehouseWith(ids[0]);
      await symlink(target, join(warehouse, '.current-next'));
      await clearLeftovers(warehouse);
      expect(await namesIn(warehouse)).toEqual(['current', 'landing', 'snapshots']);
      expect(await namesIn(warehousePaths(warehouse).current)).toEqual(['parquet']);
    },
  );
});
