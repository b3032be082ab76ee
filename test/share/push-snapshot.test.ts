/** A push uploads missing files, switches once, and removes only old snapshots. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Bucket } from '../../src/share/bucket.ts';
import { pointCurrent } from '../../src/publish/switch-current.ts';
import { pushSnapshot } from '../../src/share/push-snapshot.ts';
import { readSnapshot, requireCurrent } from '../../src/warehouse/warehouse.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { startMemoryStore } from '../support/memory-store.ts';
import { altered } from '../support/object-store.ts';
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
  it('writes the files, then the manifest, then current.json, and a line in runs.jsonl', async () => {
    const { warehouse, store, push, progress } = await setUp([first]);
    const { bytes, ...pushed } = await push();
    expect(pushed).toEqual({ outcome: 'pushed', snapshot: first, bucket: store.url, files: 4, removed: [] });
    const prefix = `dpr/snapshots/${first}/`;
    const written = store.requests.filter((request) => request.startsWith('PUT ')).map((request) => request.slice(4));
    expect(written.indexOf(`${prefix}manifest.json`)).toBe(3);
    expect(written.at(-1)).toBe('dpr/current.json');
    expect(progress).toEqual(['1 of 3', '2 of 3', '3 of 3']);
    const stored = [...store.objects].filter(([key]) => key.startsWith(prefix));
    expect(bytes).toBe(stored.reduce((sum, [, { length }]) => sum + length, 0));
    expect(await readRunLines(warehouse)).toMatchObject([
      { kind: 'push', outcome: 'pushed', snapshot: first, rows: { voters: 1 }, bucket: store.url, bytes, exit_code: 0 },
    ]);
  });

  it('replaces an object of another size, even in the current snapshot', async () => {
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
    ['the previous snapshot', [{ id: first }, { id: second, keep: 1 }], [], [first, second]],
    ['no more than --keep', [{ id: first }, { id: second }, { id: third, keep: 1 }], [first], [second, third]],
    [
      'a newer snapshot after a rollback',
      [{ id: first }, { id: second }, { id: fourth }, { id: third, keep: 2 }],
      [first],
      [second, third, fourth],
    ],
    ['all if nothing is new', [{ id: first }, { id: second }, { id: second, keep: 2 }], [], [first, second]],
  ])('keeps %s', async (_, pushes, removed, kept) => {
    const { push, snapshots } = await setUp();
    let last: readonly string[] = [];
    for (const settings of pushes) last = (await push(settings)).removed;
    expect(last).toEqual(removed);
    expect(await snapshots()).toEqual(kept);
  });

  it('keeps a newer snapshot that another push is writing', async () => {
    const { store, push, snapshots } = await setUp();
    for (const id of [first, second]) await push({ id });
    store.objects.set(`dpr/snapshots/${fifth}/rekap.duckdb`, Buffer.from('incomplete'));
    expect((await push({ id: third, keep: 1 })).removed).toEqual([first]);
    expect(await snapshots()).toEqual([second, third, fifth]);
  });

  it('removes nothing if another push becomes current meanwhile', async () => {
    const { bucket, push, snapshots } = await setUp();
    for (const id of [first, second]) await push({ id });
    const overtaken = altered(bucket, {
      async write(path, ...given) {
        const isWritten = await bucket.write(path, ...given);
        if (path === 'current.json') await push({ id: fifth });
        return isWritten;
      },
    });
    expect((await push({ id: third, keep: 1 }, overtaken)).removed).toEqual([]);
    expect(await snapshots()).toEqual([first, second, third, fifth]);
  });

  it('succeeds and warns if old snapshots cannot be removed', async () => {
    const { store, push, warnings, current } = await setUp();
    for (const id of [first, second]) await push({ id });
    store.refuse = (request) => (request.startsWith('POST') ? 403 : null);
    expect(await push({ id: third, keep: 1 })).toMatchObject({ outcome: 'pushed', removed: [] });
    expect(current()).toBe(third);
    expect(warnings).toEqual([expect.stringContaining(`snapshots/${first}/`)]);
  });

  it('succeeds if only the response to its switch is lost', async () => {
    const { bucket, push, current } = await setUp([first]);
    const lossy = altered(bucket, {
      write: async (path, ...given) => (await bucket.write(path, ...given)) && path !== 'current.json',
    });
    expect(await push({}, lossy)).toMatchObject({ outcome: 'pushed' });
    expect(current()).toBe(first);
  });

  it.each([409, 412])('fails with a conflict if the store answers the switch with %i', async (status) => {
    const { store, push } = await setUp([first]);
    store.refuse = (request) => (request === 'PUT dpr/current.json' ? status : null);
    await expect(push()).rejects.toMatchObject({ code: 'bucket-conflict', exitCode: 8 });
    expect(store.objects.has('dpr/current.json')).toBe(false);
  });
});

describe('a push is refused', () => {
  it('if the bucket has a newer snapshot of another warehouse', async () => {
    const { warehouse, bucket, push, current } = await setUp([first, third]);
    await push();
    await pointCurrent(warehouse, first);
    expect(await push()).toMatchObject({ outcome: 'pushed', snapshot: first });
    const other = await smallWarehouse([second, fifth]);
    const settings = { bucket, keep: 7, acceptSource: false, warn() {}, report() {}, clock: manualClock() };
    await pushSnapshot({ ...settings, warehouse: other, snapshot: await readSnapshot(other, fifth) });
    await expect(push()).rejects.toMatchObject({
      code: 'bucket-conflict',
      message: expect.stringContaining(`${fifth}, which is newer than ${first}`),
    });
    expect(current()).toBe(fifth);
    expect((await readRunLines(warehouse)).at(-1)).toMatchObject({ outcome: 'failed', exit_code: 8, snapshot: null });
  });

  it('if the bucket has another source, unless that is accepted', async () => {
    const { warehouse, push } = await setUp([first]);
    await push();
    await addSnapshot(warehouse, second, { source: 'elsewhere' });
    await expect(push()).rejects.toMatchObject({ code: 'source-mismatch' });
    expect(await push({ acceptSource: true })).toMatchObject({ outcome: 'pushed', snapshot: second });
  });

  it('if another warehouse has pushed different files under the same ID', async () => {
    const { store, push } = await setUp([first]);
    await push();
    store.objects.delete('dpr/current.json');
    store.objects.set(`dpr/snapshots/${first}/manifest.json`, Buffer.from('{}'));
    await expect(push()).rejects.toMatchObject({ code: 'bucket-conflict' });
    expect(store.objects.has('dpr/current.json')).toBe(false);
  });

  it.each(['rekap.duckdb', 'manifest.json'])('with a damaged %s, without a request', async (name) => {
    const { warehouse, store, push } = await setUp([first]);
    const { folder, manifest } = await readSnapshot(warehouse, first);
    await writeFile(join(folder, name), name === 'manifest.json' ? `${JSON.stringify(manifest)}\n` : 'x');
    await expect(push()).rejects.toMatchObject({ code: 'verification', message: expect.stringContaining(`${name}: `) });
    expect(store.requests).toEqual([]);
  });

  it.each(['', '{"format": 1, "snap', '{"format": 2}', 'null'])(
    'if current.json is damaged (%j), until it is removed',
    async (damage) => {
      const { store, push } = await setUp([first]);
      await push();
      const whole = store.objects.get('dpr/current.json')!;
      store.objects.set('dpr/current.json', Buffer.from(damage));
      await expect(push()).rejects.toMatchObject({
        code: 'bucket',
        message: expect.stringContaining(`${store.url}/current.json`),
        next: expect.stringContaining(`remove it and run "rekap push ${store.url}"`),
      });
      store.objects.delete('dpr/current.json');
      expect(await push()).toMatchObject({ outcome: 'pushed', files: 0 });
      expect(store.objects.get('dpr/current.json')).toEqual(whole);
    },
  );
});
