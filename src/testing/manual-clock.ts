/** A clock for tests: sleeping takes no time, and is recorded. */

import type { Clock } from '../runtime/context.ts';

/** A clock whose sleeps take no time. */
export interface ManualClock extends Clock {
  /** All sleeps so far, in milliseconds. */
  readonly sleeps: number[];
}

/** Returns a clock that starts at this time. Retries and their waits then take no time. */
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
