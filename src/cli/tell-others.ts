/** Around a sync: whoever wants to hear is told how it went, a log of JSON gets every failure, and the log of runs a line. */

import type { Notifier } from './notify.ts';
import { invocation } from './options/invocation.ts';
import { notifyOptions } from './options/notify-options.ts';
import type { Values } from './options/option.ts';
import type { logOptions, warehouseOption } from './options/shared.ts';
import { isRekapError } from '../errors.ts';

type HeardArguments = Values<typeof notifyOptions & typeof logOptions & typeof warehouseOption>;

/** What of a sync's options counts here. */
export type NotifyArguments = HeardArguments & {
  readonly 'base-url'?: string | undefined;
  readonly 'dry-run': boolean;
};

/** Recipients of the notices; null if none are configured. @throws `usage` for a malformed address, `configuration` for a file that cannot be read. */
export async function readNotices(args: HeardArguments): Promise<Notifier | null> {
  const isHeard = Object.keys(notifyOptions).some((name) => args[name as keyof typeof notifyOptions] !== undefined);
  if (!isHeard) return null;
  const [{ readNotifier }, { writeWarning }] = await Promise.all([
    import('./notify.ts'),
    import('./print/event-log.ts'),
  ]);
  return readNotifier(args, (message) => writeWarning(message, args['log-format']));
}

/**
 * Carries out a sync and reports how it ended, also if it fails before it begins. A usage error is not a failed sync, so it is neither
 * reported nor recorded. A log of JSON gets every failure.
 *
 * @param prepare Checks the settings, and returns the sync.
 */
export async function notifyOthers(args: NotifyArguments, prepare: () => Promise<() => Promise<void>>): Promise<void> {
  const begunAt = new Date();
  const release = holdOutput();
  invocation.run = null;
  try {
    const notifier = await readNotices(args);
    const carryOut = async (): Promise<void> => {
      const sync = await prepare();
      await notifier?.begin();
      await sync();
    };
    const failure = await carryOut().then(
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
    // At a terminal, the person who runs it sees the failure.
    if (isLog && !args['dry-run'] && !isUsageError(error)) {
      const { recordUnbegun } = await import('../publish/record-run.ts');
      // An address that was refused may hold a password.
      const source = URL.canParse(args['base-url'] ?? '') ? new URL(args['base-url']!).origin : '';
      await recordUnbegun({ warehouse: args.warehouse, source, begunAt }, error).catch(() => undefined);
    }
    throw error;
  } finally {
    release();
  }
}

/** Whether what was typed is wrong. A run that began never ends so: what it meets, a schedule meets too. */
function isUsageError(error: unknown): boolean {
  return invocation.run === null && isRekapError(error, 'usage');
}

/**
 * Lets standard output fail, as on a full disk or with a reader that is gone, without ending the work behind it, such as a push. What ends
 * the process then hears of the failure when it is released.
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
