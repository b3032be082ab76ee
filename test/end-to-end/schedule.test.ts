/** rekap schedule in a process of its own: it syncs, tells how it is, and ends when it is told to. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readRuns } from '../../src/warehouse/runs-log.ts';
import { systemClock } from '../../src/runtime/context.ts';
import { startCli } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const yearly = ['schedule', '--sample', '--cron', '0 0 1 1 *'];

/** Events of a log of JSON lines that begin with one of these words. */
function eventsOf(stderr: string, words = /^(schedule|run_failed|warning)/): Record<string, unknown>[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => words.test(String(event)));
}

describe('rekap schedule', () => {
  it('fills an empty warehouse, says when it syncs next, answers a monitor, and ends cleanly', async () => {
    const warehouse = await temporaryFolder();
    const cli = startCli([...yearly, '--warehouse', warehouse, '--port', '0', '--log-format', 'json']);
    onTestFinished(() => void cli.child.kill('SIGKILL'));
    await cli.printed('schedule_wait');
    const url = /http:\/\/[\d.:]+/.exec(cli.stderr())![0];
    const health = await (await fetch(`${url}/health`)).json();
    expect(health).toMatchObject({ status: 'ok', state: 'waiting', last_run: { outcome: 'published', exit_code: 0 } });
    expect(new Date((health as { next_run: string }).next_run).toISOString()).toMatch(/^\d{4}-01-01T00:00:00/);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('rekap_schedule_running 0\n');
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
    expect((await fetch(`${url}/health`, { method: 'POST' })).status).toBe(404);
    cli.child.kill('SIGTERM');
    const { code, stdout } = await cli.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('Published snapshot');
    expect(eventsOf(cli.stderr()).map(({ event }) => event)).toEqual([
      'schedule_monitor',
      'schedule_first',
      'schedule_wait',
      'schedule_end',
    ]);
    expect((await readRuns(warehouse)).map(({ outcome }) => outcome)).toEqual(['published']);
  });

  it('tries a sync whose source fails again three times', async () => {
    const pauses = [300_000, 600_000, 1_200_000];
    const slept: number[] = [];
    let metrics = Promise.resolve('');
    vi.spyOn(systemClock, 'sleep').mockImplementation(async (milliseconds, signal) => {
      slept.push(milliseconds);
      // The schedule itself sleeps 30 s at a time.
      if (milliseconds !== 30_000) return;
      // It waits for the next time: now it has told all, and can be ended.
      const printed = vi
        .mocked(process.stderr.write)
        .mock.calls.map(([text]) => String(text))
        .join('');
      const [monitor] = eventsOf(printed, /^schedule_monitor$/);
      metrics = fetch(`${String(monitor!['url'])}/metrics`).then((answer) => answer.text());
      await metrics;
      process.emit('SIGTERM');
      signal?.throwIfAborted();
    });
    const nowhere = ['--base-url', 'http://127.0.0.1:1', '--warehouse', await temporaryFolder()];
    const monitored = ['schedule', '--cron', '0 0 1 1 *', '--port', '0', '--log-format', 'json'];
    const { code, stdout, stderr } = await runHere([...monitored, ...nowhere], { REKAP_API_KEY: 'a-key' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(slept.filter((milliseconds) => milliseconds >= 300_000)).toEqual(pauses);
    const retries = eventsOf(stderr, /^schedule_retry$/);
    expect(retries.map(({ attempt, seconds }) => [attempt, seconds])).toEqual(
      pauses.map((milliseconds, index) => [index + 1, milliseconds / 1000]),
    );
    expect(eventsOf(stderr, /^run_failed$/).map((failed) => failed['code'])).toEqual(
      Array<string>(pauses.length + 1).fill('source-unreachable'),
    );
    expect(await metrics).toContain(`rekap_schedule_retries_total ${pauses.length}\n`);
    expect(await metrics).toContain('rekap_schedule_running 0\n');
  });

  it('that is ended during a sync ends with it, and prints no error', async () => {
    const server = createServer(() => process.emit('SIGTERM')).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const warehouse = await temporaryFolder();
    const words = ['schedule', '--cron', '0 0 1 1 *', '--log-format', 'text', '--concurrency', '1', '--base-url', url];
    const { code, stdout, stderr } = await runHere([...words, '--warehouse', warehouse], { REKAP_API_KEY: 'a-key' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr.split('\n').filter((line) => /rekap: |next step|fault/i.test(line))).toEqual([]);
    expect(
      stderr
        .trim()
        .split('\n')
        .every((line) => /^\d{4}-\d\d-\d\dT/.test(line)),
    ).toBe(true);
    expect((await readRuns(warehouse)).map(({ outcome, exit_code }) => [outcome, exit_code])).toEqual([
      ['interrupted', 143],
    ]);
  });

  it.each([
    ['no time', ['schedule', '--sample']],
    ['no cron line', ['schedule', '--sample', '--cron', 'at night']],
    ['no source', ['schedule', '--cron', '0 3 * * *']],
    ['no key', ['schedule', '--cron', '0 3 * * *', '--base-url', 'https://host.test']],
    ['an address to ping that is none', [...yearly, '--ping-url', 'nowhere']],
  ])('refuses %s at once, and not at night', async (_what, words) => {
    expect((await runHere([...words, '--warehouse', await temporaryFolder()])).code).toBe(2);
  });
});
