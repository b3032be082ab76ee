/** runs.jsonl keeps one whole line per run, even after a run that was killed during its write. */

import fc from 'fast-check';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { appendRun, createRunsReader, readRuns, runLineShape } from '../../src/warehouse/runs-log.ts';
import { runAt } from '../support/all-runs.ts';
import { holds } from '../support/properties.ts';
import { readRunLines } from '../support/run-lines.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const line = runAt('20T03:00', { reason: 'first line\nsecond "line" \u2028 😀' });

describe('the log of runs', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a\nb', '\r\n', '\u2028', '"}\n{"run":"'));
  const lines = fc.record({ run: text, source: text, reason: text, snapshot: fc.option(text), requests: fc.nat() });
  const leftover = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.constantFrom('', '\n', '{"run":"2026', '{}\n', 'no JSON\n\n').map((before) => Buffer.from(before)),
  );

  holds(
    'keeps its bytes and adds one line per run, after any incomplete line',
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
    { runs: 40 },
  );

  it('keeps lines whole that are written at the same time', async () => {
    const folder = await temporaryFolder();
    const reasons = Array.from({ length: 40 }, (_, index) => `${index} `.repeat(2000));
    await Promise.all(reasons.map((reason) => appendRun(folder, { ...line, run: null, reason })));
    expect((await readRunLines(folder)).map(({ reason }) => reason).toSorted()).toEqual(reasons.toSorted());
    expect(await readRuns(folder)).toHaveLength(40);
  });

  it('is empty if it is missing, and named if it is unreadable', async () => {
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

describe('a reader of the log of runs', () => {
  it('reads the file again only after it changes or becomes readable', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'runs.jsonl');
    const read = createRunsReader(folder);
    const ids = async () => (await read()).map(({ run }) => run);
    expect(await ids()).toEqual([]);
    for (const run of ['a', 'b']) {
      await appendRun(folder, { ...line, run });
      expect((await ids()).at(-1)).toBe(run);
    }
    expect(await read()).toBe(await read());
    await rm(file);
    await mkdir(file);
    await expect(read()).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
    await rm(file, { recursive: true });
    await writeFile(file, `${JSON.stringify({ ...line, run: 'c' })}\n`);
    expect(await ids()).toEqual(['c']);
  });
});
