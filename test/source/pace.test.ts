/** Concurrency halves when the source has problems, and rises again slowly, between 1 and its maximum. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Pace } from '../../src/source/source-health.ts';
import { holds } from '../support/properties.ts';

function succeed(pace: Pace, times: number): void {
  for (let time = 0; time < times; time += 1) pace.noteSuccess();
}

it('halves once for a burst of problems, and again for a request that was sent afterwards', () => {
  const pace = new Pace(8);
  const burst = Array.from({ length: 8 }, () => pace.begin());
  for (const round of burst) pace.slowDown(round);
  expect(pace.concurrency).toBe(4);
  const after = pace.begin();
  pace.slowDown(burst[0]!);
  expect(pace.concurrency).toBe(4);
  pace.slowDown(after);
  expect(pace.concurrency).toBe(2);
});

/** The concurrency after each step: a number of successes, or a problem. */
it.each<[string, number, (number | 'problem')[], number[]]>([
  ['rises by 1 after every 20 successes', 8, ['problem', 19, 1, 19, 1], [4, 4, 5, 5, 6]],
  ['counts successes from 0 after a problem', 8, ['problem', 19, 'problem', 19, 1], [4, 4, 2, 2, 3]],
  ['ignores successes at its maximum', 4, [1000, 'problem', 19], [4, 2, 2]],
])('%s', (_what, maximum, steps, expected) => {
  const pace = new Pace(maximum);
  const seen = steps.map((step) => {
    if (step === 'problem') pace.slowDown(pace.begin());
    else succeed(pace, step);
    return pace.concurrency;
  });
  expect(seen).toEqual(expected);
});

const steps = fc.array(fc.oneof(fc.constant('problem' as const), fc.nat(50)), { maxLength: 60 });

holds(
  'stays between 1 and its maximum, and reaches it again',
  fc.property(fc.integer({ min: 1, max: 32 }), steps, (maximum, events) => {
    const pace = new Pace(maximum);
    for (const event of events) {
      const before = pace.concurrency;
      if (event === 'problem') pace.slowDown(pace.begin());
      else succeed(pace, event);
      const [lowest, highest] = event === 'problem' ? [Math.floor(before / 2), before / 2] : [before, maximum];
      expect(pace.concurrency).toBeGreaterThanOrEqual(Math.max(1, lowest));
      expect(pace.concurrency).toBeLessThanOrEqual(Math.max(1, highest));
    }
    succeed(pace, 20 * maximum);
    expect(pace.concurrency).toBe(maximum);
  }),
  { runs: 50 },
);
