/** One run, of a sync or of a replay: what it carries along, how it begins under the lock, and how it is recorded when it ends. */

import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { ExitCode, messageOf, RekapError, RunTimeoutError, SourceMismatchError } from './errors.ts';
import type { SourceClient } from './extract/source-client.ts';
import { explainFileError } from './file-errors.ts';
import { pruneLandings } from './retention.ts';
import type { AnyPipeline, Project } from './pipeline.ts';
import type { RunStep } from './surroundings.ts';
import { lockWarehouse } from './publish/lock.ts';
import { appendRun, type RunLine } from './publish/runs-log.ts';
import {
  beginSnapshotFolder,
  clearLeftovers,
  discardSnapshotFolder,
  makeWarehouse,
} from './publish/snapshot-folder.ts';
import type { SyncFigures, SyncOptions, SyncResult, SyncSurroundings } from './sync-options.ts';
import { readCurrentId, type Snapshot } from './warehouse.ts';

/** What a run is to be, found out with the lock held. */
export interface RunPlan {
  /** Id of the run and of the snapshot that it publishes. */
  readonly id: string;
  /** Folder of the run's answers. */
  readonly landing: string;
  /** When the source was first asked; for a replay that lies back. */
  readonly startedAt: Date;
  readonly previous: Snapshot | null;
  /** Districts to ask for besides those that the source lists: of the snapshot before, and known from law. */
  readonly knownDistricts: readonly number[];
  readonly referenceDistricts: readonly number[];
  /** Records that each table's list is likely to have, by the snapshot before or by law. */
  readonly expectedRecords: Readonly<Record<string, number>>;
  /** Warnings that the plan gave rise to. */
  readonly notices: readonly string[];
}

/** What is recorded of a run, as soon as it is asked for. */
interface Attempt {
  readonly kind: 'sync' | 'replay';
  /** Null until there is a plan. */
  readonly id: string | null;
  readonly options: SyncOptions;
  readonly around: SyncSurroundings;
  readonly begunAt: Date;
  readonly started: number;
  client: SourceClient | null;
}

/** Everything that one run carries along. */
export interface Run extends RunPlan, Attempt {
  readonly id: string;
  readonly project: Project;
  /** The pipelines that this run asks the source for. */
  readonly asked: readonly AnyPipeline[];
  /** Says which step the run has come to. */
  readonly enter: (step: RunStep) => void;
  /** Folder in which the snapshot is built. */
  readonly folder: string;
  /** Aborted by the caller, by the bound on the run's time, or when the run is over. */
  readonly signal: AbortSignal;
  readonly warnings: string[];
}

/** What makes a run a sync or a replay. */
export interface RunActs {
  readonly kind: Run['kind'];
  plan(): Promise<RunPlan>;
  act(run: Run): Promise<RunEnd>;
}

/** How a run ended; `snapshot` is what it published or reproduced where that is not of the run's own id, `equals` as in SyncResult. */
interface RunEnd extends Pick<SyncResult, 'outcome' | 'current' | 'manifest' | 'brokenChecks' | 'pruned'> {
  readonly snapshot?: string;
  readonly equals?: string | null;
}

/** Locks the warehouse, prepares a run, lets it act, records how it ended, and leaves nothing behind. */
export async function withRun(
  project: Project,
  options: SyncOptions,
  around: SyncSurroundings,
  acts: RunActs,
): Promise<SyncResult> {
  const { warehouse } = options;
  const [begunAt, started] = [around.clock.now(), around.clock.monotonic()];
  const attempt: Attempt = { kind: acts.kind, id: null, options, around, begunAt, started, client: null };
  try {
    await makeWarehouse(warehouse, (message) => around.report({ kind: 'warning', message }));
    const unlock = await orRecorded(attempt, () => lockWarehouse(warehouse));
    try {
      const result = await actLocked(project, attempt, acts);
      // Retention comes last, and may have taken it.
      return existsSync(result.landing ?? '') ? result : { ...result, landing: null };
    } finally {
      unlock();
    }
  } catch (error) {
    throw explainFileError(error, warehouse);
  }
}

/** What goes wrong before there is a run is recorded like its end. */
async function orRecorded<Value>(attempt: Attempt, begin: () => Promise<Value>): Promise<Value> {
  try {
    return await begin();
  } catch (error) {
    throw await recordFailure(attempt, error);
  }
}

