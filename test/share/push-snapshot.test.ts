/** A push writes what is missing, switches once, removes what is old, and leaves other files alone. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Bucket } from '../../src/share/bucket.ts';
import { pointCurrent } from '../../src/publish/switch-current.ts';
import { pushSnapshot } from '../../src/share/push-snapshot.ts';
import { readSnapshot, requireCurrent } from '../../src/warehouse/warehouse.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startMemoryStore } from '../support/memory-store.ts';
import { readRunLines } from '../support/run-lines.ts';
import { addSnapshot, nights, smallWarehouse } from '../support/small-snapshots.ts';

const [first, second, third, fourth, fifth] = nights;

interface PushSettings {
  readonly id?: string;
  readonly keep?: number;
  readonly acceptSource?: boolean;
}

/** A warehouse with snapshots, a store, and a push from one to the other. */
async function setUp(ids: readonly string[] = nights) {
  const warehouse = await smallWarehouse(ids);
  const store = await startMemoryStore();
  const bucket = await store.open();
  const warnings: string[] = [];
  const progress: string[] = [];
  const push = async ({ id, keep = 7, acceptSource = false }: PushSettings = {}, into: Bucket = bucket) =>
    pushSnapshot({
      warehouse,
      snapshot: id === undefined ? await requireCurrent(warehouse) : await readSnapshot(warehouse, id),
      bucket: into,
      keep,
      acceptSource,
      warn: (message) => warnings.push(message),
      report: (done, files) => progress.push(`${done} of ${files}`),
      clock: manualClock(),
    });
  const snapshots = async () => (await bucket.folders('snapshots/')).toSorted();
  const current = () =>
    (JSON.parse(store.objects.get('dpr/current.json')!.toString()) as { snapshot: string }).snapshot;
  return { warehouse, store, bucket, warnings, progress, push, snapshots, current };
}

describe('a push', () => {
  it('writes every file, the manifest behind them, and then the word that it is current', async () => {
    const { warehouse, store, push, progress } = await setUp([first]);
    const { bytes, ...pushed } = await push();
    expect(pushed).toEqual({ outcome: 'pushed', snapshot: first, bucket: store.url, files: 4, removed: [] });
    const below = `dpr/snapshots/${first}/`;
    const written = store.requests.filter((request) => request.startsWith('PUT ')).map((request) => request.slice(4));
    expect(written.slice(0, 3).toSorted()).toEqual(
      ['manifest.json.sha256', 'rekap.duckdb', 'report.html'].map((name) => below + name),
    );
    // The second and the third manifest only show that the store heeds conditions.
    expect(written.slice(3)).toEqual([...Array<string>(3).fill(`${below}manifest.json`), 'dpr/current.json']);
    expect(progress).toEqual(['1 of 3', '2 of 3', '3 of 3']);
    const stored = [...store.objects].filter(([key]) => key.startsWith(below));
    expect(bytes).toBe(stored.reduce((sum, [, { length }]) => sum + length, 0));
    expect(await readRunLines(warehouse)).toEqual([
      {
        run: null,
        kind: 'push',
        started_at: '2026-11-20T03:00:00.000Z',
        finished_at: '2026-11-20T03:00:00.000Z',
        source: 'test',
        snapshot: first,
        requests: 0,
        retries: 0,
        rows: { voters: 1 },
        quarantined: { voters: 0 },
        bucket: store.url,
        outcome: 'pushed',
        bytes,
        exit_code: 0,
        reason: '',
      },
    ]);
  });

  it('rewrites an object of another size, also in the snapshot that is current', async () => {
    const { store, push } = await setUp([first]);
    await push();
    const key = `dpr/snapshots/${first}/report.html`;
    const whole = store.objects.get(key)!;
    store.objects.set(key, whole.subarray(1));
    expect(await push()).toMatchObject({ outcome: 'pushed', files: 1, bytes: whole.length });
    expect(store.objects.get(key)).toEqual(whole);
    expect(await push()).toMatchObject({ outcome: 'unchanged', files: 0, bytes: 0 });
  });

  it.each<[string, PushSettings[], string[], string[]]>([
    ['the one that it replaced', [{ id: first }, { id: second, keep: 1 }], [], [first, second]],
    ['no more than that', [{ id: first }, { id: second }, { id: third, keep: 1 }], [first], [second, third]],
    [
      'as many as it is told',
      [{ id: first }, { id: second }, { id: third }, { id: fourth, keep: 3 }],
      [first],
      [second, third, fourth],
    ],
    [
      'a newer one after it went back',
      [{ id: first }, { id: second }, { id: fourth }, { id: third, keep: 2 }],
      [first],
      [second, third, fourth],
    ],
    ['all where it is pushed again', [{ id: first }, { id: second }, { id: second, keep: 2 }], [], [first, second]],
  ])('keeps %s', async (_, pushes, removed, kept) => {
    const { push, snapshots } = await setUp();
    let last: readonly string[] = [];
    for (const settings of pushes) last = (await push(settings)).removed;
    expect(last).toEqual(removed);
    expect(await snapshots()).toEqual(kept);
  });

  it('spares a newer snapshot that another push is writing', async () => {
    const { store, push, snapshots } = await setUp();
    for (const id of [first, second]) await push({ id });
    store.objects.set(`dpr/snapshots/${fifth}/rekap.duckdb`, Buffer.from('under way'));
    expect((await push({ id: third, keep: 1 })).removed).toEqual([first]);
    expect(await snapshots()).toEqual([second, third, fifth]);
  });

  it('removes nothing where another push has become current meanwhile', async () => {
    const { bucket, push, snapshots } = await setUp();
    for (const id of [first, second]) await push({ id });
    const overtaken: Bucket = {
      ...bucket,
      async write(path, ...given) {
        const isWritten = await bucket.write(path, ...given);
        if (path === 'current.json') await push({ id: fifth });
        return isWritten;
      },
    };
    expect((await push({ id: third, keep: 1 }, overtaken)).removed).toEqual([]);
    expect(await snapshots()).toEqual([first, second, third, fifth]);
  });

  it('succeeds though old snapshots cannot be removed, and warns', async () => {
    const { store, push, warnings, current } = await setUp();
    for (const id of [first, second]) await push({ id });
    store.refuse = (request) => (request.startsWith('POST') ? 403 : null);
    expect(await push({ id: third, keep: 1 })).toMatchObject({ outcome: 'pushed', removed: [] });
    expect(current()).toBe(third);
    expect(warnings).toEqual([
      `Old snapshots could not be removed from ${store.url}: ${store.url}: failed to remove snapshots/${first}/: Refused (Refused, 403).`,
    ]);
  });

  it('has succeeded where only the answer to its switch was lost', async () => {
    const { bucket, push, current } = await setUp([first]);
    const lossy: Bucket = {
      ...bucket,
      write: async (path, ...given) => (await bucket.write(path, ...given)) && path !== 'current.json',
    };
    expect(await push({}, lossy)).toMatchObject({ outcome: 'pushed' });
    expect(current()).toBe(first);
  });

  it.each([409, 412])('is refused as a conflict where the store answers the switch with %i', async (status) => {
    const { store, push } = await setUp([first]);
    store.refuse = (request) => (request === 'PUT dpr/current.json' ? status : null);
    await expect(push()).rejects.toMatchObject({
      code: 'bucket-conflict',
      exitCode: 8,
      message: `Another push changed ${store.url} at the same time. Its current snapshot is missing.`,
    });
    expect(store.objects.has('dpr/current.json')).toBe(false);
  });
});

