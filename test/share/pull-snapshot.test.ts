/** A pull takes only what was pushed, switches once, keeps the previous snapshot, and leaves a warehouse that is ahead alone. */

import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Bucket } from '../../src/share/bucket.ts';
import { pinSnapshot, pointCurrent, unpinSnapshot } from '../../src/publish/switch-current.ts';
import { pullSnapshot } from '../../src/share/pull-snapshot.ts';
import { pushSnapshot } from '../../src/share/push-snapshot.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';
import { listSnapshotIds, readCurrentId, readSnapshot } from '../../src/warehouse/warehouse.ts';
import { manualClock } from '../support/manual-clock.ts';
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
  it('writes the files as they were pushed, and a line of it', async () => {
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
    const line = {
      run: null,
      kind: 'pull',
      started_at: '2026-11-26T03:00:00.000Z',
      finished_at: '2026-11-26T03:00:00.000Z',
      source: 'test',
      snapshot: first,
      requests: 0,
      retries: 0,
      rows: { voters: 1 },
      quarantined: { voters: 0 },
      bucket: store.url,
      exit_code: 0,
      reason: '',
    };
    expect(await readRunLines(mirror)).toEqual([
      { ...line, outcome: 'pulled', bytes },
      { ...line, outcome: 'unchanged', bytes: 0 },
    ]);
  });

  it('of a copy writes a line of what is new alone', async () => {
    const { mirror, push, pull } = await setUp();
    await push(first);
    for (const outcome of ['pulled', 'unchanged']) expect(await pull({ isCopy: true })).toMatchObject({ outcome });
    expect((await readRunLines(mirror)).map(({ outcome }) => outcome)).toEqual(['pulled']);
  });

  it('keeps the previous snapshot beside the new one, however few are to be kept', async () => {
    const { mirror, push, pull } = await setUp();
    const removed: (readonly string[])[] = [];
    for (const id of [first, second, third]) {
      await push(id);
      removed.push((await pull({ keep: 1 })).removed);
    }
    expect(removed).toEqual([[], [], [first]]);
    expect(await listSnapshotIds(mirror)).toEqual([second, third]);
  });

  it('fetches nothing while another snapshot is pinned here, and keeps that one', async () => {
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

  it('goes back with the bucket to a snapshot that is here, without fetching it', async () => {
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

  it.each(['rekap.duckdb', 'manifest.json'])('replaces a snapshot here whose %s is damaged', async (name) => {
    const { mirror, push, pull } = await setUp();
    for (const id of [first, second]) {
      await push(id);
      await pull();
    }
    await writeFile(join(mirror, 'snapshots', second, 'report.html'), 'x');
    if (name === 'manifest.json') await writeFile(join(mirror, 'snapshots', second, name), '{');
    expect(await pull()).toMatchObject({ outcome: 'pulled', files: 4, removed: [] });
    expect(await readFile(join(mirror, 'current/report.html'), 'utf8')).toBe(`report of ${second}`);
    expect(await listSnapshotIds(mirror)).toEqual([first, second]);
    expect((await readdir(join(mirror, 'snapshots'))).toSorted()).toEqual([first, second]);
  });

  it('takes three looks at a bucket whose files vanish, and then says what is missing', async () => {
    const { mirror, store, push, pull } = await setUp();
    await push(first);
    store.objects.delete(`dpr/snapshots/${first}/report.html`);
    store.requests.length = 0;
    await expect(pull()).rejects.toMatchObject({
      code: 'bucket',
      message: `A file of the current snapshot ${first} is missing in ${store.url}: report.html.`,
      next: 'Push the snapshot again.',
    });
    const looks = store.requests.filter((request) => request === `GET dpr/snapshots/${first}/manifest.json`);
    expect(looks).toHaveLength(3);
    expect(await readdir(join(mirror, 'snapshots'))).toEqual([]);
  });
});

describe('a pull is refused', () => {
  it('from a bucket without a snapshot', async () => {
    const { mirror, store, pull } = await setUp();
    await expect(pull()).rejects.toMatchObject({
      code: 'bucket',
      message: `${store.url} does not contain a snapshot.`,
    });
    expect(await readdir(mirror)).toEqual(['runs.jsonl']);
  });

  it('where the warehouse is ahead of a bucket that never had its snapshot', async () => {
    const { store, push, pull } = await setUp();
    const ahead = await smallWarehouse([first, fourth]);
    await push(third);
    await expect(pull({ warehouse: ahead })).rejects.toMatchObject({
      code: 'bucket-conflict',
      message: `The warehouse ${ahead} contains snapshot ${fourth}, which is newer than ${third} and not in ${store.url}.`,
    });
    expect(await readCurrentId(ahead)).toBe(fourth);
    await pointCurrent(ahead, first);
    expect(await pull({ warehouse: ahead })).toMatchObject({ outcome: 'pulled', snapshot: third });
    await pointCurrent(ahead, fourth);
    // A copy goes wherever the bucket goes.
    expect(await pull({ warehouse: ahead, isCopy: true })).toMatchObject({ outcome: 'pulled', snapshot: third });
  });

  it('into a warehouse of another source, unless that is accepted', async () => {
    const { store, push, pull } = await setUp();
    const warehouse = await smallWarehouse([first], { source: 'elsewhere' });
    await push(second);
    await expect(pull({ warehouse })).rejects.toMatchObject({
      code: 'source-mismatch',
      message: `The warehouse ${warehouse} contains figures from elsewhere, but ${store.url} from test.`,
    });
    expect(await readCurrentId(warehouse)).toBe(first);
    expect(await pull({ warehouse, acceptSource: true })).toMatchObject({ outcome: 'pulled', snapshot: second });
  });

  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const evil = { path: '../evil', bytes: 4, rows: null, sha256: sha256('evil') };

  it.each<[string, (manifest: Manifest) => object]>([
    ['a file beyond its folder', (manifest) => ({ ...manifest, files: [...manifest.files, evil] })],
    ['a file twice', (manifest) => ({ ...manifest, files: [...manifest.files, manifest.files[0]!] })],
    ['no tables', (manifest) => ({ ...manifest, files: manifest.files.slice(1) })],
    ['another snapshot', (manifest) => ({ ...manifest, snapshot: second })],
    ['another source', (manifest) => ({ ...manifest, source: 'elsewhere' })],
    ['nothing that is known', () => ({})],
  ])('where the manifest names %s', async (_, alter) => {
    const { origin, mirror, store, push, pull } = await setUp();
    await push(first);
    const text = JSON.stringify(alter((await readSnapshot(origin, first)).manifest));
    const current = JSON.parse(store.objects.get('dpr/current.json')!.toString()) as object;
    store.objects.set(`dpr/snapshots/${first}/manifest.json`, Buffer.from(text));
    // Below snapshots/<id>/, where a client that follows the path would find it.
    store.objects.set('dpr/snapshots/evil', Buffer.from('evil'));
    store.objects.set('dpr/current.json', Buffer.from(JSON.stringify({ ...current, manifest_sha256: sha256(text) })));
    await expect(pull()).rejects.toMatchObject({
      code: 'bucket',
      message: `${store.url}/snapshots/${first}/manifest.json does not have the recorded length or SHA-256.`,
    });
    expect(await readdir(join(mirror, 'snapshots'))).toEqual([]);
  });

  it.each([
    ['another byte', (text: string) => text.replace('r', 'R')],
    ['a byte less', (text: string) => text.slice(1)],
    ['a byte more', (text: string) => `${text}x`],
    ['another manifest', null],
  ])('where an object has %s, and nothing of it stays', async (_, alter) => {
    const { mirror, store, push, pull } = await setUp();
    await push(first);
    await pull();
    await push(second);
    const name = alter === null ? 'manifest.json' : 'report.html';
    const key = `dpr/snapshots/${second}/${name}`;
    store.objects.set(key, Buffer.from(alter === null ? '{}' : alter(store.objects.get(key)!.toString())));
    await expect(pull()).rejects.toMatchObject({
      code: 'bucket',
      message: expect.stringContaining(`${name} does not have`),
    });
    expect(await readCurrentId(mirror)).toBe(first);
    expect(await readdir(join(mirror, 'snapshots'))).toEqual([first]);
    expect((await readRunLines(mirror)).at(-1)).toMatchObject({ kind: 'pull', outcome: 'failed', exit_code: 8 });
  });

  it('where the length is right and the SHA-256 is not, whatever the store says of its length', async () => {
    const { bucket, push, pull } = await setUp();
    await push(first);
    const lying: Bucket = {
      ...bucket,
      download: async (...given) => ({ bytes: (await bucket.download(...given))!.bytes, sha256: sha256('other') }),
    };
    await expect(pull({ bucket: lying })).rejects.toMatchObject({ code: 'bucket' });
  });
});
