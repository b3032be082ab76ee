/** What the world does to a sync: signals, a second sync, a limit on the size of files, files that vanish. The warehouse stays whole. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { lockWarehouse } from '../../src/publish/lock.ts';
import { verifySnapshot } from '../../src/publish/verify-snapshot.ts';
import { listSnapshotIds, readCurrent } from '../../src/warehouse/warehouse.ts';
import type { RunStep } from '../../src/runtime/context.ts';
import { forward, startFaultServer } from '../support/fault-server.ts';
import { nation, publishedNation } from '../support/prepared-snapshots.ts';
import { cliPath, startCli } from '../support/run-cli.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const environment = { REKAP_API_KEY: testKey };

const published = publishedNation();

/** A service that holds back every answer until it is let go; `requested` resolves at the first request. */
async function holdingService() {
  const { url } = await serveData(smallNation(nation));
  let go = (): void => {};
  const released = new Promise<void>((resolve) => (go = resolve));
  let ask = (): void => {};
  const requested = new Promise<void>((resolve) => (ask = resolve));
  const server = await startFaultServer((request, response) => {
    ask();
    void released.then(() => forward(request, response, url));
  });
  onTestFinished(() => server.close());
  return { url: server.url, requested, go };
}

/** Whether the warehouse holds a current snapshot, which then must be whole, and nothing that a run has left behind. */
async function currentWhole(warehouse: string): Promise<string | null> {
  const current = await readCurrent(warehouse);
  if (current === null) return null;
  const problems = await verifySnapshot(current.folder, current.manifest);
  if (problems.length > 0) throw new Error(`Snapshot ${current.id} is damaged: ${problems.join('; ')}`);
  return current.id;
}

describe('a signal with requests in flight', () => {
  it.each([
    ['SIGINT', 130, [], true],
    ['SIGTERM', 143, ['--keep-landing', '0'], false],
    ['SIGHUP', 129, [], true],
  ] as const)(
    '%s ends the process with %i, clears up, says so in the log of runs, and leaves the lock free',
    async (signal, code, more, isKept) => {
      const warehouse = await temporaryFolder();
      const { url, requested, go } = await holdingService();
      const running = startCli(['sync', '--base-url', url, '--warehouse', warehouse, ...more], environment);
      await requested;
      running.child.kill(signal);
      const { code: exit, stderr } = await running.ended;
      expect(exit).toBe(code);
      expect(stderr).not.toMatch(/\n\s+at /);
      // Only answers that are kept can be gone on from.
      expect(stderr.includes('--resume')).toBe(isKept);
      expect(await readdir(join(warehouse, 'snapshots'))).toEqual([]);
      expect(await readRunLines(warehouse)).toMatchObject([{ outcome: 'interrupted', exit_code: code }]);
      go();
      (await lockWarehouse(warehouse))();
    },
  );
});

describe('a terminal that is closed', () => {
  // In the place of a terminal to read from, nohup puts a file that can only be written.
  it('ends no sync that nohup has started', async () => {
    const { url, requested, go } = await holdingService();
    const words = ['sync', '--base-url', url, '--warehouse', await temporaryFolder()];
    const child = spawn('sh', ['-c', 'exec "$0" "$@" 0>/dev/null', process.execPath, cliPath, ...words], {
      env: { PATH: process.env['PATH'] ?? '', ...environment, _: '/srv/nightly.sh' },
      stdio: 'ignore',
    });
    await requested;
    child.kill('SIGHUP');
    go();
    expect(await once(child, 'close')).toEqual([0, null]);
  });
});

describe('two syncs at once', () => {
  it('do not both publish: the second one ends with 5 and names the process', async () => {
    const warehouse = await temporaryFolder();
    const { url, requested, go } = await holdingService();
    const words = ['sync', '--base-url', url, '--warehouse', warehouse];
    const first = startCli(words, environment);
    await requested;
    const second = await startCli(words, environment).ended;
    expect(second.code).toBe(5);
    expect(second.stderr).toContain(`process ${first.child.pid}`);
    go();
    expect((await first.ended).code).toBe(0);
    expect(await listSnapshotIds(warehouse)).toEqual([await currentWhole(warehouse)]);
  });
});

describe('a limit on the size of files', () => {
  /** Runs the command under `ulimit -f`, in blocks of 512 bytes. */
  async function syncWithin(blocks: number, warehouse: string, url: string) {
    const command = `ulimit -f ${blocks}; exec "$0" "$@"`;
    const words = [cliPath, 'sync', '--base-url', url, '--warehouse', warehouse, '--accept-source'];
    const child = spawn('sh', ['-c', command, process.execPath, ...words], {
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    return { code, signal, stderr };
  }

  it('leaves the snapshot before, whole, wherever it is met', async () => {
    const { warehouse, known } = await published();
    const changed = await serveData(smallNation({ ...nation, 1202: 2 }));
    let refused = 0;
    for (const blocks of [0, 600, 1200]) {
      const { code, signal, stderr } = await syncWithin(blocks, warehouse, changed.url);
      const current = await currentWhole(warehouse);
      if (code === 0) break;
      refused += 1;
      expect(current).toBe(known[0]);
      // DuckDB's own writing may meet the limit by the system's signal.
      expect([1, 2, null], stderr).toContain(code);
      expect(signal === null || signal === 'SIGXFSZ', signal ?? '').toBe(true);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
    expect(refused).toBeGreaterThan(1);
    expect((await runSync(syncOptions(warehouse, changed.url))).outcome).toMatch(/published|unchanged/);
    await currentWhole(warehouse);
  });
});

describe('a file that vanishes', () => {
  /** What is removed, and the step at which it is. */
  const losses: readonly [string, RunStep, (warehouse: string, building: string) => string][] = [
    ['the database that is being built', 'verify', (_, building) => join(building, 'rekap.duckdb')],
    ['the folder that is being built', 'fetch', (_, building) => building],
    ['the answers', 'hash files', (warehouse) => join(warehouse, 'landing')],
    ['all snapshots', 'name the snapshot', (warehouse) => join(warehouse, 'snapshots')],
  ];

  it.each(losses)('%s at the step "%s" is a failure by name, or does no harm', async (_, step, where) => {
    const { warehouse } = await published();
    const changed = await serveData(smallNation({ ...nation, 1202: 2 }));
    let removals = 0;
    const synced = runSync(syncOptions(warehouse, changed.url), {
      report: (event) => {
        if (event.kind !== 'step' || event.step !== step) return;
        const names = readdirSync(join(warehouse, 'snapshots'));
        const building = names.find((name) => name.startsWith('.building-')) ?? '.none';
        rmSync(where(warehouse, join(warehouse, 'snapshots', building)), { recursive: true, force: true });
        removals += 1;
      },
    });
    const failure: unknown = await synced.then(
      () => null,
      (error: unknown) => error,
    );
    expect(removals).toBe(1);
    expect(failure === null || failure instanceof RekapError, String(failure)).toBe(true);
    // Without a failure there is a whole snapshot; with one, `current` may have lost what it points to, and says so.
    const seen: unknown = await currentWhole(warehouse).catch((error: unknown) => error);
    expect(typeof seen === 'string' || (failure !== null && (seen === null || seen instanceof RekapError))).toBe(true);
    // What was lost is lost; everything else goes on.
    if (typeof seen !== 'string') await rm(join(warehouse, 'current'), { force: true });
    const { outcome } = await runSync(syncOptions(warehouse, changed.url));
    expect(outcome).toBe(failure === null ? 'unchanged' : 'published');
    expect(await currentWhole(warehouse)).not.toBeNull();
  });
});
