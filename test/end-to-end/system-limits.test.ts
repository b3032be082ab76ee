/** What the system keeps from a sync, open files, the right to make code or its folder, ends it with one message, wherever it is missed. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { cliPath } from '../support/run-cli.ts';
import { readRunLines } from '../support/run-lines.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A sync of the sample by Node with these words before its own, after a command of the shell. */
async function syncSample({
  before = 'true',
  node = [],
  into,
}: {
  before?: string;
  node?: readonly string[];
  into?: string;
}) {
  const warehouse = into ?? (await temporaryFolder());
  const words = [...node, cliPath, 'sync', '--sample', '--warehouse', warehouse];
  const child = spawn('sh', ['-c', `${before}; exec "$0" "$@"`, process.execPath, ...words], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { warehouse, code, stderr };
}

it('says that it may open too few files, whatever it is about to open', async () => {
  let refused = 0;
  for (const files of [20, 28, 34, 40, 43]) {
    const { code, stderr } = await syncSample({ before: `ulimit -n ${files}` });
    // With so few, Node itself does not come as far as to rekap.
    if (code === null || code > 128 || stderr.includes(`open '${cliPath}'`)) continue;
    expect(stderr, `${files} files`).not.toMatch(/\n\s+at /);
    if (code === 0) break;
    refused += 1;
    expect(code).toBe(1);
    const told = stderr.replaceAll(/^\d{4}-\S+Z (?!warning|rekap).*\n/gm, '');
    expect(told, `${files} files`).toMatch(/^(\S+Z )?rekap: .+\n .*ulimit -n/);
  }
  expect(refused).toBeGreaterThan(1);
});

it('says that Node may not run WebAssembly, and asks no source again for it', async () => {
  const { warehouse, code, stderr } = await syncSample({ node: ['--jitless'] });
  expect(code).toBe(1);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(stderr).toMatch(/rekap: Node\.js cannot run WebAssembly.*\n.*--jitless.*MemoryDenyWriteExecute=/);
  expect(await readRunLines(warehouse)).toMatchObject([{ outcome: 'failed', exit_code: 1, retries: 0 }]);
});

it('says that the folder it is run in is gone', async () => {
  const { code, stderr } = await syncSample({ before: 'cd "$(mktemp -d)" && rmdir "$PWD"', into: 'warehouse' });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^rekap: The working directory no longer exists\.\n/);
});
