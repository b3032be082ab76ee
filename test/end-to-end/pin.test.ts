/** A rollback holds: syncs build and keep new snapshots, and none of them becomes current until the pin is removed. */

import { existsSync } from 'node:fs';
import { readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rollBack } from '../../src/snapshots/manage-snapshots.ts';
import { listSnapshotIds, readCurrentId, readPinnedId } from '../../src/warehouse/warehouse.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runReplay } from '../support/run-replay.ts';
import { runBundledSync, runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const prepared = preparedSnapshots(smallNation({ 1101: 60 }), smallNation({ 1101: 61 }));
/** A snapshot with the report. */
const bundled = preparedWarehouse(async (warehouse) => {
  const { url } = await serveData(smallNation({ 1101: 60 }));
  return (await runBundledSync(syncOptions(warehouse, url))).run;
});

/** A warehouse with two snapshots that was rolled back to the older one, and a source with newer figures. */
async function rolledBack() {
  const { warehouse, known } = await prepared();
  const [older, newer] = known;
  await rollBack(warehouse, older);
  const { url } = await serveData(smallNation({ 1101: 62 }));
  const sync = (settings: Partial<Parameters<typeof syncOptions>[2]> = {}) =>
    runSync(syncOptions(warehouse, url, { unpin: false, ...settings }));
  const run = (...words: string[]) => runHere([...words, '--warehouse', warehouse], { REKAP_API_KEY: testKey });
  return { warehouse, url, older, newer, sync, run };
}

describe('a sync after a rollback', () => {
  it('keeps its snapshot beside the pinned one, which readers see, and compares it with that', async () => {
    const { warehouse, older, newer, sync } = await rolledBack();
    const { run: kept, ...result } = await sync();
    expect(result).toMatchObject({ outcome: 'held', snapshot: kept, current: older, pinned: older });
    expect(result.manifest.previous).toBe(older);
    expect(await readCurrentId(warehouse)).toBe(older);
    expect(await listSnapshotIds(warehouse)).toEqual([older, newer, kept]);
    expect((await readRunLines(warehouse)).at(-1)).toMatchObject({ run: kept, outcome: 'held', snapshot: older });
    // No copy of what it has kept already.
    expect(await sync()).toMatchObject({ outcome: 'unchanged', snapshot: kept, current: older });
    expect(await listSnapshotIds(warehouse)).toEqual([older, newer, kept]);
  });

  it('is named in the report of the pinned snapshot, and in that of the snapshot it holds back', async () => {
    const { warehouse, known: older } = await bundled();
    await rollBack(warehouse, older);
    const { url } = await serveData(smallNation({ 1101: 62 }));
    const { run: kept } = await runBundledSync(syncOptions(warehouse, url, { unpin: false }));
    const held = await readFile(join(warehouse, 'snapshots', kept, 'report.html'), 'utf8');
    expect(held).toContain(`because snapshot <code>${older}</code> is pinned`);
    const file = join(await temporaryFolder(), 'report.html');
    expect(await runHere(['report', '--out', file, '--warehouse', warehouse])).toMatchObject({ code: 0 });
    expect(await readFile(file, 'utf8')).toContain('This snapshot is pinned');
    await rm(join(warehouse, 'pinned'));
    expect(await runHere(['report', '--out', file, '--warehouse', warehouse])).toMatchObject({ code: 0 });
    expect(await readFile(file, 'utf8')).not.toContain('pinned');
  });

  it('ends with exit 0, says what is pinned, and does not run the command for new figures', async () => {
    const { url, older, run } = await rolledBack();
    const file = join(await temporaryFolder(), 'published');
    const words = ['--base-url', url, '--accept-source', '--accept-changes', '--on-publish', `touch '${file}'`];
    const { code, stdout } = await run('sync', ...words);
    expect(code).toBe(0);
    const [kept, pinned] = stdout.split('\n');
    expect(kept).toMatch(/^Kept snapshot /);
    expect(pinned).toContain(`Snapshot ${older} is pinned, so it stays current until you run "rekap sync --unpin`);
    expect(stdout).toContain(`"rekap diff ${older} `);
    expect(existsSync(file)).toBe(false);
  });

  it('becomes current with --unpin, unless that fails or is a dry run', async () => {
    const { warehouse, older, sync } = await rolledBack();
    await expect(sync({ unpin: true, baseUrl: 'http://127.0.0.1:1', maxAttempts: 1 })).rejects.toThrow('cannot be');
    await sync({ unpin: true, dryRun: true });
    expect([await readCurrentId(warehouse), await readPinnedId(warehouse)]).toEqual([older, older]);
    const { run: last, outcome } = await sync({ unpin: true });
    expect([outcome, await readCurrentId(warehouse), await readPinnedId(warehouse)]).toEqual(['published', last, null]);
  });
});

describe('a pinned snapshot', () => {
  it('is named by status and by the list', async () => {
    const { older, newer, sync, run } = await rolledBack();
    await sync();
    const { code, stdout } = await run('status', '--max-age', '99999d');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^fresh: held /) });
    expect(stdout).toContain(`Snapshot ${older} is pinned. It stays current until you run "rekap sync --unpin`);
    const status = JSON.parse((await run('status', '--max-age', '99999d', '--json')).stdout) as object;
    expect(status).toMatchObject({ pinned: older });
    expect((await run('snapshots')).stdout).toMatch(new RegExp(`● current, pinned +${older}`));
    const listed = JSON.parse((await run('snapshots', '--json')).stdout) as object[];
    expect(listed.slice(0, 2)).toMatchObject([
      { id: older, current: true, pinned: true },
      { id: newer, current: false, pinned: false },
    ]);
  });

  it('is never removed, even if current is another', async () => {
    const { warehouse, older, newer, sync } = await rolledBack();
    await sync({ keep: 1 });
    await symlinkAgain(join(warehouse, 'current'), `snapshots/${(await listSnapshotIds(warehouse)).at(-1)}`);
    await sync({ keep: 1 });
    expect(await listSnapshotIds(warehouse)).toEqual([older, expect.not.stringMatching(newer)]);
  });

  it('stays current though a newer run is replayed, and gives way to another rollback', async () => {
    const { warehouse, older, newer, sync } = await rolledBack();
    const { run: kept } = await sync();
    await rm(join(warehouse, 'snapshots', kept), { recursive: true });
    expect(await runReplay(warehouse, { run: kept })).toMatchObject({
      outcome: 'held',
      snapshot: kept,
      current: older,
    });
    await rollBack(warehouse, newer);
    expect([await readCurrentId(warehouse), await readPinnedId(warehouse)]).toEqual([newer, newer]);
  });
});

describe('a damaged pin', () => {
  it.each([
    ['a file', (pin: string) => rm(pin).then(() => writeFile(pin, 'x'))],
    ['a link to elsewhere', (pin: string) => symlinkAgain(pin, '../elsewhere')],
  ])('such as %s ends a sync before it begins, is listed, and can be removed', async (_, damage) => {
    const { warehouse, older, sync, run } = await rolledBack();
    const pin = join(warehouse, 'pinned');
    await damage(pin);
    await expect(sync()).rejects.toMatchObject({ code: 'warehouse', message: expect.stringContaining(pin) });
    expect((await run('snapshots')).stdout).toContain('pinned is damaged');
    await rm(pin, { recursive: true, force: true });
    expect(await sync()).toMatchObject({ outcome: 'published', pinned: null });
    await rollBack(warehouse, older);
    expect(await readlink(pin)).toBe(`snapshots/${older}`);
  });
});

async function symlinkAgain(path: string, target: string): Promise<void> {
  await rm(path);
  await symlink(target, path);
}
