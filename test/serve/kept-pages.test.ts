/** What the service makes of a snapshot is made once, never outlives the snapshot, and is tried again where it failed; a monitor always answers. */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/runtime/database.ts';
import { startMonitor } from '../../src/serve/monitor.ts';
import { systemClock } from '../../src/runtime/context.ts';
import { describeSite } from '../../src/serve/describe-site.ts';
import { databaseFile, reportFile } from '../../src/warehouse/snapshot-format.ts';
import { readSnapshot, type Snapshot } from '../../src/warehouse/warehouse.ts';
import { manifestOf } from '../support/manifests.ts';
import { nights, smallWarehouse } from '../support/small-snapshots.ts';
import { ask, pipelines, start } from './support.ts';

const [first, second] = nights;

/** The site of a warehouse with two snapshots, of which the first one is served until another is set. */
async function setUp() {
  const warehouse = await smallWarehouse([first, second]);
  const served: { snapshot: Snapshot } = { snapshot: await readSnapshot(warehouse, first) };
  return { warehouse, served, site: describeSite(warehouse, () => served.snapshot, systemClock) };
}

describe('the report of a service', () => {
  it('is that of the snapshot that is served, read once', async () => {
    const { warehouse, served, site } = await setUp();
    const report = async () => (await site.report())?.toString();
    expect(await report()).toBe(`report of ${first}`);
    await rm(join(served.snapshot.folder, reportFile));
    expect(await report()).toBe(`report of ${first}`);
    served.snapshot = await readSnapshot(warehouse, second);
    expect(await report()).toBe(`report of ${second}`);
    served.snapshot = await readSnapshot(warehouse, first);
    expect(await report()).toBeUndefined();
  });

  it('that could not be read is read again', async () => {
    const { served, site } = await setUp();
    const file = join(served.snapshot.folder, reportFile);
    await rm(file);
    await mkdir(file);
    await expect(site.report()).rejects.toMatchObject({ code: 'EISDIR' });
    await rm(file, { recursive: true });
    await writeFile(file, 'whole again');
    expect((await site.report())?.toString()).toBe('whole again');
  });
});

describe('the dictionary of a service', () => {
  it('that could not be read is read again', async () => {
    const { served, site } = await setUp();
    const file = join(served.snapshot.folder, databaseFile);
    await rm(file);
    await expect(site.dictionary()).rejects.toMatchObject({ code: 'warehouse' });
    (await openDatabase(file)).close();
    expect(await site.dictionary()).toEqual([]);
  });
});

describe('the health of a service', () => {
  it.each([
    [26 * 3_600_000, 26 * 3600],
    [1499, 1],
    [0, 0],
    [-3_600_000, 0],
  ])('whose data were read %i ms ago has an age of %i seconds', async (milliseconds, seconds) => {
    const { site } = await setUp();
    const readAt = Date.parse(manifestOf().created_at);
    const service = await start({ pipelines, site, now: () => new Date(readAt + milliseconds) });
    expect(await (await ask(service, '/health')).json()).toMatchObject({ snapshot: first, age_seconds: seconds });
  });
});

describe('the metrics of a service', () => {
  it('that cannot be made are a failure, and are made again', async () => {
    const { warehouse, site } = await setUp();
    const service = await start({ pipelines, site });
    await mkdir(join(warehouse, 'runs.jsonl'));
    expect((await ask(service, '/metrics')).status).toBe(500);
    await rm(join(warehouse, 'runs.jsonl'), { recursive: true });
    const answer = await ask(service, '/metrics');
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('rekap_gate_refusals_total 0\n');
  });
});

describe('a monitor', () => {
  it.each([
    ['/metrics', '/health'],
    ['/health', '/metrics'],
  ])('says that %s failed, without the reason, and still answers %s', async (failing, other) => {
    const fail = (): Promise<never> => Promise.reject(new Error('a path of this machine'));
    const monitor = await startMonitor(
      { host: '127.0.0.1', port: 0 },
      {
        health: failing === '/health' ? fail : () => Promise.resolve({ status: 'ok' }),
        metrics: failing === '/metrics' ? fail : () => Promise.resolve('the figures'),
      },
    );
    onTestFinished(() => monitor.close());
    const refused = await fetch(`${monitor.url}${failing}`, { signal: AbortSignal.timeout(5000) });
    expect(refused.status).toBe(500);
    expect(await refused.text()).toBe('{"status":500}');
    expect((await fetch(`${monitor.url}${other}?query`)).status).toBe(200);
    const head = await fetch(`${monitor.url}${other}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('refuses a port that is taken', async () => {
    const answers = { health: () => Promise.resolve({}), metrics: () => Promise.resolve('') };
    const monitor = await startMonitor({ host: '127.0.0.1', port: 0 }, answers);
    onTestFinished(() => monitor.close());
    const port = Number(new URL(monitor.url).port);
    await expect(startMonitor({ host: '127.0.0.1', port }, answers)).rejects.toMatchObject({ code: 'usage' });
  });
});
