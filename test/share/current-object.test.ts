/** What is current in a bucket: damage to it is named, and the advice repairs it. */

import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Bucket } from '../../src/share/bucket.ts';
import { readCurrentObject } from '../../src/share/current-object.ts';
import { pushSnapshot } from '../../src/share/push-snapshot.ts';
import { requireCurrent } from '../../src/warehouse/warehouse.ts';
import { manualClock } from '../support/manual-clock.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';

const sample = preparedWarehouse(async (warehouse) => {
  const { code, stderr } = await runHere(['sync', '--sample', '--warehouse', warehouse]);
  if (code !== 0) throw new Error(stderr);
});

/** A bucket in memory; a text's ETag is the text. */
function memoryBucket(objects: Map<string, string>): Bucket {
  const below = (path: string) => [...objects.keys()].filter((name) => name.startsWith(path));
  return {
    url: 's3://figures/dpr',
    async read(path) {
      const text = objects.get(path);
      return text === undefined ? null : { text, etag: text };
    },
    async write(path, text, condition) {
      if (objects.get(path) !== (condition === 'is new' ? undefined : condition.etag)) return false;
      objects.set(path, text);
      return true;
    },
    upload: async (path, file) => void objects.set(path, await readFile(file, 'latin1')),
    download: () => Promise.reject(new Error('nothing is downloaded here')),
    folders: async (path) => [...new Set(below(path).map((name) => name.slice(path.length).split('/')[0]!))],
    sizes: async (path) => new Map(below(path).map((name) => [name.slice(path.length), objects.get(name)!.length])),
    remove: async (path) => below(path).forEach((name) => objects.delete(name)),
    close: () => undefined,
  };
}

async function push(bucket: Bucket) {
  const { warehouse } = await sample();
  const snapshot = await requireCurrent(warehouse);
  const quiet = { clock: manualClock(), keep: 7, acceptSource: false, warn: () => undefined, report: () => undefined };
  return pushSnapshot({ ...quiet, warehouse, snapshot, bucket });
}

describe('current.json of a bucket', () => {
  it.each(['', '{"format": 1, "snap', '{"format": 2}', 'null'])(
    'that holds %j is named, and is replaced by a push after its removal',
    async (damage) => {
      const objects = new Map<string, string>();
      const bucket = memoryBucket(objects);
      const pushed = await push(bucket);
      const [whole, snapshots] = [objects.get('current.json')!, objects.size];
      objects.set('current.json', damage);
      await expect(push(bucket)).rejects.toMatchObject({
        code: 'bucket',
        message: expect.stringContaining('s3://figures/dpr/current.json'),
        next: expect.stringMatching(/remove it and run "rekap push s3:\/\/figures\/dpr"/),
      });
      objects.delete('current.json');
      expect(await push(bucket)).toMatchObject({ outcome: 'pushed', snapshot: pushed.snapshot, files: 0 });
      expect(objects.get('current.json')).toBe(whole);
      expect(objects.size).toBe(snapshots);
      expect(await readCurrentObject(bucket)).toMatchObject({ snapshot: pushed.snapshot });
    },
  );
});
