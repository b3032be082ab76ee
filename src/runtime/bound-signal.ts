/** Signals with a time limit, and closing of several resources. */

import { setMaxListeners } from 'node:events';

export interface BoundSignal {
  readonly signal: AbortSignal;
  isLate(): boolean;
  /** Removes the timer and the listener, and aborts pending waits. Call it when the work is over. */
  end(): void;
}

/** Shared, because an abort without a reason creates an error with a stack each time. */
const over = new Error('The signal has ended.');

/** Returns a signal that is aborted with the outer one, or after some milliseconds with the reason from `whyLate`. */
export function boundSignal(outer: AbortSignal, milliseconds: number, whyLate: () => unknown): BoundSignal {
  const controller = new AbortController();
  // Each concurrent request adds a listener. Node warns about a leak above ten.
  setMaxListeners(0, controller.signal, outer);
  let late = false;
  const forward = (): void => controller.abort(outer.reason);
  if (outer.aborted) forward();
  outer.addEventListener('abort', forward, { once: true });
  const timer = setTimeout(
    () => {
      late = true;
      controller.abort(whyLate());
    },
    // A timeout above this maximum would fire at once.
    Math.min(milliseconds, 2 ** 31 - 1),
  );
  return {
    signal: controller.signal,
    isLate: () => late,
    end() {
      clearTimeout(timer);
      outer.removeEventListener('abort', forward);
      controller.abort(over);
    },
  };
}

type Closable = { close(): Promise<void> } | null;

export async function closeAll(resources: readonly Closable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const resource of resources) await resource?.close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Runs `open`. If it fails, closes the resources and throws its error. */
export async function orClose<Value>(resources: readonly Closable[], open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    await closeAll(resources).catch(() => undefined);
    throw error;
  }
}
