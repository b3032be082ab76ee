/** Progress on a terminal fits its width, and disappears if the run fails. */

import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { shownWidth } from '../../../src/cli/print/wrap-text.ts';
import { createProgress } from '../../../src/cli/print/progress.ts';
import { verdictOf } from '../../support/manifests.ts';
import { manualClock } from '../../../src/testing/manual-clock.ts';

/** A terminal of so many columns, and what was written to it. */
function terminal(columns: number) {
  const written: string[] = [];
  const stream = { isTTY: true, columns, write: (text: string) => written.push(text) > 0 };
  return { stream: stream as unknown as NodeJS.WriteStream, written };
}

/** Shows two datasets halfway. */
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
  it('estimate the remaining time from the partitions so far', async () => {
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
    // Three more at 20 s each. The time before the first one doesn't count.
    expect(shown(written)[0]).toContain('  1 min 0 s left  ');
  });

  it('fit any width, and always show the number of partitions', async () => {
    for (let columns = 48; columns < 130; columns += 1) {
      const lines = shown((await watch(columns)).written);
      for (const line of lines) expect(shownWidth(line)).toBeLessThan(columns);
      for (const line of lines.slice(0, 2)) expect(line).toContain('  1/2,345 partitions');
    }
  });

  it.each([60, 160])('show why a request waits until the next one, on %i columns', async (columns) => {
    const { progress, written } = await watch(columns);
    const before = shown(written);
    progress.report({ kind: 'wait', dataset: 'voters', milliseconds: 60_000, why: 'status 429' });
    expect(shown(written)).toEqual([before[0], '  status 429; retrying in 1 min 0 s', ...before.slice(1)]);
    progress.report({ kind: 'request', dataset: 'voters', retried: true });
    progress.end();
    expect(shown(written).join()).not.toContain('429');
  });

  it('let warnings pass above them, wrapped between words', async () => {
    const { progress, written } = await watch(60);
    const bars = shown(written);
    const message = 'voters: the source has no records of partitions that were requested: 1109, 1110, 1111.';
    progress.report({ kind: 'warning', message });
    const lines = shown(written.slice(-2));
    expect(lines.slice(0, 2)).toEqual([
      'warning: voters: the source has no records of partitions',
      '  that were requested: 1109, 1110, 1111.',
    ]);
    expect(lines.slice(2)).toEqual(bars);
  });

  it('are as wide as on 80 columns where the terminal does not say how wide it is', async () => {
    expect(shown((await watch(0)).written)).toEqual(shown((await watch(80)).written));
  });

  it.each([
    ['stay above the summary of a finished run', 'end', 2],
    ['are removed if the run fails', 'abandon', 0],
  ] as const)('%s', async (_, finish, lines) => {
    const { progress, written } = await watch(100);
    progress[finish]();
    expect(shown(written)).toHaveLength(lines);
    const writes = written.length;
    progress.report({ kind: 'step', step: 'verify' });
    progress.abandon();
    expect(written).toHaveLength(writes);
  });
});

it('a log has the progress of a long list only', () => {
  const written: string[] = [];
  const stream = { isTTY: false, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream;
  const { report } = createProgress(stream, manualClock());
  const request = (dataset: string, times: number): void => {
    for (let time = 0; time < times; time += 1) report({ kind: 'request', dataset, retried: false });
  };
  request('voters', 99);
  request('users', 250);
  report({ kind: 'partitions', dataset: 'users', total: 84 });
  request('users', 100);
  report({ kind: 'wait', dataset: 'users', milliseconds: 7_100, why: 'no complete response within 30 s' });
  expect(written.map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /, ''))).toEqual([
    'users: reading the full listing, 100 requests\n',
    'users: reading the full listing, 200 requests\n',
    'warning: users: no complete response within 30 s; retrying in 7 s\n',
  ]);
});
