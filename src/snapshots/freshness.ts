/** Whether a warehouse is as fresh as it should be: takes the lines of runs.jsonl, the time and the greatest age, gives a verdict. */

import { ExitCode } from '../errors.ts';
import type { RunLine } from '../warehouse/runs-log.ts';

export interface Status {
  /** 'failed' is a warehouse that is fresh enough though its last run failed. */
  readonly state: 'fresh' | 'stale' | 'failed';
  readonly exitCode: number;
  /** The newest sync that published, or found nothing new; null where there is none. */
  readonly newestSuccess: RunLine | null;
  /** The newest sync that built a new snapshot; an unchanged one may have come since. */
  readonly newestPublished: RunLine | null;
  /** The last sync of all, unless that is the newest success; else the last push, if it failed. */
  readonly failure: RunLine | null;
  /** Milliseconds since the newest success began to read; null where there is none. */
  readonly age: number | null;
}

/**
 * Runs that bring data: syncs, and the pulls of a mirror. A dry run and a replay say nothing of the source, nor does a sync that found the
 * warehouse busy.
 */
export function tellingRuns(lines: readonly RunLine[]): RunLine[] {
  return lines.filter(
    ({ kind, outcome, exit_code }) =>
      (kind === 'sync' || kind === 'pull') && outcome !== 'dry run' && exit_code !== ExitCode.busy,
  );
}

/** Whether a run has shown what the source holds: a new snapshot, or that nothing is new. */
export function isSuccess(line: RunLine): boolean {
  return isNew(line) || line.outcome === 'unchanged';
}

function isNew({ outcome }: RunLine): boolean {
  return outcome === 'published' || outcome === 'held' || outcome === 'pulled';
}

/** The last push that came to an end; null where there was none. */
export function lastPush(lines: readonly RunLine[]): RunLine | null {
  return lines.findLast(({ kind, outcome }) => kind === 'push' && outcome !== 'interrupted') ?? null;
}

/** When the newest sync began; null where there was none. One that was broken off does not count: a schedule makes up for it. */
export function lastBegun(lines: readonly RunLine[]): Date | null {
  const newest = tellingRuns(lines).findLast(({ kind, outcome }) => kind === 'sync' && outcome !== 'interrupted');
  return newest === undefined ? null : new Date(newest.started_at);
}

export function judgeStatus(lines: readonly RunLine[], now: Date, maxAge: number): Status {
  const syncs = tellingRuns(lines);
  const push = lastPush(lines);
  const newestSuccess = syncs.findLast(isSuccess) ?? null;
  const newestPublished = syncs.findLast(isNew) ?? null;
  const last = syncs.at(-1) ?? null;
  const failure = last !== null && !isSuccess(last) ? last : push?.outcome === 'failed' ? push : null;
  const age = newestSuccess === null ? null : Math.max(0, now.getTime() - Date.parse(newestSuccess.started_at));
  const isStale = age === null || age > maxAge;
  const state = isStale ? 'stale' : failure === null ? 'fresh' : 'failed';
  const exitCode = { fresh: ExitCode.done, stale: ExitCode.stale, failed: ExitCode.lastFailed }[state];
  return { state, exitCode, newestSuccess, newestPublished, failure, age };
}

export interface RunsSummary {
  /** The last sync or pull, also if it found the warehouse busy. */
  readonly last: RunLine | null;
  /** The last sync or pull that read the source. */
  readonly lastTelling: RunLine | null;
  readonly success: RunLine | null;
  readonly push: RunLine | null;
  /** Syncs by outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Syncs that the gate refused. */
  readonly refusals: number;
}

/** Summarizes the log of runs. A dry run and a replay don't show the state of the source; the pulls of a mirror count as syncs. */
export function summarizeRuns(lines: readonly RunLine[]): RunsSummary {
  const syncs = lines.filter(({ kind, outcome }) => (kind === 'sync' || kind === 'pull') && outcome !== 'dry run');
  const outcomes = new Map<string, number>();
  for (const { outcome } of syncs) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  return {
    last: syncs.at(-1) ?? null,
    lastTelling: tellingRuns(lines).at(-1) ?? null,
    success: syncs.findLast(isSuccess) ?? null,
    push: lastPush(lines),
    outcomes,
    refusals: syncs.filter(({ exit_code }) => exit_code === ExitCode.gate).length,
  };
}
