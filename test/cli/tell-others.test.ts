/** A sync that fails before it begins leaves a line, and a JSON log of each failure one event; output that fails ends nothing early. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { holdOutput } from '../../src/cli/tell-others.ts';
import { runHere } from '../support/run-here.ts';
import { readRunLines } from '../support/run-lines.ts';
import { nights, smallWarehouse } from '../support/small-snapshots.ts';

const [first] = nights;

describe('a sync that cannot begin', () => {
  it.each([
    ['https://source.test/figures?a=b', 'https://source.test'],
    ['https://user:between-us@source.test/figures', 'https://source.test'],
    ['nowhere', ''],
  ])('from %s is recorded as one from "%s"', async (url, source) => {
    const warehouse = await smallWarehouse([first]);
    const missing = ['--api-key-file', join(warehouse, 'no-key'), '--warehouse', warehouse];
    const { code, stdout, stderr } = await runHere(['sync', '--base-url', url, '--log-format', 'json', ...missing]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const failures = stderr.split('\n').filter((line) => line.includes('"event":"run_failed"'));
    expect(failures.map((line) => JSON.parse(line) as object)).toMatchObject([{ code: 'usage', exit_code: 2 }]);
    expect(stderr).not.toContain('between-us');
    expect(await readRunLines(warehouse)).toMatchObject([
      { run: null, kind: 'sync', outcome: 'failed', exit_code: 2, source, snapshot: first },
    ]);
  });

  it('is recorded where nobody is told of it, and not where it was to be a dry one', async () => {
    const warehouse = await smallWarehouse([first]);
    const words = ['sync', '--sample', '--webhook', 'nowhere', '--warehouse', warehouse];
    expect((await runHere([...words, '--dry-run'])).code).toBe(2);
    expect(existsSync(join(warehouse, 'runs.jsonl'))).toBe(false);
    expect((await runHere(words)).code).toBe(2);
    expect(await readRunLines(warehouse)).toMatchObject([{ outcome: 'failed', source: '' }]);
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
