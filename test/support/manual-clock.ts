/** A clock that tests own: sleeping takes no time, and is written down. */

import type { Clock } from '../../src/runtime/context.ts';

export interface ManualClock extends Clock {
  /** Every sleep requested, in milliseconds. */
  readonly sleeps: number[];
}

export function manualClock(start = new Date('2026-11-20T03:00:00Z')): ManualClock {
  let now = start.getTime();
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => new Date(now),
    monotonic: () => now,
    async sleep(milliseconds, signal) {
      signal?.throwIfAborted();
      sleeps.push(milliseconds);
      now += milliseconds;
    },
  };
}
