/** Snapshots come by one rename and go whole: ids sort, nothing half-made is listed, and the current one stays. */

import { mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
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

const ids = [1, 2, 3, 4].map((day) => `2026112${day}T030002Z-00000${day}`) as [string, string, string, string];

async function makeEmptyWarehouse(): Promise<string> {
  const warehouse = await mkdtemp(join(tmpdir(), 'rekap-snapshots-'));
  onTestFinished(() => rm(warehouse, { recursive: true, force: true }));
  await makeWarehouse(warehouse, () => {});
  return warehouse;
}

async function publish(warehouse: string, id: string): Promise<void> {
  const folder = await beginSnapshotFolder(warehouse, id);
  await mkdir(join(folder, 'parquet'));
  await writeFile(join(folder, 'parquet', 'file'), id);
  await publishSnapshotFolder(warehouse, { id, folder, files: ['parquet/file'] }, () => {});
}

const snapshotEntries = async (warehouse: string) => (await readdir(warehousePaths(warehouse).snapshots)).toSorted();

describe('a snapshot id', () => {
  it('carries the time to the second in UTC', () => {
    expect(newSnapshotId(new Date('2026-11-20T10:00:02.999+07:00'), 0.5, null)).toMatch(
      /^20261120T030002Z-[0-9a-f]{6}$/,
    );
  });

  const moment = fc.record({
    time: fc.integer({ min: 0, max: 3 }).map((seconds) => new Date(Date.UTC(2026, 10, 20, 3, 0, seconds, 999))),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });

  holds(
    'sorts after all before it and is never given twice, within a second or with a clock that goes back',
    fc.property(fc.array(moment, { maxLength: 20 }), (moments) => {
      const given: string[] = [];
      for (const { time, random } of moments) given.push(newSnapshotId(time, random, given.at(-1) ?? null));
      expect(given.every(isSnapshotId)).toBe(true);
      expect(new Set(given).size).toBe(given.length);
      expect(given).toEqual(given.toSorted());
    }),
    { runs: 300 },
  );

  it('is refused where none is left within its second', () => {
    const last = '20261120T030002Z-ffffff';
    expect(() => newSnapshotId(new Date('2026-11-20T03:00:02Z'), 0.5, last)).toThrow(
      expect.objectContaining({ code: 'warehouse' }),
    );
    expect(newSnapshotId(new Date('2026-11-20T03:00:02Z'), 0.5, '20261120T030002Z-fffffe')).toBe(last);
    expect(newSnapshotId(new Date('2026-11-20T03:00:03Z'), 0.5, last)).toMatch(/^20261120T030003Z-/);
  });

  it('depends on chance, so that two warehouses do not share ids', () => {
    const now = new Date();
    const given = [0, 0.25, 0.5, 0.999_999].map((random) => newSnapshotId(now, random, null));
    expect(new Set(given).size).toBe(4);
  });
});

describe('a warehouse', () => {
  it('is made with all folders above it, and left as it is where it stands', async () => {
    const top = await makeEmptyWarehouse();
    const warehouse = join(top, 'a', 'b', 'c');
    await makeWarehouse(warehouse, () => {});
    await publish(warehouse, ids[0]);
    await makeWarehouse(warehouse, () => {});
    expect((await readdir(warehouse)).toSorted()).toEqual(['current', 'landing', 'snapshots']);
    expect(await readCurrentId(warehouse)).toBe(ids[0]);
  });

  it('says so where it begins among other things, and leaves them alone', async () => {
    const folder = join(await makeEmptyWarehouse(), 'src');
    await mkdir(folder);
    for (const name of ['.env', 'b.ts', 'a.ts', 'd.ts', 'c.ts']) await writeFile(join(folder, name), '');
    const warnings: string[] = [];
    for (const _ of [1, 2]) await makeWarehouse(folder, (message) => warnings.push(message));
    expect(warnings).toEqual([
      expect.stringContaining(`${folder}, which holds other things (a.ts, b.ts, c.ts and 1 more)`),
    ]);
    expect(await readdir(folder)).toHaveLength(7);
  });

  it('is not made where a file or a link to nowhere stands in the place of one of its folders', async () => {
    const top = await makeEmptyWarehouse();
    await writeFile(join(top, 'file'), '');
    await symlink('nowhere', join(top, 'link'));
    for (const name of ['file', 'link', 'file/below', 'link/below'])
      await expect(
        makeWarehouse(join(top, name), () => {}),
        name,
      ).rejects.toThrow(/EEXIST|ENOTDIR|ENOENT/);
    expect((await readdir(top)).toSorted()).toEqual(['file', 'landing', 'link', 'snapshots']);
  });
});

describe('publishing', () => {
  it('makes the folder and `current` visible together, by a relative link', async () => {
    const warehouse = await makeEmptyWarehouse();
    const folder = await beginSnapshotFolder(warehouse, ids[0]);
    await writeFile(join(folder, 'file'), 'x');
    expect(await listSnapshotIds(warehouse)).toEqual([]);
    expect(await readCurrentId(warehouse)).toBeNull();
    await publishSnapshotFolder(warehouse, { id: ids[0], folder, files: ['file'] }, () => {});
    expect(await listSnapshotIds(warehouse)).toEqual([ids[0]]);
    expect(await readlink(warehousePaths(warehouse).current)).toBe(`snapshots/${ids[0]}`);
    expect(await readdir(warehousePaths(warehouse).current)).toEqual(['file']);
    expect((await readdir(warehouse)).toSorted()).toEqual(['current', 'landing', 'snapshots']);
  });

  it('replaces the snapshot before, which stays until it is removed', async () => {
    const warehouse = await makeEmptyWarehouse();
    await publish(warehouse, ids[0]);
    await publish(warehouse, ids[1]);
    expect(await readCurrentId(warehouse)).toBe(ids[1]);
    expect(await snapshotEntries(warehouse)).toEqual([ids[0], ids[1]]);
    await pointCurrent(warehouse, ids[0]);
    expect(await readCurrentId(warehouse)).toBe(ids[0]);
    expect((await readdir(warehouse)).toSorted()).toEqual(['current', 'landing', 'snapshots']);
  });

  it('leaves nothing of a snapshot that is given up', async () => {
    const warehouse = await makeEmptyWarehouse();
    await discardSnapshotFolder(await beginSnapshotFolder(warehouse, ids[0]));
    expect(await snapshotEntries(warehouse)).toEqual([]);
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
  ])('to %i with snapshot %s current keeps %j', async (keep, current, kept) => {
    const warehouse = await makeEmptyWarehouse();
    for (const id of ids) await publish(warehouse, id);
    const currentId = current === null ? null : ids[current]!;
    if (currentId !== null) await pointCurrent(warehouse, currentId);
    const removed = await pruneSnapshots(warehouse, keep, [currentId]);
    expect(await snapshotEntries(warehouse)).toEqual(kept.map((index) => ids[index]));
    expect([...removed, ...kept.map((index) => ids[index]!)].toSorted()).toEqual([...ids]);
    const files = currentId === null ? [] : await readdir(warehousePaths(warehouse).current);
    expect(files).toEqual(currentId === null ? [] : ['parquet']);
  });
});

describe('clearing up after a run that died', () => {
  it('removes what was being built or removed, and keeps what was published', async () => {
    const warehouse = await makeEmptyWarehouse();
    await publish(warehouse, ids[0]);
    await publish(warehouse, ids[1]);
    const half = await beginSnapshotFolder(warehouse, ids[2]);
    await writeFile(join(half, 'file'), 'half');
    await mkdir(join(warehousePaths(warehouse).snapshots, `.pruned-${ids[3]}`, 'parquet'), { recursive: true });
    await symlink(`snapshots/${ids[0]}`, join(warehouse, '.rollback-next'));
    const halfMade = ['lock-0b2f9a6e-4c1d-4e8a-9b77-0123456789ab', 'lock-0b2f9a6e-4c1d-4e8a-9b77-0123456789ab.wal'];
    const others = ['lock', 'lock-notes.txt', 'lock-0b2f9a6e', 'lockable'];
    for (const name of [...halfMade, ...others]) await writeFile(join(warehouse, name), '');
    await mkdir(join(warehouse, 'lock-history'));
    await clearLeftovers(warehouse);
    expect(await snapshotEntries(warehouse)).toEqual([ids[0], ids[1]]);
    const kept = ['current', 'landing', 'snapshots', 'lock-history', ...others];
    expect((await readdir(warehouse)).toSorted()).toEqual(kept.toSorted());
    expect(await readCurrentId(warehouse)).toBe(ids[1]);
  });

  it('removes a snapshot that got its name and never became current', async () => {
    const warehouse = await makeEmptyWarehouse();
    await publish(warehouse, ids[0]);
    await mkdir(join(warehousePaths(warehouse).snapshots, ids[1]));
    await symlink(`snapshots/${ids[1]}`, join(warehouse, '.current-next'));
    await clearLeftovers(warehouse);
    expect(await snapshotEntries(warehouse)).toEqual([ids[0]]);
    expect(await readCurrentId(warehouse)).toBe(ids[0]);
  });

  it('keeps one that a rollback has made current since, whatever is current now', async () => {
    const warehouse = await makeEmptyWarehouse();
    await publish(warehouse, ids[0]);
    await mkdir(join(warehousePaths(warehouse).snapshots, ids[1]));
    await symlink(`snapshots/${ids[1]}`, join(warehouse, '.current-next'));
    await pointCurrent(warehouse, ids[1]);
    await pointCurrent(warehouse, ids[0]);
    await clearLeftovers(warehouse);
    expect(await snapshotEntries(warehouse)).toEqual([ids[0], ids[1]]);
  });

  it.each(['..', '../..', 'landing', '.', `../landing/../landing`])(
    'removes nothing but snapshots, even where the link says %s',
    async (target) => {
      const warehouse = await makeEmptyWarehouse();
      await publish(warehouse, ids[0]);
      await symlink(target, join(warehouse, '.current-next'));
      await clearLeftovers(warehouse);
      expect((await readdir(warehouse)).toSorted()).toEqual(['current', 'landing', 'snapshots']);
      expect(await readCurrentId(warehouse)).toBe(ids[0]);
    },
  );

  it('keeps the current snapshot where a link to it was left over', async () => {
    const warehouse = await makeEmptyWarehouse();
    await publish(warehouse, ids[0]);
    await symlink(`snapshots/${ids[0]}`, join(warehouse, '.current-next'));
    await clearLeftovers(warehouse);
    expect(await readdir(warehousePaths(warehouse).current)).toEqual(['parquet']);
  });
});
