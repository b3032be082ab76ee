/** Freshness depends on the newest successful sync, and failed or missing syncs are reported. */

import { expect, it } from 'vitest';
import type { RunLine } from '../../src/warehouse/runs-log.ts';
import { judgeStatus, lastBegun } from '../../src/snapshots/freshness.ts';
import { runAt } from '../support/all-runs.ts';

const hour = 3_600_000;
const now = new Date('2026-11-24T06:00:00Z');

/** A sync that started this many hours ago. */
const sync = (hours: number, outcome: RunLine['outcome'], more: Partial<RunLine> = {}): RunLine =>
  runAt('24T06:00', {
    started_at: new Date(now.getTime() - hours * hour).toISOString(),
    outcome,
    exit_code: { failed: 4, refused: 3, interrupted: 137 }[outcome as 'failed'] ?? 0,
    ...more,
  });

it.each<[string, RunLine[], string, number]>([
  ['nothing ever ran', [], 'stale', 6],
  ['published tonight', [sync(27, 'published'), sync(3, 'published')], 'fresh', 0],
  ['unchanged tonight', [sync(27, 'published'), sync(3, 'unchanged')], 'fresh', 0],
  ['a night was missed', [sync(51, 'published'), sync(27, 'unchanged')], 'stale', 6],
  ['failed tonight', [sync(24, 'published'), sync(3, 'failed')], 'failed', 7],
  ['refused tonight', [sync(24, 'published'), sync(3, 'refused')], 'failed', 7],
  ['killed tonight', [sync(24, 'published'), sync(3, 'interrupted')], 'failed', 7],
  ['failed for days', [sync(75, 'published'), sync(27, 'failed'), sync(3, 'failed')], 'stale', 6],
  ['failed, then retried', [sync(24, 'published'), sync(4, 'failed'), sync(3, 'unchanged')], 'fresh', 0],
  ['another sync was running', [sync(3, 'published'), sync(2, 'refused', { exit_code: 5 })], 'fresh', 0],
  ['a dry run alone', [sync(30, 'published'), sync(3, 'dry run')], 'stale', 6],
  ['a replay alone', [sync(30, 'published'), sync(3, 'published', { kind: 'replay' })], 'stale', 6],
])('status if %s', (_, lines, state, exitCode) => {
  expect(judgeStatus(lines, now, 26 * hour)).toMatchObject({ state, exitCode });
});

const push = (hours: number, outcome: RunLine['outcome']): RunLine => sync(hours, outcome, { kind: 'push', run: null });

it.each<[string, RunLine[], string, number | null]>([
  ['a failed push', [sync(3, 'published'), push(2, 'failed')], 'failed', 2],
  ['a failed and an interrupted push', [sync(3, 'published'), push(2, 'failed'), push(1, 'interrupted')], 'failed', 2],
  ['an interrupted push', [sync(3, 'published'), push(2, 'pushed'), push(1, 'interrupted')], 'fresh', null],
  ['a failed and a successful push', [sync(3, 'published'), push(2, 'failed'), push(1, 'pushed')], 'fresh', null],
  ['a failed push and a failed sync', [sync(3, 'published'), push(2, 'failed'), sync(1, 'failed')], 'failed', 1],
])('status after %s', (_, lines, state, failed) => {
  const status = judgeStatus(lines, now, 26 * hour);
  expect(status.state).toBe(state);
  expect(status.failure).toEqual(
    failed === null ? null : lines.find(({ started_at }) => Date.parse(started_at) === now.getTime() - failed * hour),
  );
});

it.each<[number, number, string]>([
  [26 * hour, 26 * hour, 'fresh'],
  [26 * hour + 1, 26 * hour, 'stale'],
])('an age of %i ms, with a maximum of %i, is %s', (age, maxAge, state) => {
  expect(judgeStatus([sync(age / hour, 'published')], now, maxAge)).toMatchObject({ state, age });
});

it('has no negative age after the clock was set back', () => {
  expect(judgeStatus([sync(-5, 'published')], now, hour)).toMatchObject({ state: 'fresh', age: 0 });
});

it.each<[string, RunLine[], number | null]>([
  ['no sync', [], null],
  ['only an interrupted sync', [sync(3, 'interrupted')], null],
  ['a published and an interrupted sync', [sync(27, 'published'), sync(3, 'interrupted')], 27],
  ['a failed sync', [sync(27, 'published'), sync(3, 'failed')], 3],
  ['a refused sync', [sync(27, 'published'), sync(3, 'refused')], 3],
  ['a sync that found the warehouse locked', [sync(27, 'published'), sync(3, 'refused', { exit_code: 5 })], 27],
  [
    'a dry run, a replay, a push and a pull',
    [
      sync(27, 'published'),
      sync(5, 'dry run'),
      sync(4, 'reproduced', { kind: 'replay' }),
      push(3, 'pushed'),
      sync(2, 'pulled', { kind: 'pull' }),
    ],
    27,
  ],
])('a schedule continues from the newest finished sync: %s', (_, lines, hours) => {
  expect(lastBegun(lines)).toEqual(hours === null ? null : new Date(now.getTime() - hours * hour));
});
