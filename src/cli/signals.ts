/** Turns SIGINT and SIGTERM into an abort signal; a second one ends the process at once. */

import { InterruptedError } from '../errors.ts';

/** The same failure, with what else than to begin again the interrupted command has to offer. */
class ResumableInterruption extends InterruptedError {
  override readonly name = 'InterruptedError';
  override readonly next =
    'The snapshot before stays as it was; the same command with --resume goes on from the pages that were landed.';
}

/** The signal, and a function that stops listening. */
export function listenForSignals({ canResume = false } = {}): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((name) => {
    const listener = (): void => {
      const reason = canResume ? new ResumableInterruption(name) : new InterruptedError(name);
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
