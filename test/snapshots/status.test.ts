/** Whether the data are fresh goes by the newest success; a night that failed or never came does not stay unseen. */

import { expect, it } from 'vitest';
import type { RunLine } from '../../src/publish/runs-log.ts';
import { judgeStatus } from '../../src/snapshots/status.ts';

const hour = 3_600_000;
const now = new Date('2026-11-24T06:00:00Z');

/** A sync that began so many hours ago. */
const sync = (hours: number, outcome: RunLine['outcome'], more: Partial<RunLine> = {}): RunLine => ({
  run: `${hours} hours ago`,
  kind: 'sync',
  started_at: new Date(now.getTime() - hours * hour).toISOString(),
  finished_at: new Date(now.getTime() - hours * hour + 5000).toISOString(),
  outcome,
  exit_code: { failed: 4, refused: 3, interrupted: 137 }[outcome as 'failed'] ?? 0,
  source: 'test',
  snapshot: null,
  reason: '',
  requests: 1,
  retries: 0,
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
  ['failed, then tried again', [sync(24, 'published'), sync(4, 'failed'), sync(3, 'unchanged')], 'fresh', 0],
  ['another sync was under way', [sync(3, 'published'), sync(2, 'refused', { exit_code: 5 })], 'fresh', 0],
  ['a dry run alone', [sync(30, 'published'), sync(3, 'dry run')], 'stale', 6],
  ['a replay alone', [sync(30, 'published'), sync(3, 'published', { kind: 'replay' })], 'stale', 6],
])('%s', (_, lines, state, exitCode) => {
  expect(judgeStatus(lines, now, 26 * hour)).toMatchObject({ state, exitCode });
});
