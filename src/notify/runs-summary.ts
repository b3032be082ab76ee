/** Summarizes the log of runs for the metrics and the schedule's /health; the summary stays small however long the log is. */

import { ExitCode } from '../errors.ts';
import type { RunLine } from '../warehouse/runs-log.ts';
import { isSuccess, lastPush, tellingRuns } from '../snapshots/freshness.ts';

export interface RunsSummary {
  /** The last sync or pull, also one that found the warehouse busy. */
  readonly last: RunLine | null;
  /** The last of these that says something of the source. */
  readonly lastTelling: RunLine | null;
  readonly success: RunLine | null;
  readonly push: RunLine | null;
  /** Syncs by outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Syncs that the gate refused. */
  readonly refusals: number;
}

export const noRuns: RunsSummary = {
  last: null,
  lastTelling: null,
  success: null,
  push: null,
  outcomes: new Map(),
  refusals: 0,
};

/** Adds a line. A dry run and a replay say nothing of the source; the pulls of a mirror count as syncs. */
export function addRun(summary: RunsSummary, line: RunLine): RunsSummary {
  const { kind, outcome, exit_code } = line;
  const push = lastPush([line]) ?? summary.push;
  if ((kind !== 'sync' && kind !== 'pull') || outcome === 'dry run') return { ...summary, push };
  return {
    last: line,
    lastTelling: tellingRuns([line])[0] ?? summary.lastTelling,
    success: isSuccess(line) ? line : summary.success,
    push,
    outcomes: new Map(summary.outcomes).set(outcome, (summary.outcomes.get(outcome) ?? 0) + 1),
    refusals: summary.refusals + (exit_code === ExitCode.gate ? 1 : 0),
  };
}
