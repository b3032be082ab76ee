/** Pings, webhooks and commands are retried, limited in time, and never get secrets. */

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readNotifier } from '../../src/cli/notify.ts';
import { RekapError } from '../../src/errors.ts';
import { runAt } from '../support/all-runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const begunAt = new Date('2026-11-21T03:00:00Z');

/** A notifier for one run that ended as its line says; gives what was warned of. */
async function notifierOf(options: Partial<Parameters<typeof readNotifier>[0]>, line = runAt('21T03:00')) {
  const warehouse = await temporaryFolder();
  await mkdir(join(warehouse, 'snapshots'));
  await writeFile(join(warehouse, 'runs.jsonl'), `${JSON.stringify(line)}\n`);
  const warnings: string[] = [];
  const none = {
    'ping-url': undefined,
    'on-publish': undefined,
    'on-failure': undefined,
    'metrics-file': undefined,
    webhook: undefined,
  };
  const notifier = await readNotifier({ ...none, ...options, warehouse }, (message) => warnings.push(message));
  return {
    warnings,
    end: (failure: { error: unknown } | null = null) => notifier.end({ begunAt, run: line.run, failure }),
  };
}

/** A server that answers with these statuses in turn, and then not at all. Returns the requested paths. */
async function listen(statuses: number[]) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url!);
    request.resume();
    const status = statuses.shift();
    if (status === undefined) server.emit('silent');
    else response.writeHead(status).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { requests, host, url: `http://${host}/hook`, waiting: once(server, 'silent') };
}

