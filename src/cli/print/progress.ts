/** Shows a running sync: a bar per dataset on a terminal, a log elsewhere. */

import { stripVTControlCharacters } from 'node:util';
import { createEventLog, jsonLine, logFailure, type LogEntry, type LogFormat, textLine } from './event-log.ts';
import { cutToWidth, shownWidth } from './wrap-text.ts';
import { paint, warningText } from './terminal.ts';
import { terminalColumns } from './wrap-text.ts';
import type { SyncResult } from '../../run-options.ts';
import type { Clock, Report, RunEvent, RunStep } from '../../runtime/context.ts';
import { countOf, formatNumber } from '../../runtime/text.ts';

export interface Progress {
  readonly report: Report;
  end(result?: SyncResult): void;
  /** Returns whether the failure was logged. If not, the caller must print it. */
  fail(error: unknown): boolean;
  /** Removes the bars of a run that failed. Has no effect after `end`. */
  abandon(): void;
}

interface DatasetProgress {
  readonly started: number;
  /** When the number of partitions became known. */
  since: number;
  total: number | null;
  done: number;
  records: number;
  requests: number;
  /** Why it waits; null after the next request. */
  waits: string | null;
}

const shownSteps: Partial<Record<RunStep, string>> = {
  'build tables': 'building tables, checks and Parquet files',
  verify: 'verifying the snapshot',
};

const barWidth = 24;
const assumedColumns = 80;
const gap = '  ';
/** Milliseconds between repaints. */
const paintInterval = 100;

export function createProgress(stream: NodeJS.WriteStream, clock: Clock, format: LogFormat = 'auto'): Progress {
  const hasBars = format === 'auto' && stream.isTTY && process.env['TERM'] !== 'dumb';
  return hasBars ? createBars(stream, clock) : createLog(stream, clock, format === 'json' ? 'json' : 'text');
}

function createBars(stream: NodeJS.WriteStream, clock: Clock): Progress {
  const datasets = new Map<string, DatasetProgress>();
  let painted = 0;
  let lastPaint = Number.NEGATIVE_INFINITY;
  let step: string | null = null;
  let ended = false;

  /** Moves to the first line, and to column 1, because a ^C that the terminal echoes moves the cursor. */
  function goBack(): string {
    return painted > 0 ? `\r\u001b[${painted}A` : '';
  }

  function clear(): void {
    if (painted > 0) stream.write(`${goBack()}\u001b[J`);
    painted = 0;
  }

  function repaint(force: boolean): void {
    const now = clock.monotonic();
    if (ended || (!force && now - lastPaint < paintInterval)) return;
    lastPaint = now;
    const nameWidth = Math.max(0, ...[...datasets.keys()].map((name) => name.length));
    // A line that wraps would be two lines that `clear` counts as one.
    const room = (terminalColumns(stream) ?? assumedColumns) - 1;
    const lines = [...datasets].flatMap(([name, progress]) => {
      const [bar = '', ...figures] = partsOf(progress, now, stream);
      const first = name.padEnd(nameWidth);
      // Figures matter more than the bar.
      const hasRoom = shownWidth([first, bar, figures[0]].join(gap)) <= room;
      const line = hasRoom ? [first, bar, ...figures] : [first, ...figures];
      return progress.waits === null ? [line] : [line, [`  ${paint('yellow', progress.waits, stream)}`]];
    });
    if (step !== null) lines.push([paint('dim', step, stream)]);
    const texts = lines.map((parts) => `${fitParts(parts, room)}\u001b[K\n`);
    // Overwrites, because clearing first would flicker.
    stream.write(`${goBack()}${texts.join('')}\u001b[J`);
    painted = lines.length;
  }

  return {
    report(event) {
      updateProgress(datasets, event, clock.monotonic());
      if (event.kind === 'warning') {
        clear();
        stream.write(warningText(event.message, stream));
      }
      const shown = shownStep(event);
      step = shown ?? step;
      repaint(shown !== null || event.kind === 'warning' || event.kind === 'wait');
    },
    end() {
      if (ended) return;
      step = null;
      repaint(true);
      ended = true;
    },
    fail: () => false,
    abandon() {
      if (!ended) clear();
      ended = true;
    },
  };
}

