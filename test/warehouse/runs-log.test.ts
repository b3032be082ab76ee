/** runs.jsonl keeps one whole line per run, even after a run that was killed while it wrote its own. */

import fc from 'fast-check';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { appendRun, followRuns, readRuns, type RunLine, runLineShape } from '../../src/warehouse/runs-log.ts';
import { holds } from '../support/properties.ts';
import { readRunLines } from '../support/run-lines.ts';
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

describe('the log of runs', () => {
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
      expect(added.map((each) => v.parse(runLineShape, JSON.parse(each)))).toEqual(whole);
      expect(read.slice(-runs.length)).toEqual(whole);
    }),
    { runs: 100 },
  );

  it('keeps lines whole that are written side by side', async () => {
    const folder = await temporaryFolder();
    const reasons = Array.from({ length: 40 }, (_, index) => `${index} `.repeat(2000));
    await Promise.all(reasons.map((reason) => appendRun(folder, { ...line, run: null, reason })));
    expect((await readRunLines(folder)).map(({ reason }) => reason).toSorted()).toEqual(reasons.toSorted());
    expect(await readRuns(folder)).toHaveLength(40);
  });

  it('is empty where there is none, and named where it cannot be read', async () => {
    const folder = await temporaryFolder();
    expect(await readRuns(folder)).toEqual([]);
    await mkdir(join(folder, 'runs.jsonl'));
    await expect(readRuns(folder)).rejects.toMatchObject({
      code: 'warehouse',
      message: expect.stringMatching(/runs\.jsonl cannot be read: .*\(EISDIR\)/),
      next: expect.stringContaining('move it'),
    });
  });
});

describe('following the log of runs', () => {
  /** Collects the runs' ids, and counts the lines that were read. */
  async function follow() {
    const folder = await temporaryFolder();
    const counted = { lines: 0 };
    const ids = followRuns(folder, [] as readonly (string | null)[], (before, { run }) => {
      counted.lines += 1;
      return [...before, run];
    });
    const file = join(folder, 'runs.jsonl');
    return { file, counted, ids, append: (run: string) => appendRun(folder, { ...line, run }) };
  }

  it('reads each line once, however many calls come at the same time or one after the other', async () => {
    const { ids, append, counted } = await follow();
    expect(await ids()).toEqual([]);
    await append('first');
    await append('second');
    const answers = await Promise.all(Array.from({ length: 20 }, () => ids()));
    expect(answers).toEqual(answers.map(() => ['first', 'second']));
    expect(await ids()).toEqual(['first', 'second']);
    await append('third');
    expect(await ids()).toEqual(['first', 'second', 'third']);
    expect(counted.lines).toBe(3);
  });

  it('keeps characters and lines whole that come in pieces, and passes over what is no line', async () => {
    const { file, ids, counted } = await follow();
    const bytes = Buffer.from(`${JSON.stringify({ ...line, run: `😀${'x'.repeat(200_000)}` })}\nnot a run\n`);
    let read = await ids();
    for (const [from, to] of [
      [0, 60],
      [60, bytes.length - 3],
      [bytes.length - 3, bytes.length],
    ] as const) {
      await appendFile(file, bytes.subarray(from, to));
      read = await ids();
    }
    expect(read).toEqual([`😀${'x'.repeat(200_000)}`]);
    expect(counted.lines).toBe(1);
  });

  it('begins again where the file is another one, or was written anew', async () => {
    const { file, ids, append } = await follow();
    await append('first');
    await append('second');
    await ids();
    await writeFile(file, `${JSON.stringify({ ...line, run: 'corrected' })}\n`);
    expect(await ids()).toEqual(['corrected']);
    const longer = ['other', 'lines'].map((run) => `${JSON.stringify({ ...line, run })}\n`).join('');
    await writeFile(file, longer);
    expect(await ids()).toEqual(['other', 'lines']);
    await rm(file);
    expect(await ids()).toEqual([]);
    for (const run of ['new', 'newer', 'newest']) await append(run);
    expect(await ids()).toEqual(['new', 'newer', 'newest']);
  });

  it('names a file that cannot be read, and reads it once it can be', async () => {
    const { file, ids, append } = await follow();
    await mkdir(file);
    await expect(ids()).rejects.toMatchObject({ code: 'warehouse' });
    await rm(file, { recursive: true });
    await append('first');
    expect(await ids()).toEqual(['first']);
  });
});
