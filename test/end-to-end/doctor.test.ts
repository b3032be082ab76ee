/** rekap doctor: what is wrong before a sync, and by which settings it would go. */

import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/diagnose/examine-service.ts';
import { runHere } from '../support/run-here.ts';
import { serveData, smallNation } from '../support/served-source.ts';
import { testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTwistedSource } from '../support/twisted-source.ts';

/** A store where nothing listens. */
const noStore = {
  AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'nobody',
  AWS_SECRET_ACCESS_KEY: 'nothing',
  AWS_MAX_ATTEMPTS: '1',
};

async function examine(words: readonly string[], key: string | null = testKey) {
  const warehouse = join(await temporaryFolder(), 'new');
  const environment: Record<string, string> = { ...noStore, ...(key === null ? {} : { REKAP_API_KEY: key }) };
  const { code, stdout } = await runHere(['doctor', ...words, '--json', '--warehouse', warehouse], environment);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  expect(stdout).not.toContain(testKey);
  expect(findings.every(({ state, next }) => (state === 'ok') === (next === null))).toBe(true);
  expect(await readdir(join(warehouse, '..'))).toEqual([]);
  const doubtful = findings.filter(({ state }) => state !== 'ok').map(({ about, state }) => `${about} ${state}`);
  return { code, doubtful, findings };
}

const nation = smallNation({ 1101: 30, 1102: 4 });

describe('rekap doctor', () => {
  it('finds nothing wrong with a service that is as documented, writes nothing, and shows no key', async () => {
    const { code, doubtful, findings } = await examine(['--base-url', (await serveData(nation)).url]);
    expect({ code, doubtful }).toEqual({ code: 0, doubtful: [] });
    expect(findings.map(({ about }) => about)).toEqual(expect.arrayContaining(['service', 'response', 'partition']));
  });

  it('looks at this machine alone without an address', async () => {
    expect(await examine([], null)).toMatchObject({ code: 2, doubtful: ['key failed'] });
    expect(await examine([])).toMatchObject({ code: 0, doubtful: [] });
  });

  it.each<[string, (response: { writeHead(status: number): { end(text: string): void } }) => void, string]>([
    ['refuses the key', (response) => response.writeHead(401).end('{}'), 'service failed'],
    ['is somewhere else', (response) => response.writeHead(404).end('{}'), 'service failed'],
    ['answers something else', (response) => response.writeHead(200).end('<html></html>'), 'service failed'],
  ])('names a service that %s', async (_, twist, expected) => {
    const { url } = await startTwistedSource(nation, twist);
    expect(await examine(['--base-url', url])).toMatchObject({ code: 4, doubtful: [expected] });
  });

  it('names what only the night would show: a file of a ping that is gone, and a key that others can read', async () => {
    const key = join(await temporaryFolder(), 'key');
    await writeFile(key, testKey, { mode: 0o644 });
    const { code, doubtful } = await examine(['--ping-url', 'nowhere', '--api-key-file', key], null);
    expect({ code, doubtful }).toEqual({ code: 2, doubtful: ['notices failed', 'key warning'] });
  });

  it.each<[string[], string | null, number, string[]]>([
    [['bucket'], testKey, 8, ['bucket failed']],
    [['service'], testKey, 4, ['service failed']],
    [['bucket', 'service'], testKey, 4, ['bucket failed', 'service failed']],
    [['bucket', 'service'], null, 2, ['bucket failed', 'key failed']],
    [['ping'], testKey, 2, ['notices failed']],
  ])('where %j fail, with the key %j, ends with exit code %i', async (what, key, code, doubtful) => {
    const words: Record<string, string[]> = {
      bucket: ['--push', 's3://figures/dpr'],
      ping: ['--ping-url', 'nowhere'],
      service: ['--base-url', 'http://127.0.0.1:1'],
    };
    expect(
      await examine(
        what.flatMap((name) => words[name]!),
        key,
      ),
    ).toMatchObject({ code, doubtful });
  });

  it('names a metrics file whose folder is not there', async () => {
    const file = join(await temporaryFolder(), 'no', 'rekap.prom');
    expect(await examine(['--metrics-file', file])).toMatchObject({ code: 2, doubtful: ['notices failed'] });
  });
});

describe('the settings that rekap doctor shows', () => {
  it('have the place that it comes from, and no address that may be a secret', async () => {
    const file = join(await temporaryFolder(), 'rekap.json');
    await writeFile(file, JSON.stringify({ keep: 14, webhook: 'https://hooks.test/canary-4711' }));
    const { stdout } = await runHere(['doctor', '--config', file, '--json'], { REKAP_PAGE_SIZE: '100' });
    const { settings } = JSON.parse(stdout) as {
      settings: { option: string; value: unknown; origin: string | null }[];
    };
    const of = (option: string) => settings.find((setting) => setting.option === option);
    expect(of('keep')).toEqual({ option: 'keep', value: 14, origin: '"keep" in the config file' });
    expect(of('page-size')).toEqual({ option: 'page-size', value: 100, origin: 'REKAP_PAGE_SIZE' });
    expect(of('timeout')).toMatchObject({ origin: 'default' });
    expect(stdout).not.toContain('canary-4711');
  });

  it.each(['https://user:pa/ss@word@host.test/api', 'htps://user:password@host.test', 'user:password@host.test'])(
    'never show the credentials of %s',
    async (given) => {
      const environment = { REKAP_BASE_URL: given, REKAP_API_KEY: 'a-key-for-a-test' };
      const doctor = await runHere(['doctor', '--json', '--warehouse', await temporaryFolder()], environment);
      expect(doctor.stderr + doctor.stdout).not.toMatch(/user:|ss@|password@/);
      for (const words of [
        ['sync', '--warehouse', await temporaryFolder()],
        ['sync', given],
      ]) {
        const { code, stderr } = await runHere(words, environment);
        expect(code).toBe(2);
        expect(stderr).not.toMatch(/user:|ss@|password@/);
      }
    },
  );

  it('shows the address of a bucket and a command as they are', async () => {
    const [push, command] = ['s3://figures/d@pr', 'mail -s failed ops@host.test'];
    const { stdout } = await runHere(['doctor', '--json'], { REKAP_PUSH: push, REKAP_ON_FAILURE: command });
    for (const text of [push, command]) expect(stdout).toContain(JSON.stringify(text));
  });
});
