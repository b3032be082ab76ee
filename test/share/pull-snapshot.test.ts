/** A pull takes only what was pushed, switches once, keeps the previous snapshot, and refuses to replace a newer one. */

import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pinSnapshot, pointCurrent, unpinSnapshot } from '../../src/publish/switch-current.ts';
import { pullSnapshot } from '../../src/share/pull-snapshot.ts';
import { pushSnapshot } from '../../src/share/push-snapshot.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';
import { listSnapshotIds, readCurrentId, readSnapshot } from '../../src/warehouse/warehouse.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { startMemoryStore } from '../support/memory-store.ts';
import { readRunLines } from '../support/run-lines.ts';
import { nights, smallWarehouse } from '../support/small-snapshots.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const [first, second, third, fourth] = nights;
const quiet = { acceptSource: false, warn: () => undefined, report: () => undefined };
const clock = manualClock(new Date('2026-11-26T03:00:00Z'));

/** A bucket that a warehouse pushes to, and a mirror that pulls from it. */
async function setUp() {
  const origin = await smallWarehouse(nights);
  const mirror = await temporaryFolder();
  const store = await startMemoryStore();
  const bucket = await store.open();
  const push = async (id: string) =>
    pushSnapshot({ ...quiet, clock, warehouse: origin, snapshot: await readSnapshot(origin, id), bucket, keep: 7 });
  const pull = (settings: Partial<Parameters<typeof pullSnapshot>[0]> = {}) =>
    pullSnapshot({
      ...quiet,
      clock,
      verify: async () => [],
      warehouse: mirror,
      bucket,
      keep: 7,
      isCopy: false,
      ...settings,
    });
  return { origin, mirror, store, bucket, push, pull };
}

