/** Doctor checks the version of Node, the mode of the key file, the bucket, the clock and the page size. */

import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RekapError } from '../src/errors.ts';
import { Secret } from '../src/source/secret.ts';
import type { Finding } from '../src/diagnose/examine-service.ts';
import { examine, type DoctorOptions } from '../src/diagnose/diagnose.ts';
import { manualClock } from '../src/testing/manual-clock.ts';
import { smallNation } from './support/served-source.ts';
import { project, testKey } from './support/sync-settings.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { startTwistedSource, type Twist } from './support/twisted-source.ts';

async function findings(options: Partial<DoctorOptions> = {}): Promise<Finding[]> {
  const found: Finding[] = [];
  const healthy: DoctorOptions = {
    project,
    warehouse: await temporaryFolder(),
    baseUrl: null,
    apiKey: new Secret(testKey),
    pageSize: 1000,
    timeout: 10_000,
    clock: manualClock(),
    node: '20.19.0',
    keyFile: null,
    readNotices: null,
    readBucket: null,
  };
  for await (const finding of examine({ ...healthy, ...options })) found.push(finding);
  return found;
}

const stateOf = async (about: string, options: Partial<DoctorOptions>) =>
  (await findings(options)).find((finding) => finding.about === about)?.state;

describe('doctor', () => {
  it.each([
    ['18.20.8', 'failed'],
    ['20.18.9', 'failed'],
    ['20.19.0', 'ok'],
    ['20.20.2', 'ok'],
    ['22.0.0', 'ok'],
  ])('rates Node %s as %s', async (node, state) => {
    expect(await stateOf('node', { node })).toBe(state);
  });

  it.each([
    [0o600, 'ok'],
    [0o640, 'warning'],
    [0o604, 'warning'],
    [0o601, 'warning'],
  ])('rates a key file of mode %s as %s', async (mode, state) => {
    const keyFile = join(await temporaryFolder(), 'api-key');
    await writeFile(keyFile, '');
    await chmod(keyFile, mode);
    const found = (await findings({ keyFile })).find(({ about }) => about === 'key')!;
    const next = state === 'ok' ? null : `Restrict its permissions: chmod 600 ${keyFile}`;
    expect(found).toMatchObject({ state, next });
  });

  it.each([
    ['a bucket with a snapshot', async () => 'an id', 'ok', 'contains an id; write access was not checked'],
    ['an empty bucket', async () => null, 'ok', 'readable and empty; write access was not checked'],
    ['no bucket', () => Promise.reject(new RekapError('bucket', 'Gone.', 'Fix it.')), 'failed', 'Gone.'],
    ['no address', () => Promise.reject(new RekapError('usage', 'None.', 'Fix it.')), 'failed', 'None.'],
  ])('needs no key to check only a bucket: %s', async (_, readBucket, state, found) => {
    const all = await findings({ readBucket, apiKey: null });
    expect(all.map(({ about }) => about)).toEqual(['node', 'warehouse', 'space', 'bucket']);
    expect(all.at(-1)).toEqual({ about: 'bucket', state, found, next: state === 'ok' ? null : 'Fix it.' });
  });

  it('rethrows unexpected errors', async () => {
    const fault = new Error('a fault');
    const broken = () => Promise.reject(fault);
    await expect(findings({ readBucket: broken })).rejects.toBe(fault);
    await expect(findings({ readNotices: broken })).rejects.toBe(fault);
  });
});

describe('doctor requests a service, and', () => {
  const ask = async (twist: Twist, options: Partial<DoctorOptions> = {}) => {
    const { url } = await startTwistedSource(smallNation({ 1101: 30 }), twist);
    return (about: string) => stateOf(about, { baseUrl: url, ...options });
  };
  const honest: Twist = (response, text) => response.end(text);

  it.each<[string, object, string]>([
    ['has the declared fields', {}, 'ok'],
    ['has no record with a field', { fee: { kind: 'count', field: 'Fee', comment: 'Fee.' } }, 'failed'],
    [
      'has no record with a nullable field',
      { fee: { kind: 'count', field: 'Fee', comment: '.', nullable: true } },
      'warning',
    ],
  ])('checks that it %s', async (_, columns, state) => {
    const [first, ...others] = project.pipelines;
    const changed = { ...project, pipelines: [{ ...first!, columns: { ...first!.columns, ...columns } }, ...others] };
    expect(await (await ask(honest, { project: changed }))('response')).toBe(state);
  });

  it.each([
    [300_000, undefined],
    [-300_000, undefined],
    [301_000, 'warning'],
    [-301_000, 'warning'],
  ])('rates a clock that is %i ms ahead as %s', async (ahead, state) => {
    const clock = manualClock();
    const date = new Date(clock.now().getTime() - ahead).toUTCString();
    const of = await ask((response, text) => response.setHeader('date', date).end(text), { clock });
    expect(await of('clock')).toBe(state);
  });

  it.each<[string, Twist, string]>([
    [
      'refuses pages of a thousand',
      (response, text, request) => response.writeHead(/limit=1000\b/.test(request.url!) ? 400 : 200).end(text),
      'warning',
    ],
    [
      'refuses even ten',
      (response, text, request) => response.writeHead(/limit=1\b/.test(request.url!) ? 200 : 400).end(text),
      'failed',
    ],
  ])('checks the page size of a service that %s', async (_, twist, state) => {
    const { url } = await startTwistedSource(smallNation({ 1101: 30 }), twist);
    expect((await findings({ baseUrl: url })).map((finding) => finding.state)).toContain(state);
  });

  it('fails if a partition has no records', async () => {
    const none = JSON.stringify({ count: 0, data: [] });
    const of = await ask((response, text, request) => response.end(/id_dapil/.test(request.url!) ? none : text));
    expect(await of('partition')).toBe('failed');
  });
});
