/** A query takes no more time than it is given and no more memory than the machine can spare; then it ends with one message and no file. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { cliPath, runCli } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const endless = 'FROM range(1000000000000)';

describe('--max-duration', () => {
  it('ends a query that takes longer, and leaves nothing of --out', async () => {
    const { warehouse } = await sampleWarehouse();
    const folder = await temporaryFolder();
    const query = ['query', '--max-duration', '1', '--warehouse', warehouse];
    const ended = await Promise.all([
      runCli([...query, `SELECT sum(hash(range)) ${endless}`]),
      ...['csv', 'parquet'].map((format) => runCli([...query, endless, '--out', join(folder, `x.${format}`)])),
    ]);
    for (const { code, stdout, stderr } of ended) {
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(
        /^rekap: The query did not finish within 1 s\.\n {2}Allow more time with --max-duration\.\n$/,
      );
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it('comes from the environment too, and is a whole number of seconds', async () => {
    const words = ['query', 'SELECT 1', '--warehouse', (await sampleWarehouse()).warehouse];
    expect((await runHere(words, { REKAP_MAX_DURATION: '60' })).code).toBe(0);
    expect(await runHere([...words, '--max-duration', '0'])).toMatchObject({ code: 2, stdout: '' });
    expect(await runHere(words, { REKAP_MAX_DURATION: 'soon' })).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('a process that watches its query', () => {
  const module = pathToFileURL(join(dirname(cliPath), 'bound-query.js')).href;

  /** What becomes of a process that takes memory, and does what `then` says once it is told that this is too much. */
  async function watched(leftover: string, then: string) {
    const program = `
      import { boundQuery } from ${JSON.stringify(module)};
      const watch = boundQuery({ seconds: undefined, memory: 2 ** 20, leftovers: [${JSON.stringify(leftover)}] });
      const taken = Buffer.alloc(2 ** 26, 1);
      const alive = setInterval(() => taken.length, 1000);
      watch.signal.addEventListener('abort', async () => { ${then} });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let told = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    return { code, signal, told };
  }

  it('is told when it takes more memory than it may, and goes on where it heeds that', async () => {
    const file = join(await temporaryFolder(), 'part');
    await writeFile(file, '');
    const heeding = 'await watch.stop(); clearInterval(alive); process.stdout.write(watch.signal.reason.code);';
    expect(await watched(file, heeding)).toEqual({ code: 0, signal: null, told: 'query' });
    expect(existsSync(file)).toBe(true);
  });

  it('is ended with the same message where it does not, and leaves no file', async () => {
    const file = join(await temporaryFolder(), 'part');
    await writeFile(file, '');
    const { signal, told } = await watched(file, 'for (;;);');
    expect(signal).toBe('SIGKILL');
    expect(told).toMatch(/^rekap: The query, .* exceeds the memory limit\.\n {2}.*\n$/);
    expect(existsSync(file)).toBe(false);
  });
});
