/** Declares and writes the log events of a run: one line each, with time, level, run, name and fields. */

import { paint, printable, warningText } from './terminal.ts';
import { ExitCode, messageOf, RekapError } from '../../errors.ts';
import { type Clock, type Report, type RunEvent, systemClock } from '../../runtime/context.ts';
import { countOf, formatNumber } from '../../runtime/text.ts';

export type LogFormat = 'auto' | 'text' | 'json';

type Level = 'info' | 'warn' | 'error';

export interface LogEventDefinition {
  readonly level: Level;
  readonly meaning: string;
  readonly fields: Readonly<Record<string, string>>;
}

function declare(level: Level, meaning: string, fields: LogEventDefinition['fields'] = {}): LogEventDefinition {
  return { level, meaning, fields };
}

const dataset = 'The dataset.';
const seconds = 'Seconds until the retry.';

/** All events. docs/reference/events.md is generated from this. */
export const logEvents = {
  config: declare('info', 'The command uses options from `rekap.json` in the working directory.', {
    file: 'The config file.',
  }),
  run_begin: declare('info', 'A run starts.'),
  step: declare('info', 'A step of the run starts.', { step: 'The step, such as build_tables.' }),
  listing: declare('info', 'rekap is still reading the full listing. Logged after every 100 requests.', {
    dataset,
    requests: 'Requests so far.',
  }),
  partitions: declare('info', 'rekap has read the full listing of a dataset.', {
    dataset,
    total: 'Number of partitions.',
  }),
  progress: declare('info', 'rekap has read another quarter of the partitions.', {
    dataset,
    done: 'Partitions read.',
    total: 'Number of partitions.',
    records: 'Records so far.',
  }),
  wait: declare('warn', 'A request failed, and rekap waits before the retry.', {
    dataset,
    seconds,
    why: 'Why the request failed.',
  }),
  warning: declare('warn', 'Something needs your attention.', { message: 'The warning.' }),
  schedule_wait: declare('info', '`rekap schedule` waits for the next sync.', {
    next_run: 'When the next sync starts.',
  }),
  schedule_catch_up: declare('warn', 'A scheduled sync was missed, and starts now.', {
    missed: 'When the sync was scheduled.',
  }),
  schedule_first: declare('info', 'No sync has run in this warehouse yet, and one starts now.'),
  schedule_retry: declare('warn', 'The source failed, and rekap retries the sync.', {
    attempt: 'Number of attempts so far.',
    seconds,
    why: 'Why the sync failed.',
  }),
  schedule_monitor: declare('info', '`rekap schedule --port` listens for requests.', { url: 'The URL.' }),
  schedule_end: declare('info', 'A signal stopped the schedule.'),
  run_end: declare('info', 'The run is finished.', {
    outcome: 'published, held (because of a pin), unchanged, reproduced or dry run.',
    snapshot: 'The current snapshot.',
    requests: 'Number of requests.',
    milliseconds: 'Duration in milliseconds.',
  }),
  lake: declare('info', 'The snapshot of a sync is published to the catalog of `--catalog`.', {
    outcome: 'published or unchanged.',
    snapshot: 'The snapshot.',
    catalog: 'The URL of the catalog.',
    namespace: 'The namespace.',
  }),
  push: declare('info', 'The snapshot of a sync is pushed to the bucket of `--push`.', {
    outcome: 'pushed or unchanged.',
    snapshot: 'The snapshot.',
    bucket: 'The bucket.',
    files: 'Number of files written.',
    bytes: 'Number of bytes written.',
  }),
  run_failed: declare('error', 'The command failed.', {
    code: 'The code of the failure, as in the list of exit codes.',
    exit_code: 'The exit code.',
    message: 'What went wrong.',
    next: 'What to do.',
  }),
};

type LogEventName = keyof typeof logEvents;

export interface LogEntry {
  readonly time: Date;
  readonly level: Level;
  /** Null until the run has an ID. */
  readonly run: string | null;
  readonly event: LogEventName;
  readonly fields: Readonly<Record<string, string | number | null>>;
  readonly text: string;
}

export function jsonLine({ time, level, run, event, fields }: LogEntry): string {
  return JSON.stringify({ time: time.toISOString(), level, run, event, ...fields });
}

