/** rekap schedule in a process of its own: it syncs, tells how it is, and ends when it is told to. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { readRuns } from '../../src/publish/runs-log.ts';
import { startCli } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const yearly = ['schedule', '--sample', '--cron', '0 0 1 1 *', '--timezone', 'UTC'];

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
    expect((await fetch(`${url}/health`, { method: 'POST' })).status).toBe(405);
    cli.child.kill('SIGTERM');
    const { code, stdout } = await cli.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('Published snapshot');
    const events = cli
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => (JSON.parse(line) as { event: string }).event);
    expect(events.filter((event) => event.startsWith('schedule'))).toEqual([
      'schedule_monitor',
      'schedule_first',
      'schedule_wait',
      'schedule_end',
    ]);
    expect((await readRuns(warehouse)).map(({ outcome }) => outcome)).toEqual(['published']);
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
