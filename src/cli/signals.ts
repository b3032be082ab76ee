/** Turns SIGINT, SIGTERM and SIGHUP into an abort signal. A second signal ends the process at once. */

import { constants, readFileSync } from 'node:fs';
import { interruptedBy, tookTooLong } from '../errors.ts';
import { boundSignal } from '../runtime/bound-signal.ts';
import { type Clock, systemClock } from '../runtime/context.ts';

/** Passes `run` an abort signal. If a system signal or the time limit aborts it, throws the reason. */
export async function withSignals<Value>(
  { what = 'command', seconds = Infinity, next }: { what?: string; seconds?: number | undefined; next?: string },
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const signals = listenForSignals({ next });
  const milliseconds = seconds * 1000;
  const { signal, end } = boundSignal(signals.signal, milliseconds, () => tookTooLong(what, milliseconds));
  try {
    return await run(signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    end();
    signals.stop();
  }
}

const resumeAdvice = 'Nothing was published. To continue from the stored pages, run the same command with --resume.';

/** Milliseconds within which signals count as one, because timeout(1) signals the process and then its group. */
const duplicateWindow = 1000;

/**
 * Returns whether nohup started this process. Node resets the ignored SIGHUP, so this looks for other traces.
 * A shell sets `_` to the program it starts. On Linux, nohup replaces a terminal as stdin by a write-only file, which children inherit.
 */
function isUnderNohup(): boolean {
  if (/(?:^|\/)nohup$/.test(process.env['_'] ?? '')) return true;
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync('/proc/self/fdinfo/0', 'utf8'))?.[1];
    return (Number.parseInt(flags ?? '0', 8) & 3) === constants.O_WRONLY;
  } catch {
    return false;
  }
}

/** Active listeners, several if a schedule runs a sync. */
const active = new Set<AbortController>();

/** @param options.next Advice of the error for an interrupted command. */
export function listenForSignals(
  {
    canResume = false,
    next = canResume ? resumeAdvice : undefined,
  }: { readonly canResume?: boolean; readonly next?: string | undefined } = {},
  clock: Pick<Clock, 'monotonic'> = systemClock,
): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  // A sync that begins in an interrupted schedule ends at once.
  const aborted = [...active].find(({ signal }) => signal.aborted);
  if (aborted !== undefined) controller.abort(aborted.signal.reason);
  active.add(controller);
  let first = 0;
  const ignored = isUnderNohup() ? 'SIGHUP' : null;
  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => {
    const listener = (): void => {
      if (name === ignored) return;
      const reason = interruptedBy(name, next);
      if (!controller.signal.aborted) first = clock.monotonic();
      else if (clock.monotonic() - first > duplicateWindow) process.exit(reason.exitCode);
      controller.abort(reason);
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  return {
    signal: controller.signal,
    stop() {
      active.delete(controller);
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}
