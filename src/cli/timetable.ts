/** Runs syncs on a cron schedule, and retries those that fail. */

import { usageError } from './options/usage-error.ts';
import { Cron } from 'croner';
import { ExitCode, messageOf, RekapError } from '../errors.ts';
import type { Clock } from '../runtime/context.ts';

export interface Timetable {
  next(after: Date): Date;
  /** Returns the last time until `now`; null if there is none. */
  latest(now: Date): Date | null;
}

/**
 * @param cron Five fields: minute, hour, day of the month, month, day of the week; or a nickname such as @daily.
 * @throws `usage` if the expression is invalid or never occurs.
 */
export function readTimetable(cron: string, timezone: string): Timetable {
  const example =
    'Use five fields, such as --cron "0 3 * * *": minute, hour, day of the month, month, day of the week.';
  const refuse = (why: string, cause?: unknown): RekapError =>
    usageError(`${JSON.stringify(cron)} is not a cron expression: ${why}`, example, cause);
  // Croner also accepts a date, which occurs only once.
  if (!/^(@\w+|\S+(\s+\S+){4})$/.test(cron.trim())) throw refuse('it does not have five fields.');
  let times: Cron;
  try {
    times = new Cron(cron, { timezone, mode: '5-part' });
  } catch (error) {
    throw refuse(messageOf(error).replace(/^CronPattern: /, ''), error);
  }
  if (times.nextRun() === null) throw usageError(`The time ${JSON.stringify(cron)} never occurs.`, example);
  return {
    next: (after) => times.nextRun(after)!,
    // previousRuns excludes the instant itself.
    latest: (now) => times.previousRuns(1, new Date(now.getTime() + 1))[0] ?? null,
  };
}

export type ScheduleEvent =
  | { readonly kind: 'wait'; readonly until: Date }
  /** A scheduled sync was missed and starts now. `missed` is null if no sync ever ran. */
  | { readonly kind: 'catch up'; readonly missed: Date | null }
  | { readonly kind: 'retry'; readonly attempt: number; readonly milliseconds: number; readonly why: string };

export interface Schedule {
  readonly timetable: Timetable;
  /** When the newest sync began; null if none ran. */
  readonly lastBegun: Date | null;
  /** Never rejects: it reports its own failures. */
  readonly runSync: () => Promise<void>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: (event: ScheduleEvent) => void;
}

/** Milliseconds to sleep at a time, to notice soon that the machine was suspended or its clock was set. */
const maxSleep = 30_000;

/** Runs each sync that is due until the signal aborts. One sync makes up for all that were missed. */
export async function runSchedule(schedule: Schedule): Promise<void> {
  const { timetable, clock, signal, report } = schedule;
  let last = schedule.lastBegun;
  while (!signal.aborted) {
    const due = timetable.latest(clock.now());
    if (last !== null && (due === null || last >= due)) {
      const until = timetable.next(clock.now());
      report({ kind: 'wait', until });
      const ended = await sleepUntil(until, schedule);
      if (ended === 'signal') return;
      // The next time may be another one by the new clock.
      if (ended === 'clock went back') continue;
    } else report({ kind: 'catch up', missed: last === null ? null : due });
    last = clock.now();
    await schedule.runSync();
  }
}

/** Sleeps until `time`, or until the signal aborts or the clock is set back. */
async function sleepUntil(
  time: Date,
  { clock, signal }: Pick<Schedule, 'clock' | 'signal'>,
): Promise<'time' | 'signal' | 'clock went back'> {
  for (let before = clock.now().getTime(); ;) {
    const now = clock.now().getTime();
    if (now < before - maxSleep) return 'clock went back';
    before = now;
    const left = time.getTime() - now;
    if (left <= 0) return 'time';
    if (!(await sleep(Math.min(left, maxSleep), clock, signal))) return 'signal';
  }
}

async function sleep(milliseconds: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(milliseconds, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Milliseconds before the first retry; doubles with each retry. */
const firstDelay = 300_000;

/** Retries a sync if the source failed, except if it refused the key. Throws the error of the last attempt. */
export async function withRetries(
  retries: number,
  attempt: () => Promise<void>,
  { clock, signal, report }: Pick<Schedule, 'clock' | 'signal' | 'report'>,
): Promise<void> {
  for (let count = 1; ; count += 1)
    try {
      return await attempt();
    } catch (error) {
      if (count > retries || signal.aborted || !isRetryable(error)) throw error;
      const milliseconds = firstDelay * 2 ** (count - 1);
      report({ kind: 'retry', attempt: count, milliseconds, why: messageOf(error) });
      if (!(await sleep(milliseconds, clock, signal))) throw error;
    }
}

function isRetryable(error: unknown): boolean {
  return error instanceof RekapError && error.exitCode === ExitCode.source && error.code !== 'source-refused-key';
}
