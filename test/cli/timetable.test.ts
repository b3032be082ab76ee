/** A schedule syncs at its times, catches up on missed times, and retries if that may help. */

import { describe, expect, it, vi } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { readTimetable, runSchedule, type Schedule, type ScheduleEvent, withRetries } from '../../src/cli/timetable.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';

const nightly = readTimetable('15 2 * * *', 'Asia/Jakarta');
const at = (time: string): Date => new Date(`2026-11-${time}:00Z`);

/** Runs a schedule until it has run `syncs` syncs. Returns when each began, and the events. */
async function runSyncs(syncs: number, start: Date, more: Partial<Schedule> = {}, takes = 60_000) {
  const clock = manualClock(start);
  const end = new AbortController();
  const begun: string[] = [];
  const events: ScheduleEvent[] = [];
  await runSchedule({
    timetable: nightly,
    lastBegun: start,
    async runSync() {
      begun.push(clock.now().toISOString().slice(8, 16));
      await clock.sleep(takes);
      if (begun.length === syncs) end.abort();
    },
    clock,
    signal: end.signal,
    report: (event) => void events.push(event),
    ...more,
  });
  return { begun, events };
}

describe('a schedule', () => {
  it.each<[string, number, string, string[], Partial<Schedule>, number?]>([
    ['at the times of its time zone', 3, '20T12:00', ['20T19:15', '21T19:15', '22T19:15'], {}],
    ['once for all missed times', 2, '23T08:00', ['23T08:00', '23T19:15'], { lastBegun: at('20T19:15') }],
    ['at once before the first sync', 1, '23T08:00', ['23T08:00'], { lastBegun: null }],
    ['not at once after a recent sync', 1, '23T08:00', ['23T19:15'], { lastBegun: at('22T19:15') }],
    [
      'one after another, even if one runs too long',
      3,
      '20T12:00',
      ['20T19:15', '22T01:15', '23T07:15'],
      {},
      30 * 3_600_000,
    ],
    ['at exactly its time', 1, '20T19:15', ['20T19:15'], { lastBegun: at('19T19:15') }],
    ['not twice at the same time', 1, '20T19:15', ['21T19:15'], { lastBegun: at('20T19:15') }],
  ])('syncs %s', async (_, syncs, start, expected, options, takes) => {
    expect((await runSyncs(syncs, at(start), options, takes)).begun).toEqual(expected);
  });

  it('reports why and until when it waits', async () => {
    expect((await runSyncs(1, at('20T12:00'))).events[0]).toEqual({ kind: 'wait', until: at('20T19:15') });
    const { events } = await runSyncs(1, at('23T08:00'), { lastBegun: at('20T19:15') });
    expect(events[0]).toEqual({ kind: 'catch up', missed: at('22T19:15') });
  });

  it('keeps its local hour when clocks change', () => {
    const berlin = readTimetable('30 3 * * *', 'Europe/Berlin');
    expect(berlin.next(new Date('2026-10-24T12:00:00Z'))).toEqual(new Date('2026-10-25T02:30:00Z'));
    expect(berlin.next(new Date('2026-03-28T12:00:00Z'))).toEqual(new Date('2026-03-29T01:30:00Z'));
  });

  it('misses no sync when a wrong clock is corrected', async () => {
    // Seven hours ahead, like a hardware clock in local time; corrected after an hour.
    const ahead = manualClock(at('20T23:00'));
    let corrected = 0;
    const now = (): Date => {
      if (ahead.sleeps.length > 120) corrected = 7 * 3_600_000;
      return new Date(ahead.monotonic() - corrected);
    };
    const end = new AbortController();
    let begun = '';
    await runSchedule({
      timetable: nightly,
      lastBegun: at('20T23:00'),
      async runSync() {
        begun = now().toISOString().slice(8, 16);
        end.abort();
      },
      clock: { ...ahead, now },
      signal: end.signal,
      report: () => undefined,
    });
    expect(begun).toBe('20T19:15');
  });

  it('stops waiting when it is aborted', async () => {
    const end = new AbortController();
    const { begun } = await runSyncs(9, at('20T12:00'), { signal: end.signal, report: () => end.abort() });
    expect(begun).toEqual([]);
  });

  it.each([
    [30_000, 1],
    [30_001, 2],
  ])('computes its wait again if the clock goes back by more than 30 s: %i ms, %i waits', async (back, waits) => {
    const clock = manualClock(at('20T19:10'));
    let corrected = 0;
    const now = (): Date => new Date(clock.monotonic() - corrected);
    // The first nap lets no time pass, and sets the clock back.
    const sleep = async (milliseconds: number): Promise<void> => {
      if (corrected > 0) return clock.sleep(milliseconds);
      corrected = back;
    };
    const { events } = await runSyncs(1, at('20T19:10'), { clock: { ...clock, now, sleep } });
    const until = events.flatMap((event) => (event.kind === 'wait' ? [event.until.toISOString()] : []));
    expect(until).toEqual(Array<string>(waits).fill(at('20T19:15').toISOString()));
  });

  it.each(['61 * * * *', '2027-01-01T00:00:00', 'nonsense', '* * * * * *', '0 0 31 2 *'])('refuses %s', (cron) => {
    expect(() => readTimetable(cron, 'UTC')).toThrow(RekapError);
  });
});

