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
  return { progress, written };
}

/** Returns what the terminal shows in the end, without colors. */
function shown(written: readonly string[]): string {
  const lines = stripVTControlCharacters(written.join('')).split('\n');
  return lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)).join('\n');
}

describe('the line', () => {
  it('estimates the remaining time from the partitions so far', async () => {
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
    expect(shown(written)).toContain('  1 min 0 s left  ');
  });

  it('fits any width, and always shows the number of partitions', async () => {
    for (let columns = 48; columns < 130; columns += 1) {
      const line = shown((await watch(columns)).written);
      expect(shownWidth(line)).toBeLessThan(columns);
      expect(line).toMatch(/^2\/4,690 partitions/);
    }
    expect(shown((await watch(0)).written)).toBe(shown((await watch(80)).written));
  });

  it('shows why a request waits until the next one', async () => {
    const { progress, written } = await watch(60);
    progress.report({ kind: 'wait', dataset: 'voters', milliseconds: 60_000, why: 'status 429' });
    expect(shown(written)).toMatch(/^status 429; retrying in 1 min 0 s  2\/4,690/);
    progress.report({ kind: 'request', dataset: 'voters', retried: true });
    progress.end();
    expect(shown(written)).not.toContain('429');
  });

  it('lets warnings pass above it', async () => {
    const { progress, written } = await watch(60);
    const before = shown(written);
    progress.report({ kind: 'warning', message: 'voters: the list is short.' });
    expect(shown(written)).toBe(`warning: voters: the list is short.\n${before}`);
  });

  it.each([
    ['stays above the summary of a finished run', 'end', /^2\/4,690 .*\n$/],
    ['is removed if the run fails', 'abandon', /^$/],
  ] as const)('%s', async (_, finish, text) => {
    const { progress, written } = await watch(100);
    progress[finish]();
    expect(shown(written)).toMatch(text);
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