function partsOf(
  { started, since, total, done, records, requests }: DatasetProgress,
  now: number,
  stream: NodeJS.WriteStream,
): string[] {
  const seconds = Math.max(0.001, (now - started) / 1000);
  const rate = `${(requests / seconds).toFixed(requests / seconds < 10 ? 1 : 0)} requests/s`;
  if (total === null)
    return [paint('dim', '╌'.repeat(barWidth), stream), 'reading the full listing', countOf(requests, 'request'), rate];
  const filled = total === 0 ? barWidth : Math.round((done / total) * barWidth);
  const left = `${roundSeconds(((now - since) / 1000 / done) * (total - done))} left`;
  return [
    paint('green', '━'.repeat(filled), stream) + paint('dim', '─'.repeat(barWidth - filled), stream),
    `${formatNumber(done)}/${formatNumber(total)} partitions`,
    ...(done === total ? ['done'] : done === 0 ? [] : [left]),
    `${formatNumber(records)} records`,
    rate,
  ];
}

/** Writes timestamped lines. A JSON log contains failures too, so that every line is JSON. */
function createLog(stream: NodeJS.WriteStream, clock: Clock, format: 'text' | 'json'): Progress {
  const log = createEventLog((entry) => {
    if (format === 'json') stream.write(`${jsonLine(entry)}\n`);
    else if (isForPeople(entry)) stream.write(`${textLine(entry)}\n`);
  }, clock);
  return {
    report: log.report,
    end(result) {
      if (result === undefined) return;
      const { outcome, current, figures } = result;
      const { requests, milliseconds } = figures;
      log.log(
        'run_end',
        { outcome, snapshot: current, requests, milliseconds },
        current === null ? outcome : `${outcome}: snapshot ${current} is current`,
      );
    },
    fail(error) {
      if (format === 'text') return false;
      logFailure(log.log, error);
      return true;
    },
    abandon() {},
  };
}

/** Returns whether an event belongs in the text log, which omits short steps and partition totals. */
function isForPeople({ event, fields }: LogEntry): boolean {
  if (event === 'step') return fields['step'] === 'build_tables' || fields['step'] === 'verify';
  return event !== 'partitions';
}

function shownStep(event: RunEvent): string | null {
  return event.kind === 'step' ? (shownSteps[event.step] ?? null) : null;
}

function updateProgress(datasets: Map<string, DatasetProgress>, event: RunEvent, now: number): void {
  if (event.kind === 'warning' || event.kind === 'step' || event.kind === 'begin') return;
  let progress = datasets.get(event.dataset);
  if (progress === undefined) {
    progress = { started: now, since: now, total: null, done: 0, records: 0, requests: 0, waits: null };
    datasets.set(event.dataset, progress);
  }
  if (event.kind === 'wait') progress.waits = describeWait(event);
  if (event.kind === 'request') {
    progress.requests += 1;
    progress.waits = null;
  }
  if (event.kind === 'partitions') {
    progress.total = event.total;
    progress.since = now;
  }
  if (event.kind === 'partition') {
    progress.done += 1;
    progress.records += event.records;
  }
}

function describeWait({ why, milliseconds }: Extract<RunEvent, { kind: 'wait' }>): string {
  return `${why}; retrying in ${roundSeconds(Math.round(milliseconds / 1000))}`;
}

function roundSeconds(seconds: number): string {
  const rounded = Math.max(1, Math.ceil(seconds));
  if (rounded < 60) return `${rounded} s`;
  if (rounded < 3600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
  return `${Math.floor(rounded / 3600)} h ${Math.floor((rounded % 3600) / 60)} min`;
}

/** Joins the parts that fit. Cuts only the first one, because a cut number would look like another number. */
function fitParts(parts: readonly string[], width: number): string {
  let line = parts[0] ?? '';
  if (shownWidth(line) > width) return cutToWidth(stripVTControlCharacters(line), width);
  for (const part of parts.slice(1)) {
    if (shownWidth(line + gap + part) > width) break;
    line += gap + part;
  }
  return line;
}
