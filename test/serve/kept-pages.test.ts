/** Pages are made once per snapshot, and again after a failure. A monitor always answers. */

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
  it('is the report of the served snapshot, and is read once', async () => {
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

  it('is read again after a failure', async () => {
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
  it('is read again after a failure', async () => {
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
    [-3_600_000, 0],
  ])('has, %i ms after the data were read, an age of %i seconds', async (milliseconds, seconds) => {
    const { site } = await setUp();
    const readAt = Date.parse(manifestOf().created_at);
    const service = await start({ pipelines, site, now: () => new Date(readAt + milliseconds) });
    expect(await (await ask(service, '/health')).json()).toMatchObject({ snapshot: first, age_seconds: seconds });
  });
});

describe('the metrics of a service', () => {
  it('fail with 500 while the log is unreadable', async () => {
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
  it('hides why /metrics failed, and still answers /health', async () => {
    const fail = (): Promise<never> => Promise.reject(new Error('a path of this machine'));
    const answers = { health: () => Promise.resolve({ status: 'ok' }), metrics: fail };
    const monitor = await startMonitor({ host: '127.0.0.1', port: 0 }, answers);
    onTestFinished(() => monitor.close());
    const refused = await fetch(`${monitor.url}/metrics`);
    expect([refused.status, await refused.text()]).toEqual([500, '{"status":500}']);
    expect((await fetch(`${monitor.url}/health?query`)).status).toBe(200);
    const head = await fetch(`${monitor.url}/health`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});
