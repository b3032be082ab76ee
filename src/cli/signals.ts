/** Turns SIGINT and SIGTERM into an abort signal; a second one ends the process at once. */

import { InterruptedError } from '../errors.ts';

/** The signal, and a function that stops listening. */
export function listenForSignals(): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((name) => {
    const listener = (): void => {
      const reason = new InterruptedError(name);
      if (controller.signal.aborted) process.exit(reason.exitCode);
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