describe('a sync that failed', () => {
  const attempt = async (error: unknown, retries: number) => {
    const clock = manualClock();
    let attempts = 0;
    const act = async (): Promise<void> => {
      attempts += 1;
      throw error;
    };
    const context = { clock, signal: new AbortController().signal, report: () => undefined };
    await expect(withRetries(retries, act, context)).rejects.toBe(error);
    return { attempts, waits: clock.sleeps.map((milliseconds) => milliseconds / 60_000) };
  };

  it('is retried after a failure of the source, with increasing waits', async () => {
    const failure = new RekapError('source-unreachable', 'Nothing listens.');
    expect(await attempt(failure, 3)).toEqual({ attempts: 4, waits: [5, 10, 20] });
    expect(await attempt(failure, 0)).toEqual({ attempts: 1, waits: [] });
  });

  it('reports each retry with its number and pause', async () => {
    const events: ScheduleEvent[] = [];
    let attempts = 0;
    const act = async (): Promise<void> => {
      attempts += 1;
      if (attempts < 3) throw new RekapError('source-unreachable', `Failure ${attempts}.`);
    };
    const report = (event: ScheduleEvent): void => void events.push(event);
    await withRetries(9, act, { clock: manualClock(), signal: new AbortController().signal, report });
    expect(events).toEqual([
      { kind: 'retry', attempt: 1, milliseconds: 300_000, why: 'Failure 1.' },
      { kind: 'retry', attempt: 2, milliseconds: 600_000, why: 'Failure 2.' },
    ]);
  });

  it.each([
    ['while it runs', 'attempt', 0],
    ['while it waits', 'wait', 1],
  ])('is not retried if it is aborted %s', async (_, moment, calls) => {
    const failure = new RekapError('source-unreachable', 'Nothing listens.');
    const end = new AbortController();
    let attempts = 0;
    const report = vi.fn<() => void>(() => {
      if (moment === 'wait') end.abort();
    });
    const act = async (): Promise<void> => {
      attempts += 1;
      if (moment === 'attempt') end.abort();
      throw failure;
    };
    await expect(withRetries(3, act, { clock: manualClock(), signal: end.signal, report })).rejects.toBe(failure);
    expect(attempts).toBe(1);
    expect(report).toHaveBeenCalledTimes(calls);
  });

  it.each([
    new RekapError('source-refused-key', 'The key is refused.'),
    new RekapError('gate', 'The gate refuses.'),
    new Error('a fault'),
  ])('is not retried if that cannot help: %s', async (error) => {
    expect((await attempt(error, 3)).attempts).toBe(1);
  });
});
