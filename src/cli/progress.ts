/** Shows a running sync: a bar per dataset on a terminal, plain lines elsewhere. */

import type { Clock, Report, RunEvent, RunStep } from '../surroundings.ts';
import { formatNumber, paint, printable } from './terminal.ts';

export interface Progress {
  readonly report: Report;
  /** Clears what is in the way of the summary; may be called twice. */
  end(): void;
}

interface DatasetProgress {
  readonly started: number;
  /** When the districts were known and their reading began. */
  since: number;
  total: number | null;
  done: number;
  records: number;
  requests: number;
}

/** The steps that take long enough to be worth a line. */
const shownSteps: Partial<Record<RunStep, string>> = {
  'build tables': 'building tables, checks and Parquet files',
  verify: 'verifying what was written',
};

const barWidth = 24;
const colour = new RegExp(`(${String.fromCodePoint(27)}\\[[0-9;]*m)`);
/** Milliseconds between two paintings. */
const paintEvery = 100;

export function createProgress(stream: NodeJS.WriteStream, clock: Clock): Progress {
  return stream.isTTY && process.env['TERM'] !== 'dumb' ? createBars(stream, clock) : createLines(stream);
}

/** Bars that are painted over themselves; warnings and steps scroll past above them. */
function createBars(stream: NodeJS.WriteStream, clock: Clock): Progress {
  const datasets = new Map<string, DatasetProgress>();
  let painted = 0;
  let lastPaint = Number.NEGATIVE_INFINITY;
  let step: string | null = null;
  let ended = false;

  function clear(): void {
    if (painted > 0) stream.write(`\u001b[${painted}A\u001b[J`);
    painted = 0;
  }

  function repaint(force: boolean): void {
    const now = clock.monotonic();
    if (ended || (!force && now - lastPaint < paintEvery)) return;
    lastPaint = now;
    clear();
    const nameWidth = Math.max(0, ...[...datasets.keys()].map((name) => name.length));
    const lines = [...datasets].map(([name, progress]) => `${name.padEnd(nameWidth)}  ${barOf(progress, now, stream)}`);
    if (step !== null) lines.push(paint('dim', step, stream));
    // A line that wraps would be two to the terminal and one to `clear`.
    for (const line of lines) stream.write(`${cutToWidth(line, stream.columns - 1)}\n`);
    painted = lines.length;
  }

  return {
    report(event) {
      note(datasets, event, clock.monotonic());
      if (event.kind === 'warning') {
        clear();
        stream.write(`${paint('yellow', 'warning:', stream)} ${printable(event.message)}\n`);
      }
      const shown = shownStep(event);
      step = shown ?? step;
      repaint(shown !== null || event.kind === 'warning');
    },
    end() {
      if (ended) return;
      step = null;
      repaint(true);
      ended = true;
    },
  };
}

function barOf(
  { started, since, total, done, records, requests }: DatasetProgress,
  now: number,
  stream: NodeJS.WriteStream,
): string {
  const seconds = Math.max(0.001, (now - started) / 1000);
  const rate = `${(requests / seconds).toFixed(requests / seconds < 10 ? 1 : 0)} requests/s`;
  if (total === null)
    return `${paint('dim', '╌'.repeat(barWidth), stream)}  listing the districts  ${formatNumber(requests)} requests  ${rate}`;
  const filled = total === 0 ? barWidth : Math.round((done / total) * barWidth);
  const bar = paint('green', '━'.repeat(filled), stream) + paint('dim', '─'.repeat(barWidth - filled), stream);
  const left =
    done === total ? 'done' : done === 0 ? '' : `${formatSeconds(((now - since) / 1000 / done) * (total - done))} left`;
  return `${bar}  ${formatNumber(done)}/${formatNumber(total)} districts  ${formatNumber(records)} records  ${rate}  ${left}`.trimEnd();
}

/** One line per warning, per step and per quarter of a dataset: fit for a log file. */
function createLines(stream: NodeJS.WriteStream): Progress {
  const datasets = new Map<string, DatasetProgress>();
  return {
    report(event) {
      note(datasets, event, 0);
      if (event.kind === 'warning') stream.write(`warning: ${printable(event.message)}\n`);
      const shown = shownStep(event);
      if (shown !== null) stream.write(`${shown}\n`);
      if (event.kind === 'district') {
        const { done, total, records } = datasets.get(event.dataset)!;
        if (total !== null && Math.floor((done * 4) / total) > Math.floor(((done - 1) * 4) / total)) {
          stream.write(
            `${event.dataset}: ${formatNumber(done)} of ${formatNumber(total)} districts, ${formatNumber(records)} records\n`,
          );
        }
      }
    },
    end() {},
  };
}

function shownStep(event: RunEvent): string | null {
  return event.kind === 'step' ? (shownSteps[event.step] ?? null) : null;
}

function note(datasets: Map<string, DatasetProgress>, event: RunEvent, now: number): void {
  if (event.kind === 'warning' || event.kind === 'step') return;
  let progress = datasets.get(event.dataset);
  if (progress === undefined) {
    progress = { started: now, since: now, total: null, done: 0, records: 0, requests: 0 };
    datasets.set(event.dataset, progress);
  }
  if (event.kind === 'request') progress.requests += 1;
  if (event.kind === 'districts') {
    progress.total = event.total;
    progress.since = now;
  }
  if (event.kind === 'district') {
    progress.done += 1;
    progress.records += event.records;
  }
}

/** 42 s, 3 min 5 s, 2 h 10 min. */
function formatSeconds(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** The beginning of a line that fills `width` columns; colours take none, and what was cut off cannot leave one on. */
function cutToWidth(line: string, width: number): string {
  let room = width;
  let cut = '';
  for (const part of line.split(colour)) {
    if (part.startsWith('\u001b')) cut += part;
    else {
      cut += part.slice(0, Math.max(0, room));
      room -= part.length;
    }
  }
  return cut;
}
