/** A `current` that is no link to a snapshot: a rollback puts it right, and the advice given leads there. */

import { mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeManifest } from '../../src/publish/manifest.ts';
import { rollBack, verifyPublished } from '../../src/snapshots/manage-snapshots.ts';
import { describeFile } from '../../src/warehouse/check-files.ts';
import { databaseFile, type Manifest, manifestFile, manifestHashFile } from '../../src/warehouse/snapshot-format.ts';
import { readCurrent, readCurrentId, requireCurrent } from '../../src/warehouse/warehouse.ts';
import { alterFile } from '../support/alter-file.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';

/** A warehouse with two snapshots, and without its `current`. */
const twoSnapshots = preparedSnapshots(smallNation({ 1101: 3, 1102: 20 }), smallNation({ 1101: 4, 1102: 20 }));

async function withoutCurrent() {
  const { warehouse, known } = await twoSnapshots();
  const [older, newer] = known;
  const current = join(warehouse, 'current');
  await rm(current);
  return { warehouse, current, older, newer };
}

describe('where a folder with something in it stands in its place', () => {
  it('is left as it is, and the message says what to remove', async () => {
    const { warehouse, current, newer } = await withoutCurrent();
    await mkdir(current);
    await writeFile(join(current, 'theirs'), 'x');
    for (const attempt of [() => rollBack(warehouse, newer), () => runReplay(warehouse)]) {
      await expect(attempt()).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
      await expect(attempt()).rejects.toMatchObject({
        exitCode: 2,
        next: expect.stringContaining(`Remove or move ${current}`),
      });
    }
    await rm(join(current, 'theirs'));
    await rollBack(warehouse, newer);
    expect(await readCurrentId(warehouse)).toBe(newer);
  });
});

describe('the advice', () => {
  const damages: [string, (warehouse: string, current: string, newer: string) => Promise<unknown>][] = [
    ['current is a link to somewhere else', (_, current) => symlink('/etc', current)],
    ['current is a plain file', (_, current) => writeFile(current, 'x')],
    ['current is an empty folder', (_, current) => mkdir(current)],
    [
      'the snapshot is gone',
      async (warehouse, current, newer) => {
        await symlink(`snapshots/${newer}`, current);
        await rm(join(warehouse, 'snapshots', newer), { recursive: true });
      },
    ],
    [
      'the manifest is none',
      async (warehouse, current, newer) => {
        await symlink(`snapshots/${newer}`, current);
        await writeFile(join(warehouse, 'snapshots', newer, 'manifest.json'), '{');
      },
    ],
  ];

  it.each(damages)('where %s names a rollback that mends it', async (_, damage) => {
    const { warehouse, current, older, newer } = await withoutCurrent();
    await damage(warehouse, current, newer);
    await expect(readCurrent(warehouse)).rejects.toMatchObject({
      next: expect.stringContaining('rekap snapshots rollback'),
    });
    await rollBack(warehouse, older);
    expect(await readlink(current)).toBe(`snapshots/${older}`);
    expect(await verifyPublished(warehouse, (await readCurrent(warehouse))!.id)).toMatchObject({ problems: [] });
  });

  it('keeps a sync from beginning the history anew where only the link is gone', async () => {
    const { warehouse, newer } = await withoutCurrent();
    await expect(requireCurrent(warehouse)).rejects.toMatchObject({
      next: expect.stringContaining('rekap snapshots rollback'),
    });
    const { url } = await serveData(smallNation({ 1101: 5, 1102: 20 }));
    const again = () => runSync(syncOptions(warehouse, url));
    await expect(again()).rejects.toMatchObject({
      code: 'warehouse',
      next: expect.stringContaining('rekap snapshots rollback'),
    });
    await rollBack(warehouse, newer);
    expect((await again()).manifest.previous).toBe(newer);
  });
});

it('a database that cannot be read though its hash fits ends a sync with the way back, which leads out', async () => {
  const { warehouse, known: ids } = await twoSnapshots();
  const folder = join(warehouse, 'snapshots', ids[1]);
  await alterFile(join(folder, databaseFile), (bytes) => {
    // Behind the file's headers, every block is another than its own checksum says.
    for (let place = 3 * 4096 + 100; place < bytes.length; place += 4096) bytes[place]! ^= 1;
    return bytes;
  });
  const manifest = JSON.parse(await readFile(join(folder, manifestFile), 'utf8')) as Manifest;
  const files = manifest.files.filter(({ path }) => path !== databaseFile);
  files.unshift(await describeFile(folder, databaseFile, null));
  await Promise.all([manifestFile, manifestHashFile].map((name) => rm(join(folder, name))));
  await writeManifest(folder, { ...manifest, files });
  const { url } = await serveData(smallNation({ 1101: 5, 1102: 20 }));
  const again = () => runSync(syncOptions(warehouse, url));
  await expect(again()).rejects.toMatchObject({
    code: 'warehouse',
    message: expect.stringContaining(`from snapshot ${ids[1]}, because it is damaged: ${databaseFile}`),
    next: expect.stringContaining('"rekap snapshots rollback ID"'),
  });
  await rollBack(warehouse, ids[0]);
  await rm(join(warehouse, 'pinned'));
  expect((await again()).outcome).toBe('published');
});
