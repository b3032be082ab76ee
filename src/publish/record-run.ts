/** Records in runs.jsonl how a run, push or pull ended. */

import { ExitCode, messageOf, RekapError, systemReason } from '../errors.ts';
import type { Clock } from '../runtime/context.ts';
import { describeReadings } from '../warehouse/describe-reading.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';
import { appendRun, readRuns, type RunLine } from '../warehouse/runs-log.ts';
import { explainFileError } from '../warehouse/file-errors.ts';
import { readCurrentId, requireWarehouse } from '../warehouse/warehouse.ts';
import type { Run, SyncFigures, SyncOptions, SyncResult } from './run.ts';

/** Maximum warnings in a line. The landing contains all of them. */
const maxWarnings = 50;

/** `id` is null if the run failed before it had one. */
type Recorded = Pick<Run, 'kind' | 'options' | 'context' | 'warnings' | 'steps' | 'begunAt' | 'started' | 'figures'> & {
  readonly id: string | null;
};

/** Records a sync that failed before it began, for example because its key file is missing. Does nothing if the run already has a line. */
export async function recordEarlyFailure(
  { warehouse, source, begunAt }: { readonly warehouse: string; readonly source: string; readonly begunAt: Date },
  error: unknown,
): Promise<void> {
  const lines = await readRuns(warehouse);
  if (lines.some(({ kind, started_at }) => kind === 'sync' && Date.parse(started_at) >= begunAt.getTime())) return;
  await requireWarehouse(warehouse);
  await appendRun(warehouse, {
    run: null,
    kind: 'sync',
    started_at: begunAt.toISOString(),
    finished_at: new Date().toISOString(),
    source,
    snapshot: await readCurrentId(warehouse),
    requests: 0,
    retries: 0,
    ...describeFailure(error),
  });
}

interface Transfer {
  readonly kind: 'push' | 'pull' | 'lake';
  readonly warehouse: string;
  readonly bucket: string;
  readonly clock: Pick<Clock, 'now'>;
  /** True to record only new snapshots, because a copy may pull every minute. */
  readonly isQuiet: boolean;
}

/** Runs a push, a pull or a publication to a catalog, and records its result or failure. A failed record is ignored, because the warehouse may be read-only. */
export async function recordTransfer<Result extends Pick<RunLine, 'outcome' | 'bytes'>>(
  { kind, warehouse, bucket, clock, isQuiet }: Transfer,
  transfer: () => Promise<Result>,
  readManifest: (result: Result) => Manifest | Promise<Manifest>,
): Promise<Result> {
  const started_at = clock.now().toISOString();
  const none = { run: null, source: '', snapshot: null, requests: 0, retries: 0, rows: {}, quarantined: {} };
  const append = async (end: Pick<RunLine, 'outcome' | 'exit_code' | 'reason'> & Partial<RunLine>) => {
    const finished_at = clock.now().toISOString();
    await appendRun(warehouse, { ...none, kind, started_at, finished_at, bucket, ...end }).catch(() => undefined);
  };
  try {
    const result = await transfer();
    const { outcome, bytes } = result;
    if (isQuiet && outcome === 'unchanged') return result;
    const manifest = await readManifest(result);
    const { source, snapshot } = manifest;
    await append({ outcome, exit_code: ExitCode.done, reason: '', bytes, source, snapshot, ...countsOf(manifest) });
    return result;
  } catch (error) {
    if (!isQuiet) await append(describeFailure(error));
    throw error;
  }
}

/** Records a finished run. Only warns on failure, because the snapshot is already published. */
export async function recordEnd(
  run: Run,
  { outcome, current, manifest }: Pick<SyncResult, 'outcome' | 'current' | 'manifest'>,
): Promise<void> {
  try {
    await appendRun(run.options.warehouse, {
      ...runLine(run, outcome, ExitCode.done, current, ''),
      ...countsOf(manifest),
    });
  } catch (error) {
    run.warn(`runs.jsonl cannot be written: ${systemReason(error)}`);
  }
}

function countsOf({ datasets, violation_ages }: Pick<Manifest, 'datasets' | 'violation_ages'>) {
  const tables = Object.entries(datasets);
  const notes = describeReadings(datasets);
  return {
    rows: Object.fromEntries(tables.map(([table, { rows }]) => [table, rows])),
    quarantined: Object.fromEntries(tables.map(([table, { quarantined }]) => [table, quarantined])),
    violation_ages,
    ...(notes.length > 0 && { notes }),
  };
}

export async function recordFailure(run: Recorded, error: unknown): Promise<unknown> {
  const { warehouse } = run.options;
  const explained = redactKey(explainFileError(error, warehouse), run.options);
  const { outcome, exit_code: exitCode, reason } = describeFailure(explained);
  const current = await readCurrentId(warehouse).catch(() => null);
  // A full disk must not hide why the run failed.
  await appendRun(warehouse, runLine(run, outcome, exitCode, current, reason)).catch(() => undefined);
  return explained;
}

function describeFailure(error: unknown): Pick<RunLine, 'outcome' | 'exit_code' | 'reason'> {
  const exit_code = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
  return { outcome: outcomeOf(exit_code), exit_code, reason: messageOf(error) };
}

function outcomeOf(exitCode: number): RunLine['outcome'] {
  if (exitCode === ExitCode.gate || exitCode === ExitCode.busy) return 'refused';
  return exitCode >= ExitCode.hungUp ? 'interrupted' : 'failed';
}

/** Removes the key from an error's message and stack, because a source may repeat it. */
function redactKey(error: unknown, { apiKey }: SyncOptions): unknown {
  if (error instanceof Error) {
    error.message = apiKey.redact(error.message);
    if (error.stack !== undefined) error.stack = apiKey.redact(error.stack);
  }
  return error;
}

export function figuresOf({ options, context, started, figures }: Recorded): SyncFigures {
  return {
    requests: figures?.requests ?? 0,
    retries: figures?.retries ?? 0,
    bytes: figures?.bytes ?? 0,
    throttled: figures?.throttled ?? 0,
    lowest_concurrency: figures?.lowestConcurrency ?? options.concurrency,
    from_landing: figures?.fromLanding ?? 0,
    milliseconds: Math.round(context.clock.monotonic() - started),
  };
}

function runLine(
  run: Recorded,
  outcome: RunLine['outcome'],
  exitCode: number,
  snapshot: string | null,
  reason: string,
): RunLine {
  const { requests, retries, bytes, milliseconds } = figuresOf(run);
  const statuses = run.figures?.statuses ?? {};
  const begun = run.steps.map(([step, at]) => [step.replaceAll(' ', '_'), Math.round(at - run.started)] as const);
  const steps = begun.map(([step, at], index) => [step, (begun[index + 1]?.[1] ?? milliseconds) - at] as const);
  return {
    run: run.id,
    kind: run.kind,
    started_at: run.begunAt.toISOString(),
    finished_at: run.context.clock.now().toISOString(),
    outcome,
    exit_code: exitCode,
    source: run.options.source,
    snapshot,
    reason,
    requests,
    retries,
    bytes,
    statuses,
    steps: Object.fromEntries(steps),
    warnings: run.warnings.slice(0, maxWarnings),
  };
}
