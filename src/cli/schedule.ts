/** rekap schedule: syncs on a cron schedule, in the foreground, until a signal stops it. */

import { usageError } from './options/usage-error.ts';
import { formatAge } from '../runtime/text.ts';
import { allOptions, pick } from './options/all-options.ts';
import { declareCommand, type Options, type Values } from './options/option.ts';
import { logToStderr } from './print/event-log.ts';
import { printError } from './print/terminal.ts';
import { listenForSignals } from './signals.ts';
import { commonOptions, prepareSync, syncOptions } from './sync.ts';
import { holdOutput, readNotices, notifyOthers } from './notify-others.ts';
import { invocation } from './options/invocation.ts';
import { readTimetable, runSchedule, type ScheduleEvent, withRetries } from './timetable.ts';
import { renderMetrics, type ScheduleState } from '../notify/metrics.ts';
import { createRunsReader, readRuns } from '../warehouse/runs-log.ts';
import { systemClock } from '../runtime/context.ts';
import { lastBegun, type RunsSummary, summarizeRuns } from '../snapshots/freshness.ts';

const options = {
  ...pick('cron', 'host'),
  port: {
    ...allOptions.port,
    describe: 'port for /health and /metrics; 0 for any free port',
    defaultDescription: 'none',
  },
  ...syncOptions,
} as const satisfies Options;

/** Retries if the source fails: after 5 minutes, then 10, then 20. */
const retries = 3;

export const command = declareCommand({
  options,
  exclusive: ['base-url', 'sample'],
  common: ['cron', 'port', 'host', ...commonOptions],
  examples: [
    ['rekap schedule --cron "0 3 * * *" --base-url https://host', 'sync every night'],
    ['rekap schedule --cron "0 3 * * *" --port 9464 --config rekap.json', 'with /health and /metrics'],
  ],
  run,
});

async function run(args: Values<typeof options>): Promise<void> {
  if (args.cron === undefined) throw usageError('The schedule is missing.', 'Add --cron, such as --cron "0 3 * * *".');
  const timetable = readTimetable(args.cron, Intl.DateTimeFormat().resolvedOptions().timeZone);
  const requested = { ...args, 'dry-run': false, unpin: false, json: false };
  // Reports invalid settings now instead of at the first sync.
  await prepareSync(requested);
  await readNotices(args);
  const state: ScheduleState = { isRunning: false, nextAt: null, retries: 0 };
  const log = logToStderr(args['log-format']);
  const report = (event: ScheduleEvent): void => {
    if (event.kind === 'wait') state.nextAt = event.until;
    if (event.kind === 'retry') {
      const nextAt = new Date(systemClock.now().getTime() + event.milliseconds);
      Object.assign(state, { isRunning: false, nextAt, retries: state.retries + 1 });
    }
    logEvent(log, event);
  };
  const monitor = args.port === undefined ? null : await openMonitor(args.warehouse, args.host, args.port, state);
  if (monitor !== null) log('schedule_monitor', { url: monitor.url }, `/health and /metrics on ${monitor.url}`);
  const { signal, stop } = listenForSignals();
  const sync = async (): Promise<void> => {
    invocation.hasReportedFailure = false;
    Object.assign(state, { isRunning: true, nextAt: null });
    return (await prepareSync(requested))();
  };
  const runSync = async (): Promise<void> => {
    try {
      await notifyOthers(
        requested,
        async () => () => withRetries(retries, sync, { clock: systemClock, signal, report }),
      );
    } catch (error) {
      if (!signal.aborted) printError(error);
    } finally {
      state.isRunning = false;
    }
  };
  const release = holdOutput();
  try {
    const last = lastBegun(await readRuns(args.warehouse));
    await runSchedule({ timetable, lastBegun: last, clock: systemClock, signal, report, runSync });
    log('schedule_end', {}, 'the schedule stopped');
  } finally {
    release();
    await monitor?.close();
    stop();
  }
}

async function openMonitor(warehouse: string, host: string, port: number, state: ScheduleState) {
  const readLines = createRunsReader(warehouse);
  const readSummary = async (): Promise<RunsSummary> => summarizeRuns(await readLines());
  const { startMonitor } = await import('../serve/listen.ts');
  return startMonitor(
    { host, port },
    {
      health: async () => describeHealth(state, await readSummary()),
      metrics: async () => renderMetrics(await readSummary(), state),
    },
  );
}

function logEvent(log: ReturnType<typeof logToStderr>, event: ScheduleEvent) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const local = (time: Date): string =>
    `${time.toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' })} ${timeZone}`;
  if (event.kind === 'wait') {
    const left = formatAge(event.until.getTime() - Date.now());
    log('schedule_wait', { next_run: event.until.toISOString() }, `next sync: ${local(event.until)}, in ${left}`);
  } else if (event.kind === 'catch up') {
    const { missed } = event;
    if (missed === null) log('schedule_first', {}, 'no sync has run yet; starting one now');
    else
      log(
        'schedule_catch_up',
        { missed: missed.toISOString() },
        `missed the sync of ${local(missed)}; starting it now`,
      );
  } else {
    const { attempt, milliseconds, why } = event;
    const text = `${why.split('\n')[0]!} Retrying in ${formatAge(milliseconds)}.`;
    log('schedule_retry', { attempt, seconds: milliseconds / 1000, why }, text);
  }
}

/** Returns the response of /health. It is always ok, because a restart doesn't fix stale data. */
function describeHealth({ isRunning, nextAt }: ScheduleState, { lastFromSource: last, success }: RunsSummary): object {
  return {
    status: 'ok',
    state: isRunning ? 'running' : 'waiting',
    next_run: nextAt,
    last_run: last === null ? null : { outcome: last.outcome, exit_code: last.exit_code, at: last.started_at },
    last_success: success?.started_at ?? null,
    ...(success?.notes !== undefined && { notes: success.notes }),
  };
}
