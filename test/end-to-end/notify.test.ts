/** Others hear how a sync went: a dead man's switch, commands and a webhook; and whatever becomes of them, the sync ends as it would. */

import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addKilled } from '../support/killed-run.ts';
import { cliPath } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Heard {
  readonly path: string;
  readonly body: string;
  readonly signature: string | undefined;
}

/** A server that notes what it hears, and answers with these statuses in turn, then with 200. */
async function listen(...statuses: number[]) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      heard.push({ path: request.url!, body, signature: request.headers['x-rekap-signature']?.toString() });
      response.writeHead(statuses.shift() ?? 200).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const secrets = {
  REKAP_API_KEY: 'a-key-for-nobody-else',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=a-token-for-nobody-else',
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=another-token',
};
const environment = { PATH: process.env['PATH'] ?? '', ...secrets };

async function syncSample(warehouse: string, ...words: string[]) {
  return runHere(['sync', '--sample', '--warehouse', warehouse, ...words], environment);
}

describe('a sync', () => {
  it("pings a dead man's switch before it begins and after it ends, and another address where it fails", async () => {
    const warehouse = await temporaryFolder();
    const { heard, url } = await listen();
    expect((await syncSample(warehouse, '--ping-url', `${url}/check-1`)).code).toBe(0);
    expect(heard.map(({ path }) => path)).toEqual(['/check-1/start', '/check-1']);
    const failing = ['sync', '--base-url', 'http://127.0.0.1:1', '--accept-source', '--warehouse', warehouse];
    const failed = await runHere([...failing, '--max-duration', '1', '--ping-url', `${url}/check-2`], environment);
    expect(failed.code).toBe(4);
    expect(heard.slice(2).map(({ path }) => path)).toEqual(['/check-2/start', '/check-2/fail']);
    expect(heard.at(-1)!.body).toContain('did not finish within 1 s');
  });

  it('sends the failure of a killed sync before it begins, and only once', async () => {
    const warehouse = await temporaryFolder();
    expect((await syncSample(warehouse)).code).toBe(0);
    const killed = '20261122T030000Z-aaaaaa';
    await addKilled(warehouse, killed);
    const { heard, url } = await listen();
    const words = ['--ping-url', `${url}/check`, '--webhook', `${url}/hook`];
    for (let night = 0; night < 2; night += 1) expect((await syncSample(warehouse, ...words)).code).toBe(0);
    const night = ['/check/start', '/check', '/hook'];
    expect(heard.map(({ path }) => path)).toEqual(['/check/fail', '/hook', ...night, ...night]);
    expect(heard[0]!.body).toContain('was killed');
    expect(JSON.parse(heard[1]!.body)).toMatchObject({ event: 'failed', run: killed, exit_code: 137, warehouse });
  });

  it('runs the command of what became of it, with the run on stdin and never the key', async () => {
    const warehouse = await temporaryFolder();
    const folder = await temporaryFolder();
    const note = (name: string) => `cat > ${join(folder, `${name}.json`)}; env > ${join(folder, `${name}.env`)}`;
    expect((await syncSample(warehouse, '--on-publish', note('published'))).code).toBe(0);
    for (const event of ['published']) {
      const run = JSON.parse(await readFile(join(folder, `${event}.json`), 'utf8')) as object;
      expect(run).toMatchObject({ event, exit_code: 0, rows: { voters: 514 }, warehouse });
      const variables = await readFile(join(folder, `${event}.env`), 'utf8');
      expect(variables).toContain(`REKAP_EVENT=${event}`);
      for (const secret of Object.values(secrets)) expect(variables).not.toContain(secret);
    }
  });

  it('tells both that it has published and that its push has failed', async () => {
    const { heard, url } = await listen();
    const file = join(await temporaryFolder(), 'heard');
    const note = `echo "$REKAP_EVENT $REKAP_EXIT_CODE" >> ${file}`;
    const words = ['sync', '--sample', '--push', 's3://figures/dpr', '--ping-url', `${url}/check`];
    const commands = ['--on-publish', note, '--on-failure', note, '--log-format', 'json'];
    const nowhere = { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1', AWS_REGION: 'us-east-1', AWS_MAX_ATTEMPTS: '1' };
    const keys = { AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY: 'between-us' };
    const warehouse = await temporaryFolder();
    const given = { ...environment, ...nowhere, ...keys };
    const { code, stderr } = await runHere([...words, ...commands, '--warehouse', warehouse], given);
    expect(code).toBe(8);
    expect(await readFile(file, 'utf8')).toBe('published 0\nfailed 8\n');
    expect(heard.map(({ path }) => path)).toEqual(['/check/start', '/check/fail']);
    const events = stderr.trim().split('\n');
    expect(JSON.parse(events.at(-1)!)).toMatchObject({ event: 'run_failed', code: 'bucket', exit_code: 8 });
    expect(stderr).not.toContain('between-us');
  });

  it('tells, though nobody reads what it prints', async () => {
    const file = join(await temporaryFolder(), 'heard');
    const line = `"${process.execPath}" "${cliPath}" sync --sample --warehouse "${await temporaryFolder()}" --on-publish 'touch "${file}"' | true`;
    const { status } = spawnSync('sh', ['-c', line], { env: environment });
    expect(status).toBe(0);
    expect(existsSync(file)).toBe(true);
  });

  it('warns where a ping is redirected, since nobody has heard it', async () => {
    const { url } = await listen(301, 301);
    const { code, stderr } = await syncSample(await temporaryFolder(), '--ping-url', url);
    expect(code).toBe(0);
    expect(stderr).toContain('it returned status 301');
  });

  it('signs what a webhook gets, and sends it again to one that fails for a moment', async () => {
    const { heard, url } = await listen(503);
    const words = ['sync', '--sample', '--webhook', `${url}/hook`, '--warehouse', await temporaryFolder()];
    expect((await runHere(words, { REKAP_WEBHOOK_SECRET: 'between us' })).code).toBe(0);
    expect(heard.map(({ path }) => path)).toEqual(['/hook', '/hook']);
    const [, { body, signature }] = heard as [Heard, Heard];
    expect(signature).toBe(`sha256=${createHmac('sha256', 'between us').update(body).digest('hex')}`);
    expect(JSON.parse(body)).toMatchObject({ event: 'published' });
  });

  it('ends as it would though nobody hears, and warns without the address', async () => {
    const { url } = await listen(500, 500);
    const words = ['--ping-url', `${url}/not-to-be-printed`, '--on-publish', 'exit 7'];
    const { code, stderr, stdout } = await syncSample(await temporaryFolder(), ...words);
    expect(code).toBe(0);
    expect(stdout).toContain('Published');
    expect(stderr).toMatch(/ping failed: 127\.0\.0\.1:\d+: it returned status 500/);
    expect(stderr).toContain('exit code 7');
    expect(stderr).not.toContain('not-to-be-printed');
    const inJson = await syncSample(await temporaryFolder(), '--on-publish', 'exit 7', '--log-format', 'json');
    const last = JSON.parse(inJson.stderr.trim().split('\n').at(-1)!) as object;
    expect(last).toMatchObject({ event: 'warning', level: 'warn', message: expect.stringContaining('exit code 7') });
  });

  it('refuses an address that is none before it asks the source', async () => {
    const warehouse = await temporaryFolder();
    expect((await syncSample(warehouse, '--ping-url', 'nonsense')).code).toBe(2);
    expect((await syncSample(warehouse, '--webhook', 'file:///etc/passwd')).code).toBe(2);
  });

  it.each(['--ping-url', '--webhook'])(
    'refuses a user and a password in %s, and does not repeat them',
    async (option) => {
      const { heard, url } = await listen();
      const address = url.replace('//', '//user:password@');
      const { code, stderr } = await syncSample(await temporaryFolder(), option, address);
      expect({ code, heard }).toEqual({ code: 2, heard: [] });
      expect(stderr).toContain(option);
      expect(stderr).not.toContain('user:password');
    },
  );
});
