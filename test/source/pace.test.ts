/** The pace falls by half when the source complains and rises again slowly, between one and what was asked for. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/source/source-health.ts';
import { holds } from '../support/properties.ts';

function answer(pace: Pace, times: number): void {
  for (let time = 0; time < times; time += 1) pace.noteSuccess();
}

/** Lets everything that can go on now go on. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('Pace', () => {
  it('starts at what was asked for', () => {
    expect(new Pace(6).concurrency).toBe(6);
  });

  it('halves once for a burst of problems', () => {
    const pace = new Pace(8);
    const burst = Array.from({ length: 8 }, () => pace.begin());
    for (const round of burst) pace.slowDown(round);
    expect(pace.concurrency).toBe(4);
  });

  it('halves again for a problem about a request that was sent afterwards', () => {
    const pace = new Pace(8);
    const before = pace.begin();
    pace.slowDown(before);
    const after = pace.begin();
    pace.slowDown(before);
    expect(pace.concurrency).toBe(4);
    pace.slowDown(after);
    expect(pace.concurrency).toBe(2);
  });

  it('never falls below one', () => {
    const pace = new Pace(5);
    const seen = Array.from({ length: 5 }, () => {
      pace.slowDown(pace.begin());
      return pace.concurrency;
    });
    expect(seen).toEqual([2, 1, 1, 1, 1]);
  });

  it('rises by one after 20 answers, and by one more after 20 others', () => {
    const pace = new Pace(8);
    pace.slowDown(pace.begin());
    answer(pace, 19);
    expect(pace.concurrency).toBe(4);
    answer(pace, 1);
    expect(pace.concurrency).toBe(5);
    answer(pace, 19);
    expect(pace.concurrency).toBe(5);
    answer(pace, 1);
    expect(pace.concurrency).toBe(6);
  });

  it('counts the 20 answers anew after a problem', () => {
    const pace = new Pace(8);
    pace.slowDown(pace.begin());
    answer(pace, 19);
    pace.slowDown(pace.begin());
    answer(pace, 19);
    expect(pace.concurrency).toBe(2);
    answer(pace, 1);
    expect(pace.concurrency).toBe(3);
  });

  it('saves up no answers while it is at its ceiling', () => {
    const pace = new Pace(4);
    answer(pace, 1000);
    expect(pace.concurrency).toBe(4);
    pace.slowDown(pace.begin());
    answer(pace, 19);
    expect(pace.concurrency).toBe(2);
  });

  const steps = fc.array(fc.oneof(fc.constant('problem' as const), fc.nat(50)), { maxLength: 60 });

  holds(
    'stays between one and its ceiling, whatever comes',
    fc.property(fc.integer({ min: 1, max: 32 }), steps, (ceiling, events) => {
      const pace = new Pace(ceiling);
      for (const event of events) {
        const before = pace.concurrency;
        if (event === 'problem') pace.slowDown(pace.begin());
        else answer(pace, event);
        const [lowest, highest] = event === 'problem' ? [Math.floor(before / 2), before / 2] : [before, ceiling];
        expect(pace.concurrency).toBeGreaterThanOrEqual(Math.max(1, lowest));
        expect(pace.concurrency).toBeLessThanOrEqual(Math.max(1, highest));
      }
      answer(pace, 20 * ceiling);
      expect(pace.concurrency).toBe(ceiling);
    }),
    { runs: 300 },
  );

  it('lets no more tasks run at a time than it says, and lets more run as soon as it rises', async () => {
    const pace = new Pace(4);
    pace.slowDown(pace.begin());
    const running = new Set<() => void>();
    let started = 0;
    const tasks = Array.from({ length: 6 }, () =>
      pace.limit(async () => {
        started += 1;
        await new Promise<void>((resolve) => running.add(resolve));
      }),
    );
    await turn();
    expect(started).toBe(2);
    answer(pace, 20);
    await turn();
    expect(started).toBe(3);
    for (let round = 0; round < 6; round += 1) {
      for (const finish of running) finish();
      running.clear();
      await turn();
      expect(running.size).toBeLessThanOrEqual(3);
    }
    await Promise.all(tasks);
    expect(started).toBe(6);
  });
});
