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

/** All events. docs/reference/events.md is generated from this. */
export const logEvents = {
  config: {
    level: 'info',
    meaning: 'The command uses options from `rekap.json` in the working directory.',
    fields: { file: 'The config file.' },
  },
  run_begin: { level: 'info', meaning: 'A run starts.', fields: {} },
  step: { level: 'info', meaning: 'A step of the run starts.', fields: { step: 'The step, such as build_tables.' } },
  listing: {
    level: 'info',
    meaning: 'rekap is still reading the full listing. Logged after every 100 requests.',
    fields: { dataset: 'The dataset.', requests: 'Requests so far.' },
  },
  partitions: {
    level: 'info',
    meaning: 'rekap has read the full listing of a dataset.',
    fields: { dataset: 'The dataset.', total: 'Number of partitions.' },
  },
  progress: {
    level: 'info',
    meaning: 'rekap has read another quarter of the partitions.',
    fields: {
      dataset: 'The dataset.',
      done: 'Partitions read.',
      total: 'Number of partitions.',
      records: 'Records so far.',
    },
  },
  wait: {
    level: 'warn',
    meaning: 'A request failed, and rekap waits before the retry.',
    fields: { dataset: 'The dataset.', seconds: 'Seconds until the retry.', why: 'Why the request failed.' },
  },
  warning: { level: 'warn', meaning: 'Something needs your attention.', fields: { message: 'The warning.' } },
  schedule_wait: {
    level: 'info',
    meaning: '`rekap schedule` waits for the next sync.',
    fields: { next_run: 'When the next sync starts.' },
  },
  schedule_catch_up: {
    level: 'warn',
    meaning: 'A scheduled sync was missed, and starts now.',
    fields: { missed: 'When the sync was scheduled.' },
  },
  schedule_first: { level: 'info', meaning: 'No sync has run in this warehouse yet, and one starts now.', fields: {} },
  schedule_retry: {
    level: 'warn',
    meaning: 'The source failed, and rekap retries the sync.',
    fields: { attempt: 'Number of attempts so far.', seconds: 'Seconds until the retry.', why: 'Why the sync failed.' },
  },
  schedule_monitor: {
    level: 'info',
    meaning: '`rekap schedule --port` listens for requests.',
    fields: { url: 'The URL.' },
  },
  schedule_end: { level: 'info', meaning: 'A signal stopped the schedule.', fields: {} },
  run_end: {
    level: 'info',
    meaning: 'The run is finished.',
    fields: {
      outcome: 'published, held (because of a pin), unchanged, reproduced or dry run.',
      snapshot: 'The current snapshot.',
      requests: 'Number of requests.',
      milliseconds: 'Duration in milliseconds.',
    },
  },
  lake: {
    level: 'info',
    meaning: 'The snapshot of a sync is published to the catalog of `--catalog`.',
    fields: {
      outcome: 'published or unchanged.',
      snapshot: 'The snapshot.',
      catalog: 'The URL of the catalog.',
      namespace: 'The namespace.',
    },
  },
  push: {
    level: 'info',
    meaning: 'The snapshot of a sync is pushed to the bucket of `--push`.',
    fields: {
      outcome: 'pushed or unchanged.',
      snapshot: 'The snapshot.',
      bucket: 'The bucket.',
      files: 'Number of files written.',
      bytes: 'Number of bytes written.',
    },
  },
  run_failed: {
    level: 'error',
    meaning: 'The command failed.',
    fields: {
      code: 'The code of the failure, as in the list of exit codes.',
      exit_code: 'The exit code.',
      message: 'What went wrong.',
      next: 'What to do.',
    },
  },
} as const satisfies Readonly<Record<string, LogEventDefinition>>;

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
  const log: EventLog['log'] = (event, fields, text) =>
    write({ time: clock.now(), level: logEvents[event].level, run, event, fields, text });

  function reportDataset(event: Exclude<RunEvent, { kind: 'warning' | 'step' | 'begin' }>): void {
    const { dataset } = event;
    const seen = datasets.get(dataset) ?? { requests: 0, total: null, done: 0, records: 0 };
    datasets.set(dataset, seen);
    if (event.kind === 'wait') {
      const seconds = Math.max(1, Math.round(event.milliseconds / 1000));
      log('wait', { dataset, seconds, why: event.why }, `${dataset}: ${event.why}; retrying in ${seconds} s`);
    }
    if (event.kind === 'request') {
      seen.requests += 1;
      if (seen.total === null && seen.requests % requestsPerListingEvent === 0)
        log(
          'listing',
          { dataset, requests: seen.requests },
          `${dataset}: reading the full listing, ${formatNumber(seen.requests)} requests`,
        );
    }
    if (event.kind === 'partitions') {
      seen.total = event.total;
      log('partitions', { dataset, total: event.total }, `${dataset}: ${countOf(event.total, 'partition')}`);
    }
    if (event.kind === 'partition') {
      seen.done += 1;
      seen.records += event.records;
      const { done, total, records } = seen;
      if (total === null || Math.floor((done * 4) / total) === Math.floor(((done - 1) * 4) / total)) return;
      const text = `${dataset}: ${formatNumber(done)} of ${countOf(total, 'partition')}, ${countOf(records, 'record')}`;
      log('progress', { dataset, done, total, records }, text);
    }
  }

  return {
    log,
    report(event) {
      if (event.kind === 'begin') {
        run = event.run;
        log('run_begin', {}, `run ${run}`);
      } else if (event.kind === 'warning') log('warning', { message: event.message }, event.message);
      else if (event.kind === 'step') log('step', { step: event.step.replaceAll(' ', '_') }, event.step);
      else reportDataset(event);
    },
  };
}
