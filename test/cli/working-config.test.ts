/** rekap.json in the working directory: read without `--config`, and only if nobody else could have written it. */

import { chmod, chown, lchown, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A folder with a rekap.json of this text, and a function that runs commands there. */
async function folderWith(text: string) {
  const folder = await temporaryFolder();
  const file = join(folder, 'rekap.json');
  await writeFile(file, text, { mode: 0o600 });
  const run = (words: string[], environment: Record<string, string> = {}, cwd = folder) =>
    runHere(words, environment, cwd);
  return { folder, file, run };
}

describe('rekap.json in the working directory', () => {
  it('is read without --config, and has the lowest precedence', async () => {
    const { folder, run } = await folderWith(JSON.stringify({ keep: 3 }));
    const keep = async (words: string[], environment: Record<string, string> = {}) => {
      const { stdout } = await run(['doctor', '--json', ...words], environment);
      const { settings } = JSON.parse(stdout) as { settings: { option: string }[] };
      return settings.find(({ option }) => option === 'keep');
    };
    expect(await keep([])).toMatchObject({ value: 3, origin: '"keep" in rekap.json' });
    expect(await keep([], { REKAP_KEEP: '5' })).toMatchObject({ value: 5, origin: 'REKAP_KEEP' });
    await writeFile(join(folder, 'other.json'), JSON.stringify({ keep: 6 }));
    expect(await keep(['--config', 'other.json'])).toMatchObject({ value: 6, origin: '"keep" in the config file' });
  });

  it('is named in the log of a run that uses one of its options', async () => {
    const { run } = await folderWith(JSON.stringify({ 'max-age': '1d', warehouse: 'gone' }));
    const note = 'Using options from rekap.json.\n';
    const { stderr: log } = await run(['replay', '--log-format', 'text']);
    expect(log).toMatch(new RegExp(`^[^ ]+ ${note}rekap: gone is not a warehouse`));
    // Commands that read don't have a log.
    expect((await run(['status'])).stderr).toMatch(/^rekap: gone is not a warehouse/);
    const { stderr } = await run(['sync', '--log-format', 'json']);
    expect(JSON.parse(stderr.split('\n')[0]!)).toMatchObject({ event: 'config', file: 'rekap.json' });
  });

  it('is not searched for in parent folders', async () => {
    const { folder, run } = await folderWith(JSON.stringify({ keep: 3 }));
    await mkdir(join(folder, 'below'));
    expect((await run(['doctor'], {}, join(folder, 'below'))).stdout).not.toContain('rekap.json');
  });

  it.each([
    ['is not JSON', '{ "keep": ', 'The config file rekap.json is not valid JSON'],
    ['contains an unknown option', '{ "kep": 3 }', 'The config file rekap.json contains the unknown option "kep"'],
  ])('is refused by name if it %s', async (_, text, message) => {
    const { run } = await folderWith(text);
    const { code, stderr } = await run(['status']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(stderr).not.toContain('--config');
  });

  it('is refused by name if it is a broken link or a folder', async () => {
    const { file, run } = await folderWith('');
    const refused = { code: 2, stderr: expect.stringContaining('The config file rekap.json cannot be read') };
    await rm(file);
    await symlink('gone', file);
    expect(await run(['status'])).toMatchObject(refused);
    await rm(file);
    await mkdir(file);
    expect(await run(['status'])).toMatchObject(refused);
  });

  it('is refused if other users can write it, unless --config names it', async () => {
    const { file, run } = await folderWith(JSON.stringify({ keep: 3 }));
    await chmod(file, 0o606);
    const { code, stderr } = await run(['doctor']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is writable by other users') });
    expect(stderr).toContain('chmod go-w rekap.json');
    expect((await run(['doctor', '--config', 'rekap.json'])).stdout).toContain('"keep" in the config file');
  });

  const refused = { code: 2, stderr: expect.stringContaining('belongs to another user') };
  const isRoot = process.getuid!() === 0;

  it('is refused if it belongs to another user', async () => {
    const { file, run } = await folderWith(JSON.stringify({ keep: 3 }));
    // Only root can give a file away. For others, the file stays and the user becomes another.
    if (isRoot) await chown(file, 1234, 0);
    else vi.spyOn(process, 'getuid').mockReturnValue(process.getuid!() + 1);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await run(['doctor'])).toMatchObject(refused);
  });

  it.skipIf(!isRoot)('is refused if it is a link of another user (skipped without root)', async () => {
    const { file, run } = await folderWith(JSON.stringify({ keep: 3 }));
    await rename(file, `${file}.mine`);
    await symlink('rekap.json.mine', file);
    expect(await run(['doctor'], { REKAP_API_KEY: 'a-key' })).toMatchObject({ code: 0 });
    await lchown(file, 1234, 0);
    expect(await run(['doctor'])).toMatchObject(refused);
  });

  it('can name a key file, over which a key in the environment takes precedence', async () => {
    const options = { 'api-key-file': 'gone', 'base-url': 'http://127.0.0.1:9', 'max-duration': 1 };
    const { run } = await folderWith(JSON.stringify(options));
    const key = { REKAP_API_KEY: 'a-key' };
    expect((await run(['sync'])).stderr).toContain('The key file gone cannot be read');
    expect(await run(['sync'], key)).toMatchObject({ code: 4 });
    expect(await run(['sync', '--api-key-file', 'gone'], key)).toMatchObject({ code: 2 });
    expect((await run(['doctor'], key)).stdout).toMatch(/api-key-file +set, not shown +REKAP_API_KEY/);
  });
});
