/** How things end: a signal with a bound on time, and closing several things, all of them. */

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

/** What can be closed; null where there was nothing to open. */
type Closable = { close(): Promise<void> } | null;

/** Closes one after the other, in this order; then throws the first failure, if there was one. */
export async function closeAll(things: readonly Closable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const thing of things) await thing?.close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** What `open` gives; where it fails, the things that were opened before it are closed, and its error is the one that counts. */
export async function orClose<Value>(things: readonly Closable[], open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    await closeAll(things).catch(() => undefined);
    throw error;
  }
}
