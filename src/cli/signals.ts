/** Turns SIGINT and SIGTERM into an abort signal; a second one, unless it comes with the first, ends the process at once. */

import { InterruptedError } from '../errors.ts';
import type { Clock } from '../surroundings.ts';
import { systemClock } from '../system-clock.ts';

/** What else than to begin again an interrupted command has to offer. */
const resume = 'Nothing was published; the same command with --resume goes on from the pages that were landed.';

/**
 * Milliseconds within which signals are one and the same wish to end: timeout(1), for one, sends its signal to the process and then to
 * its whole group.
 */
const together = 1000;

/**
 * The signal, and a function that stops listening.
 *
 * @param offers `next`: what to say that became of the command.
 */
export function listenForSignals(
  {
    canResume = false,
    next = canResume ? resume : undefined,
  }: { readonly canResume?: boolean; readonly next?: string } = {},
  clock: Pick<Clock, 'monotonic'> = systemClock,
): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  let first = 0;
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((name) => {
    const listener = (): void => {
      const reason = new InterruptedError(name, next);
      if (!controller.signal.aborted) first = clock.monotonic();
      else if (clock.monotonic() - first > together) process.exit(reason.exitCode);
      controller.abort(reason);
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return {
    signal: controller.signal,
    stop() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}
