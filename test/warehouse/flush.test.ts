/** What a power cut may not take: everything is flushed, in the order in which one thing rests on another. */

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { openLanding } from '../../src/land/landing.ts';
import { beginSnapshotFolder, makeWarehouse, publishSnapshotFolder } from '../../src/publish/snapshot-folder.ts';
import { describedRun } from '../support/landed.ts';

/** What was flushed, renamed or linked, in order. */
const { done } = vi.hoisted(() => ({ done: [] as string[] }));

vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  return {
    ...real,
    async open(...opened: Parameters<typeof real.open>) {
      const file = await real.open(...opened);
      for (const flush of ['sync', 'datasync'] as const) {
        const plain = file[flush].bind(file);
        file[flush] = () => {
          done.push(`flush ${String(opened[0])}`);
          return plain();
        };
      }
      return file;
    },
    rename(from: string, to: string) {
      done.push(`rename ${to}`);
      return real.rename(from, to);
    },
    symlink(target: string, path: string) {
      done.push(`link ${path}`);
      return real.symlink(target, path);
    },
  };
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'rekap-flush-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What was done, with paths below `folder`. */
const doneIn = (folder: string): string[] =>
  done.map((entry) => {
    const [what, path] = entry.split(' ') as [string, string];
    return `${what} ${relative(folder, path) || '.'}`;
  });

beforeEach(() => done.splice(0));

it('a landing that is closed is on the disk, its folder and its name too', async () => {
  const folder = await makeFolder();
  const landing = await openLanding(join(folder, 'run'), describedRun());
  await landing.close();
  expect(doneIn(folder)).toEqual([
    'flush run/bodies.gz',
    'flush run/answers.jsonl',
    'flush run/run.json',
    'flush run',
    'flush .',
  ]);
});

it('a snapshot is on the disk before it has its name, and has that before it is current', async () => {
  const warehouse = await makeFolder();
  const id = '20261120T030002Z-000001';
  await makeWarehouse(warehouse, () => {});
  const folder = await beginSnapshotFolder(warehouse, id);
  await mkdir(join(folder, 'parquet/voters'), { recursive: true });
  const files = ['rekap.duckdb', 'parquet/voters/voters.parquet'];
  for (const path of files) await writeFile(join(folder, path), 'x');
  await publishSnapshotFolder(warehouse, { id, folder, files }, () => undefined);
  const built = `snapshots/.building-${id}`;
  expect(doneIn(warehouse)).toEqual([
    ...files.map((path) => `flush ${built}/${path}`),
    `flush ${built}/parquet/voters`,
    `flush ${built}/parquet`,
    `flush ${built}`,
    'link .current-next',
    'flush .',
    `rename snapshots/${id}`,
    'flush snapshots',
    'rename current',
    'flush .',
  ]);
});