/** Lets waits pass at once; gives their milliseconds. */
function skipWaits(): number[] {
  const waits: number[] = [];
  const spy = vi.spyOn(timers, 'setTimeout').mockImplementation(async (milliseconds) => {
    waits.push(milliseconds!);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return waits;
}

function useOwnTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

describe('a webhook', () => {
  it.each([
    [[200], 1, []],
    [[503, 200], 2, [1000]],
    [[503, 500, 204], 3, [1000, 5000]],
    [[503, 500, 301, 200], 3, [1000, 5000]],
  ])('with responses %j gets %i requests', async (statuses, attempts, waits) => {
    const succeeds = statuses.length <= 3;
    const { requests, host, url } = await listen(statuses);
    const passed = skipWaits();
    const { warnings, end } = await notifierOf({ webhook: url });
    await end();
    expect(requests).toHaveLength(attempts);
    expect(passed).toEqual(waits);
    expect(warnings).toEqual(succeeds ? [] : [`The webhook failed: ${host}: it returned status 301`]);
  });

  it('or ping without a response is aborted after ten seconds', async () => {
    const { requests, host, url, waiting } = await listen([]);
    const { warnings, end } = await notifierOf({ 'ping-url': url });
    useOwnTimers();
    const ended = end();
    await waiting;
    vi.advanceTimersByTime(9999);
    expect(warnings).toEqual([]);
    vi.advanceTimersByTime(1);
    await ended;
    expect(warnings).toEqual([`The ping failed: ${host}: it did not respond within 10 s`]);
    expect(requests).toEqual(['/hook']);
  });

  it('gets five more seconds after SIGTERM', async () => {
    const { requests, url, waiting } = await listen([]);
    const { warnings, end } = await notifierOf({ webhook: url });
    useOwnTimers();
    const ended = end();
    await waiting;
    process.emit('SIGTERM');
    vi.advanceTimersByTime(4999);
    expect(warnings).toEqual([]);
    vi.advanceTimersByTime(1);
    await ended;
    expect(warnings).toEqual([expect.stringMatching(/^The webhook failed: .*aborted/)]);
    expect(requests).toHaveLength(1);
  });
});

describe('a command', () => {
  /** A command that starts another one, which goes on for longer than a test may and holds a pipe open; gives when it has begun and ended. */
  async function longCommand() {
    const pipe = join(await temporaryFolder(), 'pipe');
    spawnSync('sh', ['-c', `mkfifo '${pipe}'`]);
    const begun = open(pipe, 'r');
    return {
      command: `sleep 60 > '${pipe}' & wait`,
      begun,
      ended: async () => {
        const file = await begun;
        const bytes = await file.readFile();
        await file.close();
        return bytes;
      },
    };
  }

  it('is killed after a minute, with its child processes', async () => {
    const { command, begun, ended } = await longCommand();
    const { warnings, end } = await notifierOf({ 'on-publish': command });
    useOwnTimers();
    const ending = end();
    await begun;
    vi.advanceTimersByTime(59_999);
    expect(warnings).toEqual([]);
    vi.advanceTimersByTime(1);
    await ending;
    expect(warnings).toEqual(['The command failed: it did not finish within 60 s']);
    expect(await ended()).toHaveLength(0);
  });

  it('is killed five seconds after SIGTERM', async () => {
    const { command, begun, ended } = await longCommand();
    const { warnings, end } = await notifierOf({ 'on-publish': command });
    useOwnTimers();
    const ending = end();
    await begun;
    process.emit('SIGTERM');
    vi.advanceTimersByTime(5000);
    await ending;
    expect(warnings).toEqual(['The command failed: it was stopped by a signal']);
    expect(await ended()).toHaveLength(0);
  });

  it.each([
    ['exit 7', 'exit code 7'],
    ['kill -9 $$', 'ended by SIGKILL'],
  ])('that runs "%s" causes a warning', async (command, why) => {
    const { warnings, end } = await notifierOf({ 'on-publish': command });
    await end();
    expect(warnings).toEqual([`The command failed: ${why}`]);
  });

  it('gets every variable except keys and addresses', async () => {
    const secrets = ['REKAP_API_KEY', 'REKAP_API_KEYS', 'REKAP_PING_URL', 'REKAP_WEBHOOK'];
    for (const name of secrets) vi.stubEnv(name, `secret of ${name}`);
    vi.stubEnv('AWS_REGION', 'nowhere');
    const file = join(await temporaryFolder(), 'env');
    const { end } = await notifierOf({ 'on-publish': `env > '${file}'; cat >> '${file}'` });
    await end();
    const seen = await readFile(file, 'utf8');
    expect(seen).toContain('AWS_REGION=nowhere\n');
    expect(seen).not.toContain('secret of');
    for (const name of secrets) expect(seen).not.toContain(`${name}=`);
  });

  it('gets the failure of the run in variables and on stdin, cut to a portable length', async () => {
    const file = join(await temporaryFolder(), 'seen');
    const reason = 'x'.repeat(2000);
    const line = runAt('21T03:00', { outcome: 'failed', exit_code: 4, snapshot: '20261120T030000Z-000001', reason });
    const text = `echo "$REKAP_EVENT $REKAP_RUN $REKAP_SNAPSHOT $REKAP_EXIT_CODE $REKAP_REASON" > '${file}'; cat >> '${file}'`;
    const { warnings, end } = await notifierOf({ 'on-failure': text, 'on-publish': 'exit 9' }, line);
    await end({ error: new RekapError('source-unreachable', reason) });
    expect(warnings).toEqual([]);
    const [variables, stdin] = (await readFile(file, 'utf8')).split('\n') as [string, string];
    expect(variables).toBe(`failed ${line.run} ${line.snapshot} 4 ${'x'.repeat(1000)}`);
    expect(JSON.parse(stdin)).toMatchObject({ event: 'failed', exit_code: 4, reason, requests: 178 });
  });

  it('gets nothing from the record of another run', async () => {
    const file = join(await temporaryFolder(), 'seen');
    const line = runAt('21T02:59', { outcome: 'unchanged' });
    const { end } = await notifierOf({ 'on-publish': `cat > '${file}'` }, line);
    await end();
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      event: 'published',
      warehouse: expect.any(String),
      exit_code: 0,
      reason: '',
    });
  });
});

it.each(['nowhere', 'ftp://host', 'file:///etc/passwd', ''])(
  'refuses the address %j without repeating it',
  async (url) => {
    for (const option of ['ping-url', 'webhook'])
      await expect(notifierOf({ [option]: url })).rejects.toMatchObject({
        code: 'usage',
        message: `--${option} is not a URL.`,
      });
  },
);
