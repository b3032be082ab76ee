/** Shows a running sync: one line on a terminal, a log elsewhere. */

import { stripVTControlCharacters } from 'node:util';
import { createEventLog, jsonLine, logFailure, type LogEntry, type LogFormat, textLine } from './event-log.ts';
import { cutToWidth, shownWidth, terminalColumns } from './wrap-text.ts';
import { paint, warningText } from './terminal.ts';
import type { SyncResult } from '../../publish/run.ts';
import type { Clock, Report, RunEvent, RunStep } from '../../runtime/context.ts';
import { countOf, formatNumber } from '../../runtime/text.ts';

export interface Progress {
  readonly report: Report;
  end(result?: SyncResult): void;
  /** Returns whether the failure was logged. If not, the caller must print it. */
  fail(error: unknown): boolean;
  /** Removes the line of a run that failed. Has no effect after `end`. */
  abandon(): void;
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
  const hasLine = format === 'auto' && stream.isTTY && process.env['TERM'] !== 'dumb';
  return hasLine ? createLine(stream, clock) : createLog(stream, clock, format === 'json' ? 'json' : 'text');
}

/** Shows a line on stderr that is overwritten, for commands that count something. */
export function createCounter(isHidden = false) {
  const { stderr } = process;
  const isShown = !isHidden && stderr.isTTY && process.env['TERM'] !== 'dumb';
  const show = (text: string): void => void (isShown && stderr.write(`\r${text}\u001b[K`));
  return { show, clear: (): void => show('') };
}

/** Shows the sums of all datasets in one line, which is overwritten. */
function createLine(stream: NodeJS.WriteStream, clock: Clock): Progress {
  const seen: Seen = { started: clock.monotonic(), since: 0, done: 0, records: 0, requests: 0, totals: new Map() };
  let lastPaint = Number.NEGATIVE_INFINITY;
  let step: string | null = null;
  let waits: string | null = null;
  let ended = false;

  function repaint(): void {
    lastPaint = clock.monotonic();
    const parts = step === null ? partsOf(seen, lastPaint, stream) : [paint('dim', step, stream)];
    const shown = waits === null ? parts : [paint('yellow', waits, stream), ...parts];
    stream.write(`\r${fitParts(shown, (terminalColumns(stream) ?? assumedColumns) - 1)}\u001b[K`);
  }

  return {
    report(event) {
      if (ended || event.kind === 'begin') return;
      if (event.kind === 'warning') stream.write(`\r\u001b[K${warningText(event.message, stream)}`);
      else if (event.kind === 'step') step = shownSteps[event.step] ?? step;
      else {
        waits = event.kind === 'wait' ? describeWait(event) : null;
        count(seen, event, clock);
      }
      const isRare = event.kind === 'warning' || event.kind === 'wait' || event.kind === 'step';
      if (isRare || clock.monotonic() - lastPaint >= paintInterval) repaint();
    },
    end() {
      if (ended) return;
      step = null;
      repaint();
      stream.write('\n');
      ended = true;
    },
    fail: () => false,
    abandon() {
      if (!ended) stream.write('\r\u001b[K');
      ended = true;
    },
  };
}

interface Seen {
  readonly started: number;
  /** When the number of partitions became known. */
  since: number;
  done: number;
  records: number;
  requests: number;
  /** The number of partitions by dataset; null until it is known. */
  readonly totals: Map<string, number | null>;
}

function count(seen: Seen, event: Exclude<RunEvent, { kind: 'warning' | 'step' | 'begin' }>, clock: Clock): void {
  const { totals } = seen;
  if (!totals.has(event.dataset)) totals.set(event.dataset, null);
  if (event.kind === 'request') seen.requests += 1;
  if (event.kind === 'partitions') {
    totals.set(event.dataset, event.total);
    if (seen.done === 0) seen.since = clock.monotonic();
  }
  if (event.kind === 'partition') {
    seen.done += 1;
    seen.records += event.records;
  }
}

/** Returns the parts of the line, the most important first. */
function partsOf(seen: Seen, now: number, stream: NodeJS.WriteStream): string[] {
  const { totals, started, since, done, records, requests } = seen;
  const perSecond = requests / Math.max(0.001, (now - started) / 1000);
  const rate = `${perSecond.toFixed(perSecond < 10 ? 1 : 0)} requests/s`;
  const open = [...totals].filter(([, total]) => total === null).map(([dataset]) => dataset);
  const total = [...totals.values()].reduce<number>((sum, each) => sum + (each ?? 0), 0);
  if (total === 0 && open.length > 0)
    return [`reading the full listing of ${open.join(', ')}`, countOf(requests, 'request'), rate];
  const filled = total === 0 ? barWidth : Math.round((done / total) * barWidth);
  const left = roundSeconds(((now - since) / 1000 / done) * (total - done));
  return [
    `${formatNumber(done)}/${formatNumber(total)} partitions`,
    paint('green', '━'.repeat(filled), stream) + paint('dim', '─'.repeat(barWidth - filled), stream),
    ...(done === total ? ['done'] : done === 0 ? [] : [`${left} left`]),
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
      const text = current === null ? outcome : `${outcome}: snapshot ${current} is current`;
      log.log('run_end', { outcome, snapshot: current, requests, milliseconds }, text);
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
