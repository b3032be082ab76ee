/** A sync that fails before it starts is recorded, unless it is a usage error. Failing output doesn't end a command early. */

import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { holdOutput } from '../../src/cli/notify-others.ts';
import { runHere } from '../support/run-here.ts';
import { readRunLines } from '../support/run-lines.ts';
import { nights, smallWarehouse } from '../support/small-snapshots.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const [first] = nights;

describe('a sync that cannot start', () => {
  /** A sync of a warehouse with one snapshot, whose failures are reported into the file `notices`. */
  async function prepare() {
    const warehouse = await smallWarehouse([first]);
    const folder = await temporaryFolder();
    const notices = join(folder, 'notices');
    const onFailure = { 'on-failure': `echo "$REKAP_EXIT_CODE $REKAP_REASON" >> '${notices}'` };
    const sync = (words: string[]) =>
      runHere(['sync', '--warehouse', warehouse, '--log-format', 'json', ...words], {}, folder);
    return { warehouse, folder, notices, onFailure, sync, recorded: () => existsSync(join(warehouse, 'runs.jsonl')) };
  }
  const source = ['--base-url', 'https://source.test'];

  it.each<[string, string[], RegExp]>([
    ['key file', [...source, '--api-key-file', 'gone'], /key file gone/],
    ['key', source, /API key is missing/],
    ['config file', [...source, '--config', 'gone.json'], /gone\.json/],
  ])('is recorded and logged if its %s is missing', async (_, words, reason) => {
    const { warehouse, sync, recorded } = await prepare();
    expect((await sync([...words, '--dry-run'])).code).toBe(2);
    expect(recorded()).toBe(false);
    const { code, stdout, stderr } = await sync(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const failures = stderr.split('\n').filter((line) => line.includes('"event":"run_failed"'));
    expect(failures.map((line) => JSON.parse(line) as object)).toMatchObject([{ code: 'configuration', exit_code: 2 }]);
    expect(await readRunLines(warehouse)).toMatchObject([
      {
        run: null,
        kind: 'sync',
        outcome: 'failed',
        exit_code: 2,
        snapshot: first,
        reason: expect.stringMatching(reason),
      },
    ]);
  });

  it('is reported as the config file says', async () => {
    const { folder, notices, onFailure, sync } = await prepare();
    await writeFile(join(folder, 'rekap.json'), JSON.stringify({ ...onFailure, 'api-key-file': 'gone' }));
    await sync(source);
    expect(await readFile(notices, 'utf8')).toMatch(/^2 The key file gone/);
  });

  it.each<[string, string[]]>([
    ['an unknown option', [...source, '--atempts', '3']],
    ['a missing source', []],
    ['a malformed URL', ['--base-url', 'nowhere']],
    ['a URL with a password', ['--base-url', 'https://user:a-secret-key@source.test']],
  ])('is neither recorded nor reported if it has %s', async (_, words) => {
    const { folder, notices, onFailure, sync, recorded } = await prepare();
    await writeFile(join(folder, 'rekap.json'), JSON.stringify({ ...onFailure, 'metrics-file': 'rekap.prom' }));
    const { code, stdout, stderr } = await sync(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toContain('a-secret-key');
    expect([recorded(), existsSync(notices), existsSync(join(folder, 'rekap.prom'))]).toEqual([false, false, false]);
  });
});

describe('held output', () => {
  it('passes the first failure to earlier listeners when it is released', () => {
    const listener = vi.fn<(error: Error) => void>();
    const failures = [new Error('the first'), new Error('the second')];
    process.stdout.on('error', listener);
    const release = holdOutput();
    for (const failure of failures) process.stdout.emit('error', failure);
    expect(listener).not.toHaveBeenCalled();
    release();
    process.stdout.off('error', listener);
    expect(listener.mock.calls).toEqual([[failures[0]]]);
  });

  it('passes on later failures', () => {
    const listener = vi.fn<(error: Error) => void>();
    process.stdout.on('error', listener);
    holdOutput()();
    expect(listener).not.toHaveBeenCalled();
    process.stdout.emit('error', new Error('later'));
    process.stdout.off('error', listener);
    expect(listener).toHaveBeenCalledTimes(1);
  });
});