export function textLine({ time, level, text }: LogEntry): string {
  const mark = { info: '', warn: 'warning: ', error: 'error: ' }[level];
  return `${time.toISOString().slice(0, 19)}Z ${mark}${printable(text, 2000)}`;
}

/** Writes a warning to stderr, outside of a run. */
export function writeWarning(message: string, format: LogFormat): void {
  if (format !== 'auto' || !process.stderr.isTTY) logToStderr(format)('warning', { message }, message);
  else process.stderr.write(warningText(message, process.stderr));
}

/** Reports on stderr that options come from a file that the user didn't name. */
export function writeConfigNote(format: unknown): void {
  const file = 'rekap.json';
  const text = `Using options from ${file}.`;
  if (format === 'json' || format === 'text' || (format === 'auto' && !process.stderr.isTTY))
    logToStderr(format)('config', { file }, text);
  else process.stderr.write(`${paint('dim', text, process.stderr)}\n`);
}

/** Returns a log on stderr for events outside of a run. */
export function logToStderr(format: LogFormat): EventLog['log'] {
  const render = format === 'json' ? jsonLine : textLine;
  return createEventLog((entry) => process.stderr.write(`${render(entry)}\n`), systemClock).log;
}

const unexpected = { code: 'unexpected', exitCode: ExitCode.unexpected, next: 'This is a bug in rekap.' };

export function logFailure(log: EventLog['log'], error: unknown): void {
  const { code, exitCode, next } = error instanceof RekapError ? error : unexpected;
  const message = messageOf(error);
  log('run_failed', { code, exit_code: exitCode, message, next }, message);
}

const requestsPerListingEvent = 100;

export interface EventLog {
  readonly report: Report;
  /** Writes an event that the run doesn't report. */
  log(event: LogEventName, fields: LogEntry['fields'], text: string): void;
}

export function createEventLog(write: (entry: LogEntry) => void, clock: Pick<Clock, 'now'>): EventLog {
  const datasets = new Map<string, { requests: number; total: number | null; done: number; records: number }>();
  let run: string | null = null;
  const log: EventLog['log'] = (name, fields, text) =>
    write({ time: clock.now(), level: logEvents[name].level, run, event: name, fields, text });

  function reportDataset(reported: Exclude<RunEvent, { kind: 'warning' | 'step' | 'begin' }>): void {
    const { dataset: name } = reported;
    const seen = datasets.get(name) ?? { requests: 0, total: null, done: 0, records: 0 };
    datasets.set(name, seen);
    const logOf = (what: LogEventName, fields: LogEntry['fields'], text: string): void =>
      log(what, { dataset: name, ...fields }, `${name}: ${text}`);
    if (reported.kind === 'wait') {
      const left = Math.max(1, Math.round(reported.milliseconds / 1000));
      logOf('wait', { seconds: left, why: reported.why }, `${reported.why}; retrying in ${left} s`);
    }
    if (reported.kind === 'request') {
      seen.requests += 1;
      const { requests, total } = seen;
      if (total === null && requests % requestsPerListingEvent === 0)
        logOf('listing', { requests }, `reading the full listing, ${formatNumber(requests)} requests`);
    }
    if (reported.kind === 'partitions') {
      seen.total = reported.total;
      logOf('partitions', { total: reported.total }, countOf(reported.total, 'partition'));
    }
    if (reported.kind === 'partition') {
      seen.done += 1;
      seen.records += reported.records;
      const { done, total, records } = seen;
      if (total === null || Math.floor((done * 4) / total) === Math.floor(((done - 1) * 4) / total)) return;
      const text = `${formatNumber(done)} of ${countOf(total, 'partition')}, ${countOf(records, 'record')}`;
      logOf('progress', { done, total, records }, text);
    }
  }

  return {
    log,
    report(reported) {
      if (reported.kind === 'begin') {
        run = reported.run;
        log('run_begin', {}, `run ${run}`);
      } else if (reported.kind === 'warning') log('warning', { message: reported.message }, reported.message);
      else if (reported.kind === 'step') log('step', { step: reported.step.replaceAll(' ', '_') }, reported.step);
      else reportDataset(reported);
    },
  };
}