describe('a pull', () => {
  it('writes the files as they were pushed, and a line in runs.jsonl', async () => {
    const { origin, mirror, store, push, pull } = await setUp();
    await push(first);
    const pulled = await pull();
    const { files } = (await readSnapshot(origin, first)).manifest;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const expected = { snapshot: first, bucket: store.url, warehouse: mirror, held: null, removed: [] };
    expect(pulled).toEqual({ ...expected, outcome: 'pulled', files: 4, bytes });
    for (const name of ['rekap.duckdb', 'report.html', 'manifest.json', 'manifest.json.sha256'])
      expect(await readFile(join(mirror, 'current', name))).toEqual(
        await readFile(join(origin, 'snapshots', first, name)),
      );
    expect(await pull()).toEqual({ ...expected, outcome: 'unchanged', files: 0, bytes: 0 });
    const line = { kind: 'pull', snapshot: first, rows: { voters: 1 }, bucket: store.url, exit_code: 0 };
    expect(await readRunLines(mirror)).toMatchObject([
      { ...line, outcome: 'pulled', bytes },
      { ...line, outcome: 'unchanged', bytes: 0 },
    ]);
  });

  it('into a copy records only new snapshots in runs.jsonl', async () => {
    const { mirror, push, pull } = await setUp();
    await push(first);
    for (const outcome of ['pulled', 'unchanged']) expect(await pull({ isCopy: true })).toMatchObject({ outcome });
    expect((await readRunLines(mirror)).map(({ outcome }) => outcome)).toEqual(['pulled']);
  });

  it('keeps the previous snapshot, even with --keep 1', async () => {
    const { mirror, push, pull } = await setUp();
    const removed: (readonly string[])[] = [];
    for (const id of [first, second, third]) {
      await push(id);
      removed.push((await pull({ keep: 1 })).removed);
    }
    expect(removed).toEqual([[], [], [first]]);
    expect(await listSnapshotIds(mirror)).toEqual([second, third]);
  });

  it('downloads nothing while another snapshot is pinned, and keeps the pinned one', async () => {
    const { mirror, store, push, pull } = await setUp();
    await push(first);
    await pull();
    await pinSnapshot(mirror, first);
    for (const id of [second, third]) await push(id);
    store.requests.length = 0;
    const held = { outcome: 'unchanged', snapshot: first, held: third, files: 0 };
    expect(await pull({ keep: 1 })).toMatchObject(held);
    expect(store.requests.filter((request) => request.includes(`${third}/`))).toEqual([]);
    expect(await readCurrentId(mirror)).toBe(first);
    await unpinSnapshot(mirror);
    expect(await pull()).toMatchObject({ outcome: 'pulled', snapshot: third, held: null });
  });

  it('follows a rollback of the bucket to a local snapshot without downloading it', async () => {
    const { mirror, store, push, pull } = await setUp();
    for (const id of [first, second]) {
      await push(id);
      await pull();
    }
    await push(first);
    store.requests.length = 0;
    expect(await pull()).toMatchObject({ outcome: 'pulled', snapshot: first, files: 0, bytes: 0 });
    expect(await readCurrentId(mirror)).toBe(first);
    expect(store.requests.filter((request) => request.includes(`${first}/`))).toEqual([]);
  });

  it.each(['report.html', 'manifest.json'])('replaces a local snapshot whose %s is damaged', async (name) => {
    const { mirror, push, pull } = await setUp();
    for (const id of [first, second]) {
      await push(id);
      await pull();
    }
    await writeFile(join(mirror, 'snapshots', second, name), '{');
    expect(await pull()).toMatchObject({ outcome: 'pulled', files: 4, removed: [] });
    expect(await readFile(join(mirror, 'current/report.html'), 'utf8')).toBe(`report of ${second}`);
    expect((await readdir(join(mirror, 'snapshots'))).toSorted()).toEqual([first, second]);
  });

  it('tries three times if a file is missing, and then names it', async () => {
    const { mirror, store, push, pull } = await setUp();
    await push(first);
    store.objects.delete(`dpr/snapshots/${first}/report.html`);
    store.requests.length = 0;
    const message = expect.stringContaining('report.html') as string;
    await expect(pull()).rejects.toMatchObject({ code: 'bucket', message });
    const reads = store.requests.filter((request) => request === `GET dpr/snapshots/${first}/manifest.json`);
    expect(reads).toHaveLength(3);
    expect(await readdir(join(mirror, 'snapshots'))).toEqual([]);
  });
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('a pull is refused', () => {
  it('from a bucket without a snapshot', async () => {
    const { mirror, pull } = await setUp();
    await expect(pull()).rejects.toMatchObject({ code: 'bucket' });
    expect(await readdir(mirror)).toEqual(['runs.jsonl']);
  });

  it('if the warehouse has a newer snapshot that was never in the bucket', async () => {
    const { push, pull } = await setUp();
    const warehouse = await smallWarehouse([first, fourth]);
    await push(third);
    await expect(pull({ warehouse })).rejects.toMatchObject({ code: 'bucket-conflict' });
    expect(await readCurrentId(warehouse)).toBe(fourth);
    // A copy follows every change of the bucket.
    expect(await pull({ warehouse, isCopy: true })).toMatchObject({ outcome: 'pulled', snapshot: third });
    await pointCurrent(warehouse, first);
    expect(await pull({ warehouse })).toMatchObject({ outcome: 'pulled', snapshot: third });
  });

  it('into a warehouse of another source, unless that is accepted', async () => {
    const { push, pull } = await setUp();
    const warehouse = await smallWarehouse([first], { source: 'elsewhere' });
    await push(second);
    await expect(pull({ warehouse })).rejects.toMatchObject({ code: 'source-mismatch' });
    expect(await readCurrentId(warehouse)).toBe(first);
    expect(await pull({ warehouse, acceptSource: true })).toMatchObject({ outcome: 'pulled', snapshot: second });
  });

  const evil = { path: '../evil', bytes: 4, rows: null, sha256: sha256('evil') };

  it.each<[string, (manifest: Manifest) => object]>([
    ['a file outside its folder', (manifest) => ({ ...manifest, files: [...manifest.files, evil] })],
    ['a file twice', (manifest) => ({ ...manifest, files: [...manifest.files, manifest.files[0]!] })],
    ['no tables', (manifest) => ({ ...manifest, files: manifest.files.slice(1) })],
    ['another snapshot', (manifest) => ({ ...manifest, snapshot: second })],
    ['another source', (manifest) => ({ ...manifest, source: 'elsewhere' })],
    ['nothing', () => ({})],
  ])('if the manifest names %s', async (_, alter) => {
    const { origin, mirror, store, push, pull } = await setUp();
    await push(first);
    const text = JSON.stringify(alter((await readSnapshot(origin, first)).manifest));
    const current = JSON.parse(store.objects.get('dpr/current.json')!.toString()) as object;
    store.objects.set(`dpr/snapshots/${first}/manifest.json`, Buffer.from(text));
    // Where a client that follows the path of the evil file would find it.
    store.objects.set('dpr/snapshots/evil', Buffer.from('evil'));
    store.objects.set('dpr/current.json', Buffer.from(JSON.stringify({ ...current, manifest_sha256: sha256(text) })));
    const message = expect.stringContaining('manifest.json does not have') as string;
    await expect(pull()).rejects.toMatchObject({ code: 'bucket', message });
    expect(await readdir(join(mirror, 'snapshots'))).toEqual([]);
  });

  it.each<[string, string, (text: string) => string]>([
    ['report.html', 'another byte', (text) => text.replace('r', 'R')],
    ['report.html', 'one byte less', (text) => text.slice(1)],
    ['report.html', 'one byte more', (text) => `${text}x`],
    ['manifest.json', 'another text', () => '{}'],
  ])('if %s has %s, and discards what it downloaded', async (name, _, alter) => {
    const { mirror, store, push, pull } = await setUp();
    await push(first);
    await pull();
    await push(second);
    const key = `dpr/snapshots/${second}/${name}`;
    store.objects.set(key, Buffer.from(alter(store.objects.get(key)!.toString())));
    const message = expect.stringContaining(`${name} does not have`) as string;
    await expect(pull()).rejects.toMatchObject({ code: 'bucket', message });
    expect(await readCurrentId(mirror)).toBe(first);
    expect(await readdir(join(mirror, 'snapshots'))).toEqual([first]);
    expect((await readRunLines(mirror)).at(-1)).toMatchObject({ kind: 'pull', outcome: 'failed', exit_code: 8 });
  });
});
