/** Push and pull: a reader of the bucket sees the old snapshot or the new one, whatever happens to a push. */

import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderMetrics } from '../../src/notify/metrics.ts';
import { verifyAgainst } from '../../src/publish/check-built.ts';
import { verifySnapshot } from '../../src/publish/verify-snapshot.ts';
import type { Bucket } from '../../src/share/bucket.ts';
import { readCurrentObject } from '../../src/share/current-object.ts';
import { pullSnapshot } from '../../src/share/pull-snapshot.ts';
import { pushSnapshot } from '../../src/share/push-snapshot.ts';
import { judgeStatus, summarizeRuns } from '../../src/snapshots/freshness.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { readRuns } from '../../src/warehouse/runs-log.ts';
import { listSnapshotIds, readSnapshot, requireCurrent } from '../../src/warehouse/warehouse.ts';
import { startMemoryStore } from '../support/memory-store.ts';
import { altered, hasStore, startBrokenWay, startStore } from '../support/object-store.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A warehouse with four snapshots; gives their ids, oldest first. */
const fourSnapshots = preparedWarehouse(async (warehouse) => {
  for (const regencies of [2, 3, 4, 5]) {
    const { url } = await serveData(smallNation({ 1101: regencies }));
    await runSync(syncOptions(warehouse, url, { acceptChanges: true }));
  }
  return listSnapshotIds(warehouse);
});

const quiet = {
  clock: manualClock(),
  verify: verifyAgainst,
  keep: 7,
  acceptSource: false,
  isCopy: false,
  warn: () => undefined,
  report: () => undefined,
};

async function push(warehouse: string, bucket: Bucket, id?: string, settings: Partial<typeof quiet> = {}) {
  const snapshot = id === undefined ? await requireCurrent(warehouse) : await readSnapshot(warehouse, id);
  return pushSnapshot({ ...quiet, ...settings, warehouse, snapshot, bucket });
}

function pull(warehouse: string, bucket: Bucket) {
  return pullSnapshot({ ...quiet, warehouse, bucket });
}

/** What is wrong with the current snapshot of a warehouse. */
async function damageOf(warehouse: string): Promise<string[]> {
  const { folder, manifest } = await requireCurrent(warehouse);
  return verifySnapshot(folder, manifest);
}

const currentOf = async (bucket: Bucket) => (await readCurrentObject(bucket))?.snapshot;

const stores = [
  { kind: 'in memory', isThere: true, start: startMemoryStore },
  { kind: 'on a real S3 server (skipped without "make tools")', isThere: hasStore, start: startStore },
];

