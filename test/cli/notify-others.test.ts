/** A sync that fails before it begins leaves a line, unless it is a usage error; output that fails ends nothing early. */

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

describe('a sync that cannot begin', () => {
  /** A sync of a warehouse with one snapshot, whose failures are reported into the file `notices`. */
  async function prepare() {
    const warehouse = await smallWarehouse([first]);
    const folder = await temporaryFolder();
    const notices = join(folder, 'notices');
    const onFailure = { 'on-failure': `echo "$REKAP_EXIT_CODE $REKAP_REASON" >> '${notices}'` };
    const sync = (words: string[], log = 'json') =>
      runHere(['sync', '--warehouse', warehouse, '--log-format', log, ...words], {}, folder);
    return { warehouse, folder, notices, onFailure, sync, recorded: () => existsSync(join(warehouse, 'runs.jsonl')) };
  }
  const given = ['--base-url', 'https://source.test'];

  it.each<[string, string[], RegExp]>([
    ['key file', [...given, '--api-key-file', 'gone'], /key file gone/],
    ['key', given, /API key is missing/],
    ['file with the ping URL', ['--sample', '--ping-url-file', 'gone'], /file gone/],
    ['config file', [...given, '--config', 'gone.json'], /gone\.json/],
    ['profile', [...given, '--config', 'config.json', '--profile', 'gone'], /profile "gone"/],
  ])('because the %s is missing is recorded, and one event of the log', async (_, words, reason) => {
    const { warehouse, folder, sync, recorded } = await prepare();
    await writeFile(join(folder, 'config.json'), '{}');
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

  it('because its key or its profile is missing is reported as the config file says', async () => {
    const { folder, notices, onFailure, sync } = await prepare();
    await writeFile(join(folder, 'rekap.json'), JSON.stringify({ ...onFailure, 'api-key-file': 'gone' }));
    await sync(given);
    await sync(['--profile', 'staging']);
    expect(await readFile(notices, 'utf8')).toMatch(
      /^2 The key file gone.*\n2 The config file rekap\.json has no profile/,
    );
  });

  it.each<[string, string[]]>([
    ['an unknown option', [...given, '--atempts', '3']],
    ['a missing source', []],
    ['a malformed URL', ['--base-url', 'nowhere']],
    ['a URL with a password', ['--base-url', 'https://user:between-us@source.test']],
    ['a malformed webhook', ['--sample', '--webhook', 'nowhere']],
    ['an unknown dataset', ['--sample', '--dataset', 'votes']],
  ])('because of %s is not a failed sync: it is neither recorded nor reported', async (_, words) => {
    const { folder, notices, onFailure, sync, recorded } = await prepare();
    await writeFile(join(folder, 'rekap.json'), JSON.stringify({ ...onFailure, 'metrics-file': 'rekap.prom' }));
    for (const log of ['text', 'json']) {
      const { code, stdout, stderr } = await sync(words, log);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).not.toContain('between-us');
    }
    expect([recorded(), existsSync(notices), existsSync(join(folder, 'rekap.prom'))]).toEqual([false, false, false]);
  });

  it('is one line of a run that began and failed', async () => {
    const warehouse = await smallWarehouse([first]);
    const words = ['sync', '--base-url', 'http://127.0.0.1:1', '--attempts', '1', '--warehouse', warehouse];
    const { code } = await runHere([...words, '--accept-source'], { REKAP_API_KEY: 'a-key' });
    expect(code).not.toBe(0);
    expect(await readRunLines(warehouse)).toMatchObject([{ outcome: 'failed', run: expect.any(String) }]);
  });
});

describe('held output', () => {
  it('hands the first failure to whoever listened before, once it is released', () => {
    const heard = vi.fn<(error: Error) => void>();
    const failures = [new Error('the first'), new Error('the second')];
    process.stdout.on('error', heard);
    const release = holdOutput();
    for (const failure of failures) process.stdout.emit('error', failure);
    expect(heard).not.toHaveBeenCalled();
    release();
    process.stdout.off('error', heard);
    expect(heard.mock.calls).toEqual([[failures[0]]]);
  });

  it('that did not fail hands on nothing, and lets later failures through', () => {
    const heard = vi.fn<(error: Error) => void>();
    process.stdout.on('error', heard);
    holdOutput()();
    expect(heard).not.toHaveBeenCalled();
    process.stdout.emit('error', new Error('later'));
    process.stdout.off('error', heard);
    expect(heard).toHaveBeenCalledTimes(1);
  });
});
