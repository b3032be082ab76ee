/** Records in runs.jsonl how a run ended, published or not. */

import { ExitCode, RekapError, systemReason } from '../errors.ts';
import type { SourceClient } from '../extract/ask/source-client.ts';
import { explainFileError } from '../warehouse/file-errors.ts';
import { appendRun, type RunLine } from '../publish/runs-log.ts';
import type { SyncFigures, SyncOptions, SyncResult, SyncContext } from './sync-options.ts';
import { readCurrentId } from '../warehouse/warehouse.ts';

/** Who was asked for answers, and what that came to. */
export type Asked = Pick<SourceClient, 'figures'>;

/** What is recorded of a run, as soon as it is asked for. */
export interface Attempt {
  readonly kind: SyncResult['kind'];
  /** Null until there is a plan. */
  readonly id: string | null;
  readonly options: SyncOptions;
  readonly around: SyncContext;
  /** Those reported so far. */
  readonly warnings: readonly string[];
  readonly begunAt: Date;
  readonly started: number;
  client: Asked | null;
}

/** Should the line not be written, what was published is published all the same. */
export async function recordEnd(
  run: Attempt,
  { outcome, current }: Pick<SyncResult, 'outcome' | 'current'>,
): Promise<void> {
  try {
    await appendRun(run.options.warehouse, runLine(run, outcome, ExitCode.done, current, ''));
  } catch (error) {
    run.around.report({ kind: 'warning', message: `runs.jsonl could not be written: ${systemReason(error)}` });
  }
}

/** An error that a source has woven the key into, without it. The stack repeats the message as it first was. */
function withoutKey(error: unknown, { apiKey }: SyncOptions): unknown {
  if (error instanceof Error) {
    error.message = apiKey.redact(error.message);
    if (error.stack !== undefined) error.stack = apiKey.redact(error.stack);
  }
  return error;
}

/** What the run's requests came to so far. */
export function figuresOf({ kind, options, client, around, started }: Attempt): SyncFigures {
  const milliseconds = Math.round(around.clock.monotonic() - started);
  const none = {
    requests: 0,
    retries: 0,
    bytes: 0,
    throttled: 0,
    lowest_concurrency: options.concurrency,
    from_landing: 0,
    milliseconds,
  };
  if (client === null) return none;
  const { requests, retries, bytes, throttled, lowestConcurrency, resumed } = client.figures;
  // What a replay asks for never leaves the machine.
  if (kind === 'replay') return { ...none, from_landing: requests };
  return {
    requests,
    retries,
    bytes,
    throttled,
    lowest_concurrency: lowestConcurrency,
    from_landing: resumed,
    milliseconds,
  };
}

function runLine(
  run: Attempt,
  outcome: RunLine['outcome'],
  exitCode: number,
  snapshot: string | null,
  reason: string,
): RunLine {
  const { requests, retries } = figuresOf(run);
  return {
    run: run.id,
    kind: run.kind,
    started_at: run.begunAt.toISOString(),
    finished_at: run.around.clock.now().toISOString(),
    outcome,
    exit_code: exitCode,
    source: run.options.source,
    snapshot,
    reason,
    requests,
    retries,
  };
}

/** Records why a run ended without a result; gives the error as the user is to see it. */
export async function recordFailure(attempt: Attempt, error: unknown): Promise<unknown> {
  const { warehouse } = attempt.options;
  const explained = withoutKey(explainFileError(error, warehouse), attempt.options);
  const exitCode = explained instanceof RekapError ? explained.exitCode : ExitCode.unexpected;
  const reason = explained instanceof Error ? explained.message : String(explained);
  const current = await readCurrentId(warehouse).catch(() => null);
  // A disk too full for the line must not hide why the run failed.
  await appendRun(warehouse, runLine(attempt, outcomeOf(exitCode), exitCode, current, reason)).catch(() => undefined);
  return explained;
}

function outcomeOf(exitCode: number): RunLine['outcome'] {
  if (exitCode === ExitCode.gate || exitCode === ExitCode.busy) return 'refused';
  return exitCode >= ExitCode.hungUp ? 'interrupted' : 'failed';
}
