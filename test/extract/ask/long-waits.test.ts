/** A wait that a person would notice is told of, and those that go on together only once. */

import { expect, it } from 'vitest';
import { LongWaits } from '../../../src/extract/ask/long-waits.ts';
import type { Failure } from '../../../src/extract/ask/retry-plan.ts';
import type { RunEvent } from '../../../src/context.ts';
import { manualClock } from '../../support/manual-clock.ts';

const throttled: Failure = { kind: 'status', status: 429, retryAfter: '60' };

function watch() {
  const clock = manualClock();
  const told: string[] = [];
  const report = (event: RunEvent): void =>
    void (event.kind === 'wait' && told.push(`${event.dataset} ${event.milliseconds} ${event.why}`));
  return { clock, told, waits: new LongWaits(clock, report, 30_000) };
}

it('a long wait is told of once, however many requests share it, and again when it comes again', async () => {
  const { clock, told, waits } = watch();
  for (const jitter of [0, 40, 90]) waits.note('voters', throttled, 60_000 + jitter);
  waits.note('voting_rights_users', throttled, 60_010);
  expect(told).toEqual(['voters 60000 status 429']);
  await clock.sleep(60_100);
  waits.note('voting_rights_users', throttled, 60_000);
  expect(told).toEqual(['voters 60000 status 429', 'voting_rights_users 60000 status 429']);
});

it('a short wait is not, unless it follows an answer that was waited for in vain', () => {
  const { told, waits } = watch();
  waits.note('voters', { kind: 'connection', code: 'ECONNRESET' }, 900);
  waits.note('voters', throttled, 4999);
  expect(told).toEqual([]);
  waits.note('voters', { kind: 'timeout' }, 500);
  expect(told).toEqual(['voters 500 no whole answer within 30 s']);
});
