/** Turns SIGINT, SIGTERM and SIGHUP into an abort signal; a second one, unless it comes with the first, ends the process at once. */

import { constants, readFileSync } from 'node:fs';
import { invocation } from './options/invocation.ts';
import type { LogFormat } from './print/event-log.ts';
import { createProgress } from './print/progress.ts';
import { interruptedBy } from '../errors.ts';
import type { Project } from '../project/declaration.ts';
import type { SyncContext, SyncResult } from '../run-options.ts';
import { type Clock, systemClock } from '../runtime/context.ts';

/** What else than to begin again an interrupted command has to offer. */
const resume = 'Nothing was published. To continue from the stored pages, run the same command with --resume.';

/**
 * Milliseconds within which signals are one and the same wish to end: timeout(1), for one, sends its signal to the process and then to
 * its whole group.
 */
const together = 1000;

/**
 * Whether nohup has started this process, which then goes on when its terminal is closed. Node forgets at its start that SIGHUP was
 * ignored. But a shell says in `_` what it has started, and on Linux nohup puts a file that can only be written in the place of a
 * terminal to read from, which a script passes on to what it starts.
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

/** Whoever listens now: a sync does within a schedule. */
const listening = new Set<AbortController>();

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
  // What begins within a command that is told to end, such as a sync of a schedule, ends at once.
  const told = [...listening].find(({ signal }) => signal.aborted);
  if (told !== undefined) controller.abort(told.signal.reason);
  listening.add(controller);
  let first = 0;
  const passesOver = isUnderNohup() ? 'SIGHUP' : null;
  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => {
    const listener = (): void => {
      if (name === passesOver) return;
      const reason = interruptedBy(name, next);
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
      listening.delete(controller);
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}

export async function runVisibly(
  project: Project,
  asJson: boolean,
  carryOut: (around: SyncContext) => Promise<SyncResult>,
  {
    name,
    logFormat,
    ...offers
  }: { readonly name: string; readonly canResume?: boolean; readonly logFormat: LogFormat },
): Promise<void> {
  const trace = (await import('../notify/spans.ts')).traceRun(name, systemClock);
  const signals = listenForSignals(offers);
  const progress = createProgress(process.stderr, systemClock, logFormat);
  try {
    const result = await carryOut({
      clock: systemClock,
      random: Math.random,
      report(event) {
        if (event.kind === 'begin') invocation.run = event.run;
        progress.report(event);
        trace.report(event);
      },
      signal: signals.signal,
    });
    progress.end(result);
    trace.end(result);
    // The declaration is long, and the manifest file holds it.
    const { project: _project, ...manifest } = result.manifest;
    if (asJson) (await import('./print/terminal.ts')).printJson({ ...result, manifest });
    else process.stdout.write((await import('./print/sync-summary.ts')).renderSummary(result, project));
  } catch (error) {
    invocation.hasReportedFailure = progress.fail(error);
    trace.fail(error);
    throw error;
  } finally {
    progress.abandon();
    signals.stop();
  }
}
