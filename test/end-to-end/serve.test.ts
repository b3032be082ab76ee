/** The service on the command line: what goes wrong while it runs is told on stderr, and it goes on. */

import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { startCli } from '../support/run-cli.ts';

const key = 'canary-key-of-the-mirror';

it('rekap serve --warehouse tells on one line of a snapshot that it cannot serve, and serves the one before', async () => {
  const { warehouse } = await sampleWarehouse();
  const { child, printed, stderr, ended } = startCli(['serve', '--warehouse', warehouse, '--port', '0'], {
    REKAP_API_KEYS: key,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let url = '';
  child.stdout!.on('data', (chunk: Buffer) => (url ||= /http:\/\/[^/]+/.exec(String(chunk))?.[0] ?? ''));
  await printed('Ctrl-C');
  const ask = async (): Promise<number> =>
    (await fetch(`${url}/api/datapemilihdpr`, { headers: { 'x-api-key': key } })).status;
  expect(await ask()).toBe(200);

  await symlink('snapshots/20260101T000000Z-000000', join(warehouse, 'next'));
  await rename(join(warehouse, 'next'), join(warehouse, 'current'));
  // It looks once a second at most, when a request comes.
  while (stderr() === '') expect(await ask()).toBe(200);

  child.kill('SIGTERM');
  await ended;
  const [line, ...more] = stderr().trimEnd().split('\n');
  expect(line).toMatch(
    /^rekap: the new snapshot cannot be served; the service continues with the previous one: .*20260101T000000Z-000000/,
  );
  // While the link leads nowhere, every look tells so again.
  expect(new Set(more)).toEqual(more.length === 0 ? new Set() : new Set([line]));
  expect(stderr()).not.toContain(key);
});

it('rekap serve --sample makes no key where some are given', async () => {
  const running = startCli(['serve', '--sample', '--port', '0'], { REKAP_API_KEYS: key });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const stdout = await running.printed('Ctrl-C');
  expect(stdout).toMatch(/^Serving the sample \(for testing only\)\n.*\/api\/datapemilihdpr +514 records\n/);
  expect(stdout).toMatch(/:\d+\/\n/);
  expect(stdout).not.toMatch(/key/);
  running.child.kill('SIGTERM');
  await running.ended;
});

/** Starts a service and returns its statuses for these paths, requested without a key. */
async function statusesOf(words: readonly string[], paths: readonly string[], environment = {}): Promise<number[]> {
  const running = startCli(['serve', ...words, '--port', '0'], environment);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const stdout = await running.printed('Ctrl-C');
  const [url] = /http:\/\/[^/\s]+/.exec(stdout) ?? [stdout + running.stderr()];
  const statuses = await Promise.all(paths.map(async (path) => (await fetch(url + path)).status));
  running.child.kill('SIGTERM');
  await running.ended;
  return statuses;
}

const ofSample = ['/current/rekap.duckdb', '/current/voters.parquet', '/current/voters.csv'];

it('rekap serve gives the files of the sample without a key, unless keys are given', async () => {
  expect(await statusesOf(['--sample'], ofSample)).toEqual([200, 200, 200]);
  expect(await statusesOf(['--sample'], ofSample, { REKAP_API_KEYS: key })).toEqual([401, 401, 401]);
  const { warehouse } = await sampleWarehouse();
  expect(await statusesOf(['--warehouse', warehouse], ofSample)).toEqual([200, 200, 200]);
});

it('rekap serve --warehouse says whose figures it serves, and what is heard beyond this machine', async () => {
  const { warehouse } = await sampleWarehouse();
  const words = ['serve', '--warehouse', warehouse, '--port', '0', '--host'];
  const [near, far] = ['127.0.0.1', '0.0.0.0'].map((host) => startCli([...words, host], { REKAP_API_KEYS: key }));
  for (const { child } of [near!, far!]) onTestFinished(() => void child.kill('SIGKILL'));
  expect(await near!.printed('Ctrl-C')).toMatch(
    /^Serving the current snapshot of .*, from the sample \(for testing only\)/,
  );
  await far!.printed('Ctrl-C');
  for (const { child, ended } of [near!, far!]) {
    child.kill('SIGTERM');
    await ended;
  }
  expect(near!.stderr()).toBe('');
  expect(far!.stderr()).toMatch(
    /^warning: Other machines can reach this service, and it does not encrypt API keys or data/,
  );
});
