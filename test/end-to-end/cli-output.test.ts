/** What becomes of a command whose output cannot be written, or is not wanted any more. */

import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { cliPath, runCli } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const withSample = preparedWarehouse((warehouse) => runHere(['sync', '--sample', '--warehouse', warehouse]));

/** Starts a command with these three streams. */
function start(words: readonly string[], stdio: StdioOptions) {
  const child = spawn(process.execPath, [cliPath, ...words], { stdio, env: { PATH: process.env['PATH'] ?? '' } });
  let told = '';
  child.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number, told })) };
}

/** A file that is open, but not for writing: what a full disk does on every system, without a full disk. */
async function openUnwritable(): Promise<number> {
  const path = join(await temporaryFolder(), 'unwritable');
  await writeFile(path, '');
  const file = await open(path, 'r');
  onTestFinished(() => file.close());
  return file.fd;
}

describe('standard output that cannot be written', () => {
  it.each([['--help'], ['--version'], ['serve --help'], ['sync --sample'], ['sync --sample --json']])(
    'is said and is exit 1: %s',
    async (line) => {
      const words = line.split(' ');
      const where = words.includes('--sample') ? ['--warehouse', await temporaryFolder()] : [];
      const { ended } = start([...words, ...where], ['ignore', await openUnwritable(), 'pipe']);
      const { code, told } = await ended;
      expect(told).toContain(
        'rekap: Standard output cannot be written: bad file descriptor (EBADF).\n  Free some space',
      );
      expect(told).not.toMatch(/\n\s+at /);
      expect(code).toBe(1);
    },
  );

  it('is no failure where its reader has seen enough', async () => {
    const { warehouse } = await withSample();
    const words = ['query', 'FROM range(200000)', '--format', 'csv', '--warehouse', warehouse];
    const { child, ended } = start(words, ['ignore', 'pipe', 'pipe']);
    child.stdout!.once('data', () => child.stdout!.destroy());
    expect(await ended).toEqual({ code: 0, told: '' });
  });

  it.each([
    ['query', 'SELEC'],
    ['snapshots', 'verify', '29991231T235959Z-ffffff'],
  ])('hides no failure where its reader has gone: %s', async (...line) => {
    const { warehouse } = await withSample();
    const words = [...line, '--json', '--warehouse', warehouse];
    const { child, ended } = start(words, ['ignore', 'pipe', 'pipe']);
    child.stdout!.destroy();
    const { code } = await runCli(words);
    expect(code).toBeGreaterThan(0);
    expect(await ended).toMatchObject({ code });
  });
});

describe('standard error that cannot be written', () => {
  it('stops no sync', async () => {
    const warehouse = await temporaryFolder();
    const words = ['sync', '--sample', '--warehouse', warehouse];
    expect(await start(words, ['ignore', 'ignore', await openUnwritable()]).ended).toMatchObject({ code: 0 });
    expect(await runCli(['snapshots', 'current', '--warehouse', warehouse])).toMatchObject({ code: 0 });
  });
});