for (const { kind, isThere, start } of stores)
  describe.skipIf(!isThere)(`a bucket ${kind}`, () => {
    it('gives back what was pushed, byte for byte, and takes nothing twice', async () => {
      const { warehouse } = await fourSnapshots();
      const store = await start();
      const bucket = await store.open();
      const pushed = await push(warehouse, bucket);
      const { id, manifest, folder } = await requireCurrent(warehouse);
      expect(pushed).toMatchObject({ outcome: 'pushed', snapshot: id, files: manifest.files.length + 2 });
      expect(await push(warehouse, bucket)).toMatchObject({ outcome: 'unchanged', files: 0 });

      const mirror = await temporaryFolder();
      expect(await pull(mirror, bucket)).toMatchObject({ outcome: 'pulled', snapshot: id });
      expect(judgeStatus(await readRuns(mirror), manualClock().now(), 1)).toMatchObject({ state: 'fresh' });
      expect(await damageOf(mirror)).toEqual([]);
      expect(await readFile(join(mirror, 'current/manifest.json'))).toEqual(
        await readFile(join(folder, 'manifest.json')),
      );
      expect(await pull(mirror, bucket)).toMatchObject({ outcome: 'unchanged', files: 0 });
      await rm(join(mirror, 'snapshots', id), { recursive: true });
      expect(await pull(mirror, bucket)).toMatchObject({ outcome: 'pulled' });
      expect(await damageOf(mirror)).toEqual([]);
    });

    it('is pushed to by a sync, also when nothing was new, and answers a query', async () => {
      const store = await start();
      const warehouse = await temporaryFolder();
      const cache = await temporaryFolder();
      const environment = { ...store.environment, XDG_CACHE_HOME: cache };
      const first = await runHere(['sync', '--sample', '--warehouse', warehouse, '--push', store.url], environment);
      expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining(`to ${store.url}: `) as string });
      await (await store.open()).remove('current.json');
      const again = await runHere(['sync', '--sample', '--warehouse', warehouse, '--push', store.url], environment);
      expect(again.code).toBe(0);
      const requested = ['query', 'SELECT count(*) AS n FROM voters', '--json', '--warehouse', store.url];
      const { stdout } = await runHere(requested, environment);
      expect(JSON.parse(stdout)).toEqual([{ n: 514 }]);
      expect(await runHere(['diff', '--warehouse', store.url], environment)).toMatchObject({ code: 2 });
    });

    it('keeps a sync that was published here, and says by its exit code that the push failed', async () => {
      const store = await start();
      const warehouse = await temporaryFolder();
      const environment = { ...store.environment, AWS_SECRET_ACCESS_KEY: 'wrong', REKAP_WAREHOUSE: warehouse };
      if ('refuse' in store) store.refuse = () => 403;
      const { code, stderr } = await runHere(['sync', '--sample', '--push', store.url], environment);
      expect(code).toBe(8);
      expect(stderr).not.toContain('wrong');
      expect(await damageOf(warehouse)).toEqual([]);
      const [synced, pushed] = await readRuns(warehouse);
      expect(synced).toMatchObject({ kind: 'sync', outcome: 'published' });
      expect(pushed).toMatchObject({ kind: 'push', outcome: 'failed', exit_code: 8, bucket: store.url });
      expect(renderMetrics(summarizeRuns([synced!, pushed!]))).toContain('\nrekap_last_push_exit_code 8\n');
    });

    it('is current for one of two pushes at the same time; the other is refused', async () => {
      const { warehouse, known: ids } = await fourSnapshots();
      const bucket = await (await start()).open();
      await push(warehouse, bucket, ids[0]);
      let isOther = false;
      // While the first one uploads, the second one goes the whole way.
      const slow = altered(bucket, {
        async upload(...given) {
          if (!isOther) {
            isOther = true;
            await push(warehouse, bucket, ids[2]);
          }
          return bucket.upload(...given);
        },
      });
      await expect(push(warehouse, slow, ids[1])).rejects.toMatchObject({ code: 'bucket-conflict' });
      expect(await currentOf(bucket)).toBe(ids[2]);
    });

    it.each(['is new', 'has this ETag'])('is refused where its store ignores the condition "%s"', async (ignored) => {
      const { warehouse } = await fourSnapshots();
      const bucket = await (await start()).open();
      const careless = altered(bucket, {
        async write(path, text, condition) {
          if ((condition === 'is new') !== (ignored === 'is new')) return bucket.write(path, text, condition);
          const now = await bucket.read(path);
          return bucket.write(path, text, now === null ? 'is new' : { etag: now.etag });
        },
      });
      await expect(push(warehouse, careless)).rejects.toMatchObject({ code: 'bucket' });
      expect(await currentOf(bucket)).toBeUndefined();
    });

    it('does not become current where a file of the snapshot vanishes meanwhile, and that is said', async () => {
      const { warehouse } = await fourSnapshots();
      const bucket = await (await start()).open();
      const { folder } = await requireCurrent(warehouse);
      const slow = altered(bucket, {
        async sizes(path) {
          await rm(join(folder, 'report.html'));
          return bucket.sizes(path);
        },
      });
      await expect(push(warehouse, slow)).rejects.toMatchObject({ code: 'warehouse' });
      expect(await currentOf(bucket)).toBeUndefined();
    });

    it('is read to its end though the snapshot that is read is removed meanwhile', async () => {
      const { warehouse, known: ids } = await fourSnapshots();
      const store = await start();
      const bucket = await store.open();
      await push(warehouse, bucket, ids[0]);
      let replaced: Promise<void> | null = null;
      const replace = async (): Promise<void> => {
        await push(warehouse, bucket, ids[3]);
        await bucket.remove(`snapshots/${ids[0]}/`);
      };
      // Files come side by side: the first one waits for the push, and the others do too.
      const slow = altered(bucket, {
        async download(...given) {
          await (replaced ??= replace());
          return bucket.download(...given);
        },
      });
      const mirror = await temporaryFolder();
      expect(await pull(mirror, slow)).toMatchObject({ snapshot: ids[3] });
      expect(await damageOf(mirror)).toEqual([]);
    });

    it('does not take a warehouse that has lost its current snapshot for an empty one', async () => {
      const { warehouse } = await fourSnapshots();
      const bucket = await (await start()).open();
      await push(warehouse, bucket);
      await rm(join(warehouse, 'current'));
      await expect(pull(warehouse, bucket)).rejects.toMatchObject({ code: 'warehouse' });
      // A copy is nobody's but the bucket's.
      await pullSnapshot({ ...quiet, isCopy: true, warehouse, bucket });
      expect(await damageOf(warehouse)).toEqual([]);
      const file = join(warehouse, 'current/rekap.duckdb');
      await chmod(file, 0o600);
      await writeFile(file, Buffer.alloc((await readFile(file)).length));
      await pullSnapshot({ ...quiet, isCopy: true, warehouse, bucket });
      expect(await damageOf(warehouse)).toEqual([]);
    });

    it('keeps nobody waiting for ever: a way that is refused, or falls silent, is said', async () => {
      const { warehouse } = await fourSnapshots();
      const store = await start();
      const way = await startBrokenWay(store);
      const bucket = await store.open(way.endpoint, { idleTimeout: 1000, client: { maxAttempts: 1 } });
      for (const fault of ['refused', 'silent'] as const) {
        way.fault = fault;
        await expect(push(warehouse, bucket)).rejects.toMatchObject({ code: 'bucket' });
      }
      way.fault = 'none';
      expect(await push(warehouse, bucket)).toMatchObject({ outcome: 'pushed' });
      way.fault = 'silent in the middle';
      await expect(pull(await temporaryFolder(), bucket)).rejects.toMatchObject({ code: 'bucket' });
    });

    it('is never half: pushes are cut at any byte while others read', { timeout: 600_000 }, async () => {
      const { warehouse, known: ids } = await fourSnapshots();
      const store = await start();
      const direct = await store.open();
      const way = await startBrokenWay(store);
      const mirror = await temporaryFolder();
      await push(warehouse, direct, ids[0]);
      const outcomes = { pushed: 0, failed: 0 };
      for (let round = 0; round < Number(process.env['REKAP_PUSHES'] ?? 8); round += 1) {
        const bucket = await store.open(way.endpoint, { client: { maxAttempts: 1 } });
        way.fault = { cutAfter: Math.floor(Math.random() ** 2 * 2_000_000) };
        const id = ids[Math.floor(Math.random() * ids.length)]!;
        const before = await currentOf(direct);
        const pushing = push(warehouse, bucket, id, { keep: 2 }).then(
          () => 'pushed' as const,
          () => 'failed' as const,
        );
        await pull(mirror, direct);
        expect(await damageOf(mirror)).toEqual([]);
        const outcome = await pushing;
        outcomes[outcome] += 1;
        expect(outcome === 'pushed' ? [id] : [before, id]).toContain(await currentOf(direct));
        await pull(mirror, direct);
        expect(await damageOf(mirror)).toEqual([]);
      }
      expect(outcomes.failed).toBeGreaterThan(0);
    });
  });

it.skipIf(!hasStore)('a real S3 server takes a large file in parts, and gives it back', async () => {
  const bucket = await (await startStore()).open();
  const folder = await temporaryFolder();
  const bytes = Buffer.alloc(40_000_000, 'rekap ');
  await writeFile(join(folder, 'large'), bytes);
  await bucket.upload('large', join(folder, 'large'));
  const got = await bucket.download('large', join(folder, 'back'), bytes.length);
  expect(got?.bytes).toBe(bytes.length);
  expect((await readFile(join(folder, 'back'))).equals(bytes)).toBe(true);
});
