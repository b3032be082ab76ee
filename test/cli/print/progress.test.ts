/** The progress on a terminal: every number whole, whatever the width, and nothing left of a run that failed. */

import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { shownWidth } from '../../../src/cli/print/wrap-text.ts';
import { createProgress } from '../../../src/cli/print/progress.ts';
import { verdictOf } from '../../support/manifests.ts';
import { manualClock } from '../../support/manual-clock.ts';

/** A terminal of so many columns, and what was written to it. */
function terminal(columns: number) {
  const written: string[] = [];
  const stream = { isTTY: true, columns, write: (text: string) => written.push(text) > 0 };
  return { stream: stream as unknown as NodeJS.WriteStream, written };
}

/** Two datasets halfway, one of them with large figures. */
async function watch(columns: number) {
  vi.stubEnv('TERM', 'xterm');
  const clock = manualClock();
  const { stream, written } = terminal(columns);
  const progress = createProgress(stream, clock);
  for (const dataset of ['voters', 'voting_rights_users']) {
    progress.report({ kind: 'request', dataset, retried: false });
    progress.report({ kind: 'partitions', dataset, total: 2345 });
    await clock.sleep(61_000);
    progress.report({ kind: 'partition', dataset, records: 1_234_567, verdict: verdictOf({ dataset }) });
  }
  progress.report({ kind: 'step', step: 'build tables' });
  return { progress, written };
}

const command = new RegExp(`(${String.fromCodePoint(27)}\\[\\d*[AJK]|\r|\n)`);

/** What the terminal shows in the end, without colours. */
function shown(written: readonly string[]): string[] {
  const lines: string[] = [];
  let row = 0;
  for (const piece of written.join('').split(command)) {
    const up = /\[(\d+)A$/.exec(piece)?.[1];
    if (up !== undefined) row -= Number(up);
    else if (piece === '\n') row += 1;
    else if (piece.endsWith('[J')) lines.length = Math.min(lines.length, row);
    else if (!['', '\r'].includes(piece) && !piece.endsWith('[K')) lines[row] = stripVTControlCharacters(piece);
  }
  return lines;
}

describe('the bars', () => {
  it('say all that there is to say where there is room', async () => {
    const { written } = await watch(160);
    expect(shown(written)).toEqual([
      expect.stringMatching(
        /^voters {15}─+ {2}1\/2,345 partitions {2}\S.* left {2}1,234,567 records {2}0\.0 requests\/s$/,
      ),
      expect.stringMatching(/^voting_rights_users {2}─+ {2}1\/2,345 partitions /),
      'building tables, checks and Parquet files',
    ]);
  });

  it('say how long the partitions that are left will take, by how long the others took', async () => {
    vi.stubEnv('TERM', 'xterm');
    const clock = manualClock();
    const { stream, written } = terminal(160);
    const progress = createProgress(stream, clock);
    const dataset = 'voters';
    await clock.sleep(50_000);
    progress.report({ kind: 'partitions', dataset, total: 4 });
    await clock.sleep(20_000);
    progress.report({ kind: 'partition', dataset, records: 1, verdict: verdictOf({ dataset }) });
    progress.end();
    // Three more at 20 s each; what went before the first of them counts for nothing.
    expect(shown(written)[0]).toContain('  1 min 0 s left  ');
  });

  it('leave out what does not fit, whole, from the end', async () => {
    const whole = shown((await watch(200)).written).map((line) => line.split(/ {2,}/));
    for (let columns = 48; columns < 130; columns += 1) {
      const lines = shown((await watch(columns)).written);
      expect(lines).toHaveLength(whole.length);
      for (const line of lines.slice(0, 2)) expect(line).toContain('  1/2,345 partitions');
      for (const [index, line] of lines.entries()) {
        expect(shownWidth(line)).toBeLessThan(columns);
        const parts = line.split(/ {2,}/);
        // The bar goes first.
        const all = whole[index]!;
        const shownOf = all[1] === parts[1] ? all : all.toSpliced(1, 1);
        expect(parts).toEqual(shownOf.slice(0, parts.length));
        const next = shownOf[parts.length] ?? ' '.repeat(columns);
        expect(shownWidth(line) + 2 + next.length).toBeGreaterThanOrEqual(columns);
      }
    }
  });

  it.each([60, 160])('say what a request waits for, until the next one, on %i columns', async (columns) => {
    const { progress, written } = await watch(columns);
    const before = shown(written);
    progress.report({ kind: 'wait', dataset: 'voters', milliseconds: 60_000, why: 'status 429' });
    expect(shown(written)).toEqual([before[0], '  status 429; retrying in 1 min 0 s', ...before.slice(1)]);
    progress.report({ kind: 'request', dataset: 'voters', retried: true });
    progress.end();
    expect(shown(written).join()).not.toContain('429');
  });

  it('let warnings pass above them, broken between words', async () => {
    const { progress, written } = await watch(60);
    const bars = shown(written);
    const message = 'voters: the source has no records of partitions that were asked for: 1109, 1110, 1111.';
    progress.report({ kind: 'warning', message });
    const lines = shown(written.slice(-2));
    expect(lines.slice(0, 2)).toEqual([
      'warning: voters: the source has no records of partitions',
      '  that were asked for: 1109, 1110, 1111.',
    ]);
    expect(lines.slice(2)).toEqual(bars);
  });

  it('are as wide as on 80 columns where the terminal does not say how wide it is', async () => {
    expect(shown((await watch(0)).written)).toEqual(shown((await watch(80)).written));
  });

  it('stay above the summary of a run that came to its end', async () => {
    const { progress, written } = await watch(100);
    progress.end();
    expect(shown(written)).toHaveLength(2);
    const writings = written.length;
    progress.abandon();
    expect(written).toHaveLength(writings);
  });

  it('are taken away where a run failed, from the first column on', async () => {
    const { progress, written } = await watch(100);
    progress.abandon();
    expect(shown(written)).toEqual([]);
    expect(written.at(-1)).toMatch(/^\r/);
    const writings = written.length;
    progress.report({ kind: 'step', step: 'verify' });
    expect(written).toHaveLength(writings);
  });
});

it('lines for a log say how far a long list has come, and nothing of a short one', () => {
  const written: string[] = [];
  const stream = { isTTY: false, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream;
  const { report } = createProgress(stream, manualClock());
  const ask = (dataset: string, times: number): void => {
    for (let time = 0; time < times; time += 1) report({ kind: 'request', dataset, retried: false });
  };
  ask('voters', 99);
  ask('users', 250);
  report({ kind: 'partitions', dataset: 'users', total: 84 });
  ask('users', 100);
  report({ kind: 'wait', dataset: 'users', milliseconds: 7_100, why: 'no complete response within 30 s' });
  expect(written.map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /, ''))).toEqual([
    'users: reading the full listing, 100 requests\n',
    'users: reading the full listing, 200 requests\n',
    'warning: users: no complete response within 30 s; retrying in 7 s\n',
  ]);
});
