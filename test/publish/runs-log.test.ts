/** runs.jsonl keeps one whole line per run, even after a run that was killed while it wrote its own. */

import fc from 'fast-check';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { appendRun, readRuns, type RunLine } from '../../src/publish/runs-log.ts';
import { holds } from '../support/properties.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const line: RunLine = {
  kind: 'sync',
  run: '20261120T030002Z-1f3a9c',
  started_at: '2026-11-20T03:00:02.000Z',
  finished_at: '2026-11-20T03:00:05.000Z',
  outcome: 'refused',
  exit_code: 3,
  source: 'https://service.test/api',
  snapshot: null,
  reason: 'first line\nsecond "line" \u2028 😀',
  requests: 184,
  retries: 2,
};

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-runs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const readLines = async (folder: string) => (await readFile(join(folder, 'runs.jsonl'), 'utf8')).split('\n');

describe('the log of runs', () => {
  it('grows by one line of JSON per run, in the order of the runs', async () => {
    const folder = await makeFolder();
    const runs = ['published', 'unchanged', 'failed'].map((outcome) => ({ ...line, outcome }) as RunLine);
    for (const run of runs) await appendRun(folder, run);
    const lines = await readLines(folder);
    expect(lines.pop()).toBe('');
    expect(lines.map((text) => JSON.parse(text) as unknown)).toEqual(runs);
  });

  it('ends a line that was left unfinished, so that the next stands for itself', async () => {
    const folder = await makeFolder();
    await appendRun(folder, line);
    await appendFile(join(folder, 'runs.jsonl'), '{"run":"2026');
    await appendRun(folder, line);
    const lines = await readLines(folder);
    expect(lines).toHaveLength(4);
    expect(lines[1]).toBe('{"run":"2026');
    expect([lines[0], lines[2]].map((text) => JSON.parse(text!) as unknown)).toEqual([line, line]);
  });

  it('keeps lines whole that are written side by side', async () => {
    const folder = await makeFolder();
    const reasons = Array.from({ length: 40 }, (_, index) => `${index} `.repeat(2000));
    await Promise.all(reasons.map((reason) => appendRun(folder, { ...line, run: null, reason })));
    const lines = (await readLines(folder)).filter((each) => each !== '').map((each) => JSON.parse(each) as RunLine);
    expect(lines.map(({ reason }) => reason).toSorted()).toEqual(reasons.toSorted());
    expect(await readRuns(folder)).toEqual([]);
  });

  it('that cannot be read is named, with what to do', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'runs.jsonl'));
    await expect(readRuns(folder)).rejects.toMatchObject({
      code: 'warehouse',
      message: `${join(folder, 'runs.jsonl')} cannot be read: illegal operation on a directory (EISDIR).`,
      next: expect.stringContaining('move it away'),
    });
  });

  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a\nb', '\r\n', '\u2028', '"}\n{"run":"'));
  const lines = fc.record({ run: text, source: text, reason: text, snapshot: fc.option(text), requests: fc.nat() });
  const leftover = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.constantFrom('', '\n', '{"run":"2026', '{}\n', 'no JSON\n\n').map((before) => Buffer.from(before)),
  );

  holds(
    'keeps what stands there byte for byte and gives each run a line of its own, whatever a killed run left',
    fc.asyncProperty(leftover, fc.array(lines, { minLength: 1, maxLength: 3 }), async (before, runs) => {
      const folder = await mkdtemp(join(tmpdir(), 'rekap-runs-'));
      const file = join(folder, 'runs.jsonl');
      await writeFile(file, before);
      const whole = runs.map((run) => ({ ...line, ...run }));
      for (const run of whole) await appendRun(folder, run);
      const after = await readFile(file);
      const read = await readRuns(folder);
      await rm(folder, { recursive: true });
      expect(after.subarray(0, before.length).equals(before)).toBe(true);
      const added = after
        .toString()
        .split('\n')
        .slice(-runs.length - 1);
      expect(added.pop()).toBe('');
      expect(added.map((each) => JSON.parse(each) as unknown)).toEqual(whole);
      expect(read.slice(-runs.length)).toEqual(whole);
    }),
    { runs: 100 },
  );
});
