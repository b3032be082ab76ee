/** Syncs at the times of a cron line, one after another: when one is due, when it is tried again, and how to wait for it. */

import { Cron } from 'croner';
import { ExitCode, messageOf, RekapError } from '../errors.ts';
import type { Clock, Random } from '../runtime/context.ts';

/** The times of a cron line. */
export interface Timetable {
  /** The first time after this one. */
  next(after: Date): Date;
  /** The last time that has come; null where there was none yet. */
  latest(now: Date): Date | null;
}

/**
 * @param cron Five fields: minute, hour, day of the month, month, day of the week; or a word such as @daily.
 * @param timezone A name such as Asia/Jakarta.
 * @throws `usage` for what is no such line, has no time at all, or names no time zone.
 */
export function readTimetable(cron: string, timezone: string): Timetable {
  requireTimezone(timezone);
  const example =
    'Use five fields, such as --cron "15 2 * * *": minute, hour, day of the month, month, day of the week.';
  // The library takes a date too, which comes once.
  const isCron = /^(@\w+|\S+(\s+\S+){4})$/.test(cron.trim());
  if (!isCron)
    throw new RekapError(
      'usage',
      `${JSON.stringify(cron)} is not a cron expression: it does not have five fields.`,
      example,
    );
  let times: Cron;
  try {
    times = new Cron(cron, { timezone, mode: '5-part' });
  } catch (error) {
    const why = messageOf(error).replace(/^CronPattern: /, '');
    throw new RekapError('usage', `${JSON.stringify(cron)} is not a cron expression: ${why}`, example, {
      cause: error,
    });
  }
  if (times.nextRun() === null)
    throw new RekapError('usage', `The time ${JSON.stringify(cron)} never occurs.`, example);
  return {
    next: (after) => times.nextRun(after)!,
    // A time counts as come at its very instant.
    latest: (now) => times.previousRuns(1, new Date(now.getTime() + 1))[0] ?? null,
  };
}

function requireTimezone(timezone: string): void {
  try {
    new Date().toLocaleString('en', { timeZone: timezone });
  } catch (error) {
    const what = `${JSON.stringify(timezone)} is not a time zone.`;
    throw new RekapError('usage', what, 'Use a name such as Asia/Jakarta or UTC.', { cause: error });
  }
}

/** What a schedule tells whoever watches it. */
export type ScheduleEvent =
  /** It waits until then. */
  | { readonly kind: 'wait'; readonly until: Date }
  /** A time has passed without a sync; one begins now. Null where there was no sync at all. */
  | { readonly kind: 'catch up'; readonly missed: Date | null }
  /** A sync has failed and is tried again after so long. */
  | { readonly kind: 'retry'; readonly attempt: number; readonly milliseconds: number; readonly why: string }
  | { readonly kind: 'begin' };

export interface Schedule {
  readonly timetable: Timetable;
  /** Up to so many milliseconds are added to each time, at random. */
  readonly jitter: number;
  /** When the newest sync began; null where there was none. */
  readonly lastBegun: Date | null;
  /** Never fails: what goes wrong is told by itself. */
  readonly carryOut: () => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the schedule. */
  readonly signal: AbortSignal;
  readonly tell: (event: ScheduleEvent) => void;
}

/** Milliseconds to sleep at a time: a machine that was suspended, or whose clock was set, notices soon. */
const nap = 30_000;

/** Carries out each sync that is due until the signal comes. However many times have passed meanwhile, one sync makes up for all of them. */
export async function runSchedule(schedule: Schedule): Promise<void> {
  const { timetable, clock, signal, tell } = schedule;
  let last = schedule.lastBegun;
  while (!signal.aborted) {
    const due = timetable.latest(clock.now());
    if (last !== null && (due === null || last >= due)) {
      const jitter = Math.floor(schedule.random() * schedule.jitter);
      const until = new Date(timetable.next(clock.now()).getTime() + jitter);
      tell({ kind: 'wait', until });
      const ended = await sleepUntil(until, schedule);
      if (ended === 'signal') return;
      // What was the next time is none by the clock as it is now.
      if (ended === 'clock went back') continue;
    } else tell({ kind: 'catch up', missed: last === null ? null : due });
    last = clock.now();
    tell({ kind: 'begin' });
    await schedule.carryOut();
  }
}

/** Sleeps until the time has come, the signal comes, or somebody sets the clock back by more than a nap. */
async function sleepUntil(
  time: Date,
  { clock, signal }: Pick<Schedule, 'clock' | 'signal'>,
): Promise<'time' | 'signal' | 'clock went back'> {
  for (let before = clock.now().getTime(); ;) {
    const now = clock.now().getTime();
    if (now < before - nap) return 'clock went back';
    before = now;
    const left = time.getTime() - now;
    if (left <= 0) return 'time';
    if (!(await sleep(Math.min(left, nap), clock, signal))) return 'signal';
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

/** Milliseconds before a sync is tried again for the first time; twice as long each time after that. */
const firstPause = 300_000;

/**
 * Tries a sync again where trying again may mend it: where the source failed, and not where it refused the key. Throws what the last
 * attempt threw.
 */
export async function withRetries(
  retries: number,
  attempt: () => Promise<void>,
  { clock, signal, tell }: Pick<Schedule, 'clock' | 'signal' | 'tell'>,
): Promise<void> {
  for (let tried = 1; ; tried += 1)
    try {
      return await attempt();
    } catch (error) {
      if (tried > retries || signal.aborted || !mayMend(error)) throw error;
      const milliseconds = firstPause * 2 ** (tried - 1);
      tell({ kind: 'retry', attempt: tried, milliseconds, why: messageOf(error) });
      if (!(await sleep(milliseconds, clock, signal))) throw error;
    }
}

function mayMend(error: unknown): boolean {
  return error instanceof RekapError && error.exitCode === ExitCode.source && error.code !== 'source-refused-key';
}
