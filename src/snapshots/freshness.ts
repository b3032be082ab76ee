/** Decides from the lines of runs.jsonl whether a warehouse is up to date. */

import { ExitCode } from '../errors.ts';
import type { RunLine } from '../warehouse/runs-log.ts';

/** Whether the data of a warehouse is fresh. */
export interface Status {
  /** 'failed' if the last run failed but the data is fresh enough. */
  readonly state: 'fresh' | 'stale' | 'failed';
  readonly exitCode: number;
  /** The newest sync that published or found no changes, or null. */
  readonly newestSuccess: RunLine | null;
  /** The newest sync that built a snapshot, or null. Later syncs may be unchanged. */
  readonly newestPublished: RunLine | null;
  /** The last sync if it failed, or else the last push or publication to a catalog if it failed. */
  readonly failure: RunLine | null;
  /** Milliseconds since the last success started, or null. */
  readonly age: number | null;
}

function isSync({ kind, outcome }: RunLine): boolean {
  return (kind === 'sync' || kind === 'pull') && outcome !== 'dry run';
}

/** Returns runs that show the state of the source: syncs and pulls, but not dry runs, replays, or syncs that found the warehouse busy. */
function sourceRuns(lines: readonly RunLine[]): RunLine[] {
  return lines.filter((line) => isSync(line) && line.exit_code !== ExitCode.busy);
}

function isSuccess(line: RunLine): boolean {
  return isNew(line) || line.outcome === 'unchanged';
}

function isNew({ outcome }: RunLine): boolean {
  return outcome === 'published' || outcome === 'held' || outcome === 'pulled';
}

function lastOf(wanted: RunLine['kind'], lines: readonly RunLine[]): RunLine | null {
  return lines.findLast(({ kind, outcome }) => kind === wanted && outcome !== 'interrupted') ?? null;
}

/** Returns when the newest sync started, or null. Ignores interrupted syncs, which a schedule repeats. */
export function lastBegun(lines: readonly RunLine[]): Date | null {
  const newest = sourceRuns(lines).findLast(({ kind, outcome }) => kind === 'sync' && outcome !== 'interrupted');
  return newest === undefined ? null : new Date(newest.started_at);
}

export function judgeStatus(lines: readonly RunLine[], now: Date, maxAge: number): Status {
  const syncs = sourceRuns(lines);
  const transfer = [lastOf('push', lines), lastOf('lake', lines)].find((line) => line?.outcome === 'failed') ?? null;
  const newestSuccess = syncs.findLast(isSuccess) ?? null;
  const newestPublished = syncs.findLast(isNew) ?? null;
  const last = syncs.at(-1) ?? null;
  const failure = last !== null && !isSuccess(last) ? last : transfer;
  const age = newestSuccess === null ? null : Math.max(0, now.getTime() - Date.parse(newestSuccess.started_at));
  const isStale = age === null || age > maxAge;
  const state = isStale ? 'stale' : failure === null ? 'fresh' : 'failed';
  const exitCode = { fresh: ExitCode.done, stale: ExitCode.stale, failed: ExitCode.lastFailed }[state];
  return { state, exitCode, newestSuccess, newestPublished, failure, age };
}

export interface RunsSummary {
  /** The last sync or pull, even if it found the warehouse busy. */
  readonly last: RunLine | null;
  readonly lastFromSource: RunLine | null;
  readonly success: RunLine | null;
  readonly push: RunLine | null;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly refusals: number;
}

/** Summarizes the log of runs. Pulls count as syncs. Dry runs and replays don't show the state of the source. */
export function summarizeRuns(lines: readonly RunLine[]): RunsSummary {
  const syncs = lines.filter(isSync);
  const outcomes = new Map<string, number>();
  for (const { outcome } of syncs) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  return {
    last: syncs.at(-1) ?? null,
    lastFromSource: sourceRuns(lines).at(-1) ?? null,
    success: syncs.findLast(isSuccess) ?? null,
    push: lastOf('push', lines),
    outcomes,
    refusals: syncs.filter(({ exit_code }) => exit_code === ExitCode.gate).length,
  };
}
