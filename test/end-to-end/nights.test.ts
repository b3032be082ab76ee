/** A week of nights by a clock of the test's: each is seen in the status, the log of runs, the metrics, the pings and the commands. */

import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readNotifier } from '../../src/cli/notify.ts';
import { readRuns } from '../../src/warehouse/runs-log.ts';
import { readTimetable, runSchedule, withRetries } from '../../src/cli/timetable.ts';
import { renderMetrics } from '../../src/notify/metrics.ts';
import { summarizeRuns } from '../../src/snapshots/freshness.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import { judgeStatus, lastBegun } from '../../src/snapshots/freshness.ts';
import { sync } from '../../src/sync.ts';
import { warehousePaths } from '../../src/warehouse/snapshot-format.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { serveData, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const hour = 3_600_000;
const nightly = readTimetable('0 3 * * *', 'UTC');

/** A dead man's switch that notes what it hears. */
async function startSwitch() {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(request.url!);
    request.resume();
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/check` };
}

/** What a process that was killed leaves: its answers, and no line in the log. */
async function forgetLastLine(warehouse: string): Promise<void> {
  const { runs } = warehousePaths(warehouse);
  await writeFile(runs, (await readFile(runs, 'utf8')).replace(/[^\n]*\n$/, ''));
}

it('a week of nights: published, unchanged, failed, refused, killed, missed, and caught up', async () => {
  const warehouse = await temporaryFolder();
  const folder = await temporaryFolder();
  const clock = manualClock(new Date('2026-11-16T12:00:00Z'));
  const { heard, url: ping } = await startSwitch();
  const first = await serveData(smallNation({ 1101: 3, 1102: 5 }));
  const fewer = await serveData(smallNation({ 1101: 3 }));
  const more = await serveData(smallNation({ 1101: 3, 1102: 5, 1103: 1 }));
  const nowhere = { url: 'http://127.0.0.1:1' };
  const note = (name: string): string => `echo "$REKAP_EVENT" >> ${join(folder, name)}`;
  const notifier = await readNotifier(
    {
      'ping-url': ping,
      'on-publish': note('heard'),
      'on-failure': note('heard'),
      'metrics-file': join(folder, 'rekap.prom'),
      webhook: undefined,
      warehouse,
    },
    (message) => expect.unreachable(message),
  );
  const statuses: string[] = [];
  const look = async (): Promise<void> => {
    const { state } = judgeStatus(await readRuns(warehouse), clock.now(), 26 * hour);
    statuses.push(`${clock.now().toISOString().slice(8, 13)} ${state}`);
  };

  /** Lets the schedule run from now on for as many nights as there are sources. */
  async function schedule(...sources: { url: string }[]): Promise<void> {
    const end = new AbortController();
    let run: string | null = null;
    const report = (event: RunEvent): void => void (run = event.kind === 'begin' ? event.run : run);
    const context = { clock, random: () => 0.5, report, signal: end.signal };
    await runSchedule({
      timetable: nightly,
      lastBegun: lastBegun(await readRuns(warehouse)),
      clock,
      signal: end.signal,
      report: () => undefined,
      async runSync() {
        const { url } = sources.shift()!;
        const begunAt = clock.now();
        const attempt = async (): Promise<void> => void (await sync(project, syncOptions(warehouse, url), context));
        await notifier.begin();
        const failure = await withRetries(1, attempt, { ...context, report: () => undefined }).then(
          () => null,
          (error: unknown) => ({ error }),
        );
        await notifier.end({ begunAt, run, failure });
        await look();
        if (sources.length === 0) end.abort();
      },
    });
  }

  // Published at once, since nothing was there; then unchanged, failed twice, and refused since a partition is gone.
  await schedule(first, first, nowhere, fewer);
  // Killed in the fifth night, and off in the sixth and seventh.
  const killed = sync(project, syncOptions(warehouse, nowhere.url), {
    clock,
    random: () => 0.5,
    report: () => undefined,
    signal: new AbortController().signal,
  });
  await clock.sleep(24 * hour);
  await expect(killed).rejects.toThrow('cannot be reached');
  await forgetLastLine(warehouse);
  await clock.sleep(48 * hour);
  await look();
  // Caught up.
  await schedule(more);

  expect(statuses).toEqual(['16T12 fresh', '17T03 fresh', '18T03 failed', '19T03 stale', '22T03 stale', '22T03 fresh']);
  const outcomes = (await readRuns(warehouse)).map(({ outcome, exit_code }) => `${outcome} ${exit_code}`);
  expect(outcomes).toEqual([
    'published 0',
    'unchanged 0',
    'failed 4',
    'failed 4',
    'refused 3',
    'interrupted 137',
    'published 0',
  ]);
  // A notice of the killed run is sent before the next run begins.
  const ends = [[''], [''], ['/fail'], ['/fail', '/fail'], ['']];
  expect(heard.map((path) => path.replace('/check', ''))).toEqual(ends.flatMap((end) => ['/start', ...end]));
  expect((await readFile(join(folder, 'heard'), 'utf8')).split('\n').filter((line) => line !== '')).toEqual([
    'published',
    'failed',
    'failed',
    'failed',
    'published',
  ]);
  const metrics = await readFile(join(folder, 'rekap.prom'), 'utf8');
  expect(metrics).toBe(renderMetrics(summarizeRuns(await readRuns(warehouse))));
  expect(metrics).toContain('rekap_runs_total{outcome="interrupted"} 1\n');
  expect(metrics).toContain('rekap_gate_refusals_total 1\n');
});