describe('a push is refused', () => {
  it('to a bucket with a newer snapshot of another warehouse, and not with one of its own', async () => {
    const { warehouse, store, bucket, push, current } = await setUp([first, third]);
    await push();
    await pointCurrent(warehouse, first);
    expect(await push()).toMatchObject({ outcome: 'pushed', snapshot: first });
    const other = await smallWarehouse([second, fifth]);
    const snapshot = await readSnapshot(other, fifth);
    const settings = { bucket, keep: 7, acceptSource: false, warn() {}, report() {}, clock: manualClock() };
    await pushSnapshot({ ...settings, warehouse: other, snapshot });
    await expect(push()).rejects.toMatchObject({
      code: 'bucket-conflict',
      message: `${store.url} contains snapshot ${fifth}, which is newer than ${first} and not from this warehouse.`,
    });
    expect(current()).toBe(fifth);
    expect(await readRunLines(warehouse)).toMatchObject([
      { outcome: 'pushed' },
      { outcome: 'pushed' },
      { outcome: 'failed', exit_code: 8, snapshot: null, source: '' },
    ]);
  });

  it('to a bucket of another source, unless that is accepted', async () => {
    const { warehouse, store, push } = await setUp([first]);
    await push();
    await addSnapshot(warehouse, second, { source: 'elsewhere' });
    await expect(push()).rejects.toMatchObject({
      code: 'source-mismatch',
      message: `${store.url} contains figures from test, not from elsewhere.`,
    });
    expect(await push({ acceptSource: true })).toMatchObject({ outcome: 'pushed', snapshot: second });
  });

  it('where another warehouse has pushed other files under its id', async () => {
    const { store, push } = await setUp([first]);
    await push();
    store.objects.delete('dpr/current.json');
    store.objects.set(`dpr/snapshots/${first}/manifest.json`, Buffer.from('{}'));
    await expect(push()).rejects.toMatchObject({
      code: 'bucket-conflict',
      message: `${store.url} already contains a snapshot ${first} with different files, from another warehouse.`,
    });
    expect(store.objects.has('dpr/current.json')).toBe(false);
  });

  it.each(['rekap.duckdb', 'manifest.json'])('with a damaged %s, and asks the store for nothing', async (name) => {
    const { warehouse, store, push } = await setUp([first]);
    const file = join(warehouse, 'snapshots', first, name);
    const id = (await requireCurrent(warehouse)).id;
    const snapshot = await readSnapshot(warehouse, id);
    await writeFile(file, name === 'manifest.json' ? `${JSON.stringify(snapshot.manifest)}\n` : 'x');
    await expect(push()).rejects.toMatchObject({
      code: 'verification',
      message: expect.stringMatching(new RegExp(`^Snapshot ${first} is damaged and was not pushed:\\n  - ${name}: `)),
    });
    expect(store.requests).toEqual([]);
  });

  it.each([
    ['no JSON', '{'],
    ['another format', JSON.stringify({ format: 2, snapshot: first })],
  ])('where current.json is %s', async (_, text) => {
    const { store, push } = await setUp([first]);
    store.objects.set('dpr/current.json', Buffer.from(text));
    await expect(push()).rejects.toMatchObject({
      code: 'bucket',
      message: `${store.url}/current.json is not a file from a push.`,
    });
    expect(store.objects.size).toBe(1);
  });
});