async function actLocked(project: Project, attempt: Attempt, { plan, act }: RunActs): Promise<SyncResult> {
  const { kind, options, around } = attempt;
  const { warehouse } = options;
  const enter = (step: RunStep): void => around.report({ kind: 'step', step });
  const { planned, folder } = await orRecorded(attempt, async () => {
    enter('clear leftovers');
    await clearLeftovers(warehouse);
    const found = await plan();
    enter('begin');
    return { planned: found, folder: await beginSnapshotFolder(warehouse, found.id) };
  });
  const bound = boundRun(kind, around.signal, options.maxDuration);
  const warnings: string[] = [];
  const run: Run = {
    ...attempt,
    ...planned,
    project,
    asked: project.pipelines.filter(({ table }) => options.datasets === null || options.datasets.includes(table)),
    around: {
      ...around,
      report: (event) => {
        if (event.kind !== 'warning') return around.report(event);
        const message = options.apiKey.redact(event.message);
        warnings.push(message);
        around.report({ kind: 'warning', message });
      },
    },
    enter,
    folder,
    signal: bound.signal,
    warnings,
  };
  try {
    for (const message of run.notices) run.around.report({ kind: 'warning', message });
    const { snapshot = run.id, equals = null, ...end } = await act(run);
    enter('record the run');
    const result = {
      ...end,
      run: snapshot,
      equals,
      warehouse,
      landing: run.landing,
      warnings,
      figures: figuresOf(run),
    };
    await recordRun(run, runLine(run, end.outcome, 0, end.current, ''));
    return result;
  } catch (error) {
    await discardSnapshotFolder(run.folder);
    throw await recordFailure(run, error);
  } finally {
    bound.end();
    if (kind === 'sync' && !options.dryRun) await pruneLandings(options).catch(() => undefined);
  }
}

/** Should the line not be written, what was published is published all the same. */
async function recordRun({ options, around }: Run, line: RunLine): Promise<void> {
  try {
    await appendRun(options.warehouse, line);
  } catch (error) {
    around.report({
      kind: 'warning',
      message: `runs.jsonl could not be written: ${messageOf(error)}`,
    });
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
function figuresOf({ kind, options, client, around, started }: Attempt): SyncFigures {
  const milliseconds = around.clock.monotonic() - started;
  const none = {
    requests: 0,
    retries: 0,
    bytes: 0,
    throttled: 0,
    lowestConcurrency: options.concurrency,
    fromLanding: 0,
    milliseconds,
  };
  if (client === null) return none;
  const { requests, retries, bytes, throttled, lowestConcurrency, resumed } = client.figures;
  // What a replay asks for never leaves the machine.
  if (kind === 'replay') return { ...none, fromLanding: requests };
  return { requests, retries, bytes, throttled, lowestConcurrency, fromLanding: resumed, milliseconds };
}

/** The warehouse remembers its source: figures of two sources must not stand in one history by mistake. */
export function checkSource(
  { source, acceptSource, warehouse }: Pick<SyncOptions, 'source' | 'acceptSource' | 'warehouse'>,
  previous: Snapshot | null,
): void {
  if (previous === null || acceptSource || previous.manifest.source === source || beginsAnew(source, previous)) return;
  throw new SourceMismatchError(
    `The warehouse ${warehouse} was filled from ${previous.manifest.source}, not from ${source}.`,
    'Name another folder with --warehouse, or add --accept-source if the source has moved.',
  );
}

/** What a warehouse that was filled from the bundled sample remembers as its source. */
const sampleSource = 'sample';

/** Whether the history begins with this source: the sample is nobody's data, and no figure is compared with it. */
export function beginsAnew(source: string, previous: Snapshot | null): boolean {
  return previous?.manifest.source === sampleSource && source !== sampleSource;
}

/** A signal that the run ends by: the caller's, or its own bound on time; aborted too when the run is over, so that no wait outlives it. */
function boundRun(kind: Run['kind'], outer: AbortSignal, milliseconds: number) {
  const controller = new AbortController();
  // Every request and every wait under way listens, as many as --concurrency allows; Node would take more than ten for a leak.
  setMaxListeners(0, controller.signal);
  const pass = () => controller.abort(outer.reason);
  if (outer.aborted) pass();
  outer.addEventListener('abort', pass, { once: true });
  const timer = setTimeout(
    () => {
      controller.abort(
        new RunTimeoutError(
          `The ${kind} was not done after ${Math.round(milliseconds / 1000)} s.`,
          'Nothing was published. Give it more time with --max-duration.',
        ),
      );
    },
    // A timer that is set for longer than it can count goes off at once.
    Math.min(milliseconds, 2 ** 31 - 1),
  );
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      outer.removeEventListener('abort', pass);
      controller.abort();
    },
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
async function recordFailure(attempt: Attempt, error: unknown): Promise<unknown> {
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
  return exitCode >= ExitCode.interrupted ? 'interrupted' : 'failed';
}
