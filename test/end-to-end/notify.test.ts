/** Others hear how a sync went: a dead man's switch, commands and a webhook; and whatever becomes of them, the sync ends as it would. */

import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/runtime/context.ts';
import { startFaultServer } from '../support/fault-server.ts';
import { addKilled } from '../support/killed-run.ts';
import { cliPath } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { writeSampleProject } from '../support/written-project.ts';

interface Heard {
  readonly path: string;
  readonly body: string;
  readonly signature: string | undefined;
}

/** A server that notes what it hears, and answers with these statuses in turn, then with 200. */
async function listen(...statuses: number[]) {
  const heard: Heard[] = [];
  const server = await startFaultServer((request, response) => {
    void text(request).then((body) => {
      heard.push({ path: request.url!, body, signature: request.headers['x-rekap-signature']?.toString() });
      response.writeHead(statuses.shift() ?? 200).end();
    });
  });
  onTestFinished(() => server.close());
  return { heard, url: server.url, paths: () => heard.map(({ path }) => path) };
}

const secrets = {
  REKAP_API_KEY: 'a-key-for-nobody-else',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=a-token-for-nobody-else',
};
const nowhere = { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1', AWS_REGION: 'us-east-1', AWS_MAX_ATTEMPTS: '1' };
const credentials = { AWS_ACCESS_KEY_ID: 'a-key-id', AWS_SECRET_ACCESS_KEY: 'a-secret-key' };
const environment = { PATH: process.env['PATH'] ?? '', ...secrets };

/** A small project, and a sync of its sample. */
async function smallProject() {
  const folder = await writeSampleProject();
  const run = (words: string[], more: Record<string, string> = {}) =>
    runHere(['sync', '--warehouse', 'warehouse', ...words], { ...environment, ...more }, folder);
  return { folder, run, sync: (...words: string[]) => run(['--sample', ...words]) };
}

describe('a sync', () => {
  it("pings a dead man's switch before it begins and after it ends, and another address where it fails", async () => {
    const { sync, run } = await smallProject();
    const { heard, url, paths } = await listen();
    expect((await sync('--ping-url', `${url}/check-1`)).code).toBe(0);
    expect(paths()).toEqual(['/check-1/start', '/check-1']);
    vi.spyOn(systemClock, 'sleep').mockResolvedValue();
    const failing = ['--base-url', 'http://127.0.0.1:1', '--accept-source', '--ping-url', `${url}/check-2`];
    expect((await run(failing)).code).toBe(4);
    expect(paths().slice(2)).toEqual(['/check-2/start', '/check-2/fail']);
    expect(heard.at(-1)!.body).toContain('cannot be reached');
  });

  it('sends the failure of a killed sync before it begins, and only once', async () => {
    const { folder, sync } = await smallProject();
    expect((await sync()).code).toBe(0);
    const killed = '20261122T030000Z-aaaaaa';
    await addKilled(join(folder, 'warehouse'), killed);
    const { heard, url, paths } = await listen();
    for (let night = 0; night < 2; night += 1)
      expect((await sync('--ping-url', `${url}/check`, '--webhook', `${url}/hook`)).code).toBe(0);
    const night = ['/check/start', '/check', '/hook'];
    expect(paths()).toEqual(['/check/fail', '/hook', ...night, ...night]);
    expect(heard[0]!.body).toContain('was killed');
    expect(JSON.parse(heard[1]!.body)).toMatchObject({ event: 'failed', run: killed, exit_code: 137 });
  });

  it('runs the command of what became of it, with the run on stdin and never the key', async () => {
    const { folder, sync } = await smallProject();
    const note = `cat > ${join(folder, 'heard.json')}; env > ${join(folder, 'heard.env')}`;
    expect((await sync('--on-publish', note)).code).toBe(0);
    const run = JSON.parse(await readFile(join(folder, 'heard.json'), 'utf8')) as object;
    expect(run).toMatchObject({ event: 'published', exit_code: 0, rows: { people: 2 } });
    const variables = await readFile(join(folder, 'heard.env'), 'utf8');
    expect(variables).toContain('REKAP_EVENT=published');
    for (const secret of Object.values(secrets)) expect(variables).not.toContain(secret);
  });

  it('tells both that it has published and that its push has failed', async () => {
    const { folder, run } = await smallProject();
    const { url, paths } = await listen();
    const file = join(folder, 'heard');
    const note = `echo "$REKAP_EVENT $REKAP_EXIT_CODE" >> ${file}`;
    const words = ['--sample', '--push', 's3://figures/dpr', '--ping-url', `${url}/check`, '--log-format', 'json'];
    const given = { ...nowhere, ...credentials };
    const { code, stderr } = await run([...words, '--on-publish', note, '--on-failure', note], given);
    expect(code).toBe(8);
    expect(await readFile(file, 'utf8')).toBe('published 0\nfailed 8\n');
    expect(paths()).toEqual(['/check/start', '/check/fail']);
    expect(JSON.parse(stderr.trim().split('\n').at(-1)!)).toMatchObject({ event: 'run_failed', exit_code: 8 });
    expect(stderr).not.toContain('a-secret-key');
  });

  it('tells, though nobody reads what it prints', async () => {
    const folder = await writeSampleProject();
    const line = `"${process.execPath}" "${cliPath}" sync --sample --on-publish 'touch heard' | true`;
    expect(spawnSync('sh', ['-c', line], { env: environment, cwd: folder }).status).toBe(0);
    expect(existsSync(join(folder, 'heard'))).toBe(true);
  });

  it('signs what a webhook gets, and sends it again to one that fails for a moment', async () => {
    const { run } = await smallProject();
    const { heard, url } = await listen(503);
    const signed = { REKAP_WEBHOOK_SECRET: 'between us' };
    expect((await run(['--sample', '--webhook', `${url}/hook`], signed)).code).toBe(0);
    const [, { path, body, signature }] = heard as [Heard, Heard];
    expect(path).toBe('/hook');
    expect(signature).toBe(`sha256=${createHmac('sha256', 'between us').update(body).digest('hex')}`);
    expect(JSON.parse(body)).toMatchObject({ event: 'published' });
  });

  it.each([500, 301])('ends as it would though a ping gets %i and a command fails, and says so', async (status) => {
    const { sync } = await smallProject();
    const { url } = await listen(status, status);
    const { code, stderr, stdout } = await sync('--ping-url', `${url}/not-to-be-printed`, '--on-publish', 'exit 7');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Published') });
    expect(stderr).toMatch(new RegExp(`ping failed: 127\\.0\\.0\\.1:\\d+: it returned status ${status}`));
    expect(stderr).toContain('exit code 7');
    expect(stderr).not.toContain('not-to-be-printed');
  });

  it.each([
    ['--ping-url', 'nonsense'],
    ['--webhook', 'file:///etc/passwd'],
    ['--ping-url', 'http://user:password@host.test'],
    ['--webhook', 'http://user:password@host.test'],
  ])('refuses %s %s before the first request, and prints no password', async (option, address) => {
    const { folder, sync } = await smallProject();
    const { code, stderr } = await sync(option, address);
    expect(code).toBe(2);
    expect(stderr).toContain(option);
    expect(stderr).not.toContain('user:password');
    expect(existsSync(join(folder, 'warehouse', 'landing'))).toBe(false);
  });
});
