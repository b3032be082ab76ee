/** rekap init writes a config file that rekap takes, and files that their schedulers take; it overwrites nothing. */

import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { scheduleNames } from '../../src/cli/schedules.ts';
import { cliPath, runCli, startCli } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { serveData, smallNation } from '../support/served-source.ts';
import { testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
/** `make tools` puts them there. */
const tool = (name: string): string => join(root, 'node_modules/.cache/tools/bin', name);
const has = (name: string): boolean => spawnSync(name, ['--version']).error === undefined;

/** What a program says of a file that it finds wrong. */
function problems(program: string, ...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

async function init(...words: string[]) {
  const into = await temporaryFolder();
  const { code, stdout, stderr } = await startCli(['init', '--base-url', 'https://host.test/', '--out', into, ...words])
    .ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return { into, stdout, read: (file: string) => readFile(join(into, file), 'utf8') };
}

describe('rekap init', () => {
  it('writes a config file that rekap goes by, with a schema for editors', async () => {
    const { into, read } = await init();
    const { $schema, ...settings } = JSON.parse(await read('rekap.json')) as Record<string, string>;
    expect(settings).toEqual({ 'base-url': 'https://host.test', warehouse: 'data/warehouse' });
    expect(JSON.parse(await readFile(join(into, $schema!), 'utf8'))).toHaveProperty('properties.base-url');
    const { stdout } = await runHere(['doctor', '--config', join(into, 'rekap.json'), '--json']);
    expect(stdout).toContain('https://host.test');
  });

  it('writes a config file that a sync needs nothing else to run by, with the key file that was named', async () => {
    const { url } = await serveData(smallNation({ 1101: 3 }));
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'the-key'), testKey);
    const { code, stdout } = await runCli(['init', '--base-url', url, '--api-key-file', 'the-key'], {}, folder);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining('umask') });
    expect(await runHere(['sync'], {}, folder)).toMatchObject({ code: 0 });
    expect(await runHere(['status'], {}, folder)).toMatchObject({ code: 0 });
  });

  it('puts a key from the environment into a file that only its owner can read', async () => {
    const folder = await temporaryFolder();
    const words = ['init', 'systemd', '--base-url', 'https://host.test'];
    const { code, stdout } = await runCli(words, { REKAP_API_KEY: ' the-key\n' }, folder);
    expect(code).toBe(0);
    expect(stdout).not.toContain('the-key');
    expect(await readFile(join(folder, 'api-key'), 'utf8')).toBe('the-key\n');
    expect((await stat(join(folder, 'api-key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'rekap.json'), 'utf8')).toContain('"api-key-file": "api-key"');
    expect(await readFile(join(folder, 'rekap.service'), 'utf8')).toContain(
      `LoadCredential=api-key:${folder}/api-key\n`,
    );
  });

  it('writes whom to notify into a config file that only its owner can read', async () => {
    const recipients = { 'ping-url': 'https://ping.test/uuid', 'on-failure': 'mail desk' };
    const words = Object.entries(recipients).flatMap(([name, value]) => [`--${name}`, value]);
    const { into, stdout, read } = await init('systemd', ...words);
    expect(JSON.parse(await read('rekap.json'))).toMatchObject(recipients);
    expect((await stat(join(into, 'rekap.json'))).mode & 0o777).toBe(0o600);
    expect(stdout).toContain('Only you can read rekap.json');
    expect(stdout).not.toContain('sends no notification');
  });

  it('warns that failures send no notification, unless the config file sets one up', async () => {
    const { into, stdout } = await init('systemd');
    expect(stdout).toContain('A failed sync sends no notification.');
    await writeFile(join(into, 'rekap.json'), '{ "webhook": "https://hook.test" }');
    expect(await startCli(['init', 'cron', '--out', into]).ended).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('sends no notification'),
    });
  });

  it('refuses a ping URL that is malformed or that it cannot write, and writes nothing', async () => {
    const { into } = await init();
    const malformed = ['init', 'cron', '--base-url', 'https://host.test', '--ping-url', 'ping.test'];
    expect(await runHere([...malformed, '--out', join(into, 'new')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--ping-url is not a URL.'),
    });
    expect((await runHere(['init', 'cron', '--ping-url', 'https://ping.test', '--out', into])).code).toBe(2);
    expect(await readdir(into)).toEqual(['rekap.json']);
  });

  it('refuses to overwrite, and writes nothing then', async () => {
    const { into } = await init();
    await writeFile(join(into, 'rekap.json'), 'mine');
    const words = ['init', 'cron', '--base-url', 'https://host.test', '--out', into];
    expect((await startCli(words).ended).code).toBe(2);
    expect(await readdir(into)).toEqual(['rekap.json']);
    expect(await readFile(join(into, 'rekap.json'), 'utf8')).toBe('mine');
  });

  it.each(scheduleNames)('writes files for %s without any key, and says how to enable them', async (schedule) => {
    const { into, stdout } = await init(schedule);
    const files = (await readdir(into, { recursive: true })).filter((file) => file.includes('.'));
    expect(files.length).toBeGreaterThan(1);
    expect(stdout).toContain('Then enable it:');
    expect(stdout).not.toContain('{{');
    for (const file of files.filter((name) => name.endsWith('.yaml')))
      for (const document of parseAllDocuments(await readFile(join(into, file), 'utf8')))
        expect(document.errors).toEqual([]);
  });

  it('adds the files of a scheduler to a config file that is there, and goes by its warehouse', async () => {
    const { into, read } = await init();
    await writeFile(join(into, 'rekap.json'), '{ "base-url": "https://host.test", "warehouse": "elsewhere" }');
    expect((await startCli(['init', 'systemd', '--out', into]).ended).code).toBe(0);
    expect(await read('rekap.json')).toContain('"elsewhere"');
    expect(await read('rekap.service')).toContain(`ReadWritePaths=${join(into, 'elsewhere')}\n`);
  });

  it('refuses a folder whose name a scheduler would misread, and writes nothing', async () => {
    const into = join(await temporaryFolder(), 'two words');
    await mkdir(into);
    const words = ['init', 'systemd', '--base-url', 'https://host.test', '--out', into];
    expect((await startCli(words).ended).code).toBe(2);
    expect(await readdir(into)).toEqual([]);
  });

  const validators = {
    kubernetes: ['kubernetes-validate', '--strict'],
    'github-actions': ['check-jsonschema', '--builtin-schema', 'vendor.github-workflows'],
    compose: ['check-jsonschema', '--builtin-schema', 'vendor.compose-spec'],
  } as const;
  it.skipIf(!has(tool('check-jsonschema'))).each(Object.entries(validators))(
    'has files for %s that fit their schema (skipped where "make tools" has not been run)',
    async (schedule, [validator, ...words]) => {
      const { into } = await init(schedule);
      const files = (await readdir(into, { recursive: true })).filter((file) => file.endsWith('.yaml'));
      expect(files.length).toBeGreaterThan(0);
      for (const file of files) expect(problems(tool(validator), ...words, join(into, file))).toBe('');
    },
  );

  it.skipIf(!has(tool('hadolint')))('has an image that hadolint takes (skipped as above)', () => {
    expect(problems(tool('hadolint'), join(root, 'Dockerfile'))).toBe('');
  });

  it('has a cron line that retries only if the source failed', async () => {
    const { into, read } = await init('cron');
    const line = (await read('rekap.cron')).split('\n').find((text) => /^\d/.test(text))!;
    const command = line.replace(/^(\S+ ){5}/, '');
    expect(command).toContain(`${process.execPath} ${cliPath} sync --config rekap.json`);
    const log = join(into, 'sync.log');
    const runEndingWith = async (code: number) => {
      await rm(log, { force: true });
      const stub = command.replace(/\S+ \S+ sync [^;]+/, `(echo sync; exit ${code})`);
      spawnSync('sh', ['-c', `sleep() { echo "sleep $1"; }; ${stub}`], { cwd: '/' });
      return (await readFile(log, 'utf8')).trim().split('\n');
    };
    const retried = [0, 600, 600, 600].flatMap((pause) => [`sleep ${pause}`, 'sync']);
    for (const code of [0, 1, 2, 3, 5, 8]) expect(await runEndingWith(code)).toEqual(['sleep 0', 'sync']);
    expect(await runEndingWith(4)).toEqual(retried);
  });

  it.skipIf(!has('systemd-analyze'))('has units that systemd takes (skipped where it is not there)', async () => {
    const { into } = await init('systemd');
    const units = (await readdir(into))
      .filter((file) => /\.(service|timer)$/.test(file))
      .map((file) => join(into, file));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
    const ofOurs = stderr.split('\n').filter((text) => text.includes(into) || /rekap/.test(text));
    expect({ status, ofOurs }).toEqual({ status: 0, ofOurs: [] });
  });
});
