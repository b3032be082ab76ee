/** Reports how a sync ended: to the recipients of notices, to a JSON log, and to the log of runs. */

import type { Notifier } from './notify.ts';
import { invocation } from './options/invocation.ts';
import { type allOptions, notifyOptions } from './options/all-options.ts';
import type { Values } from './options/option.ts';
import { isRekapError } from '../errors.ts';

type NoticeArguments = Values<typeof notifyOptions & Pick<typeof allOptions, 'log-format' | 'warehouse'>>;

export type NotifyArguments = NoticeArguments & {
  readonly 'base-url'?: string | undefined;
  readonly 'dry-run': boolean;
};

export function hasRecipients(args: Values<typeof notifyOptions>): boolean {
  return Object.keys(notifyOptions).some((name) => args[name as keyof typeof notifyOptions] !== undefined);
}

/** Returns null if there are no recipients. Throws as `readNotifier` does. */
export async function readNotices(args: NoticeArguments): Promise<Notifier | null> {
  if (!hasRecipients(args)) return null;
  const [{ readNotifier }, { writeWarning }] = await Promise.all([
    import('./notify.ts'),
    import('./print/event-log.ts'),
  ]);
  return readNotifier(args, (message) => writeWarning(message, args['log-format']));
}

/**
 * Runs a sync and reports how it ended, also if it fails before it begins.
 * A usage error is not a failed sync, so it is only logged.
 */
export async function notifyOthers(args: NotifyArguments, prepare: () => Promise<() => Promise<void>>): Promise<void> {
  const begunAt = new Date();
  const release = holdOutput();
  invocation.run = null;
  try {
    const notifier = await readNotices(args);
    const run = async (): Promise<void> => {
      const sync = await prepare();
      await notifier?.begin();
      await sync();
    };
    const failure = await run().then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (failure === null || !isUsageError(failure.error))
      await notifier?.end({ begunAt, run: invocation.run, failure });
    if (failure !== null) throw failure.error;
  } catch (error) {
    const isLog = args['log-format'] !== 'auto' || !process.stderr.isTTY;
    if (args['log-format'] === 'json' && !invocation.hasReportedFailure) {
      const { logFailure, logToStderr } = await import('./print/event-log.ts');
      logFailure(logToStderr('json'), error);
      invocation.hasReportedFailure = true;
    }
    invocation.isLog = isLog;
    // At a terminal, the user sees the failure.
    if (isLog && !args['dry-run'] && !isUsageError(error)) {
      const { recordEarlyFailure } = await import('../publish/record-run.ts');
      // A refused URL may contain a password.
      const source = URL.canParse(args['base-url'] ?? '') ? new URL(args['base-url']!).origin : '';
      await recordEarlyFailure({ warehouse: args.warehouse, source, begunAt }, error).catch(() => undefined);
    }
    throw error;
  } finally {
    release();
  }
}

/** Returns whether the command line is wrong. After a run began, an error is never a usage error. */
function isUsageError(error: unknown): boolean {
  return invocation.run === null && isRekapError(error, 'usage');
}

/**
 * Holds back errors of standard output, such as a full disk, so that they don't stop the work, such as a push.
 * Returns a function that passes the first error on to the original listeners.
 */
export function holdOutput(): () => void {
  const { stdout } = process;
  const before = stdout.listeners('error') as ((error: Error) => void)[];
  let failure: Error | null = null;
  const note = (error: Error): void => void (failure ??= error);
  stdout.removeAllListeners('error').on('error', note);
  return () => {
    stdout.off('error', note);
    for (const listener of before) stdout.on('error', listener);
    if (failure !== null) stdout.emit('error', failure);
  };
}
