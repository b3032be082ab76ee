/** A signal with a bound on time of its own. */

import { setMaxListeners } from 'node:events';

export interface BoundSignal {
  readonly signal: AbortSignal;
  /** Whether it was aborted because its time was up. */
  isLate(): boolean;
  /** To be called when what it bounds is over: no timer and no listener is left behind, and nothing that waits goes on. */
  end(): void;
}

/** Said to whatever still listens when all is over; made once, for without a reason each abort makes one, with its stack. */
const over = new Error('What the signal bounds is over.');

/** A signal that is aborted with the outer one's reason, or after so many milliseconds with the reason that `whyLate` gives. */
export function boundSignal(outer: AbortSignal, milliseconds: number, whyLate: () => unknown): BoundSignal {
  const controller = new AbortController();
  // Every request and every wait under way listens, as many as --concurrency allows; Node would take more than ten for a leak.
  setMaxListeners(0, controller.signal);
  let late = false;
  const pass = (): void => controller.abort(outer.reason);
  if (outer.aborted) pass();
  outer.addEventListener('abort', pass, { once: true });
  const timer = setTimeout(
    () => {
      late = true;
      controller.abort(whyLate());
    },
    // A timer that is set for longer than it can count goes off at once.
    Math.min(milliseconds, 2 ** 31 - 1),
  );
  return {
    signal: controller.signal,
    isLate: () => late,
    end() {
      clearTimeout(timer);
      outer.removeEventListener('abort', pass);
      controller.abort(over);
    },
  };
}
