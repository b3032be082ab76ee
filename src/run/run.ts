/** One run, of a sync or of a replay: what it carries along, how it begins under the lock, and how it is recorded when it ends. */

import { existsSync } from 'node:fs';
import { boundSignal } from '../bound-signal.ts';
import { RekapError } from '../errors.ts';
import { explainFileError } from '../warehouse/file-errors.ts';
import { pruneLandings } from './retention.ts';
import type { AnyPipeline, Project } from '../pipeline.ts';
import type { RunStep } from '../context.ts';
import { lockWarehouse } from '../publish/lock.ts';
import {
  beginSnapshotFolder,
  clearLeftovers,
  discardSnapshotFolder,
  makeWarehouse,
} from '../publish/snapshot-folder.ts';
import { figuresOf, recordEnd, recordFailure, type Attempt } from './record-run.ts';
import type { SyncOptions, SyncResult, SyncContext } from './sync-options.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** What a run is to be, found out with the lock held. */
export interface RunPlan {
  /** Id of the run and of the snapshot that it publishes. */
  readonly id: string;
  /** Folder of the run's answers. */
  readonly landing: string;
  /** When the source was first asked; for a replay that lies back. */
  readonly startedAt: Date;
  readonly previous: Snapshot | null;
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
}

/** What makes a run a sync or a replay. */
export interface RunActs {
  readonly kind: Run['kind'];
  plan(around: SyncContext): Promise<RunPlan>;
  act(run: Run): Promise<RunEnd>;
}

/** How a run ended; all as in SyncResult. */
interface RunEnd extends Pick<
  SyncResult,
  'outcome' | 'current' | 'snapshot' | 'manifest' | 'broken_checks' | 'pruned'
> {
  readonly equals?: string | null;
}

/** Locks the warehouse, prepares a run, lets it act, records how it ended, and leaves nothing behind. */
export async function withRun(
  project: Project,
  options: SyncOptions,
  around: SyncContext,
  acts: RunActs,
): Promise<SyncResult> {
  const { warehouse } = options;
  const [begunAt, started] = [around.clock.now(), around.clock.monotonic()];
  const warnings: string[] = [];
  const telling = keepingWarnings(around, options, warnings);
  const attempt: Attempt = {
    kind: acts.kind,
    id: null,
    options,
    around: telling,
    warnings,
    begunAt,
    started,
    client: null,
  };
  try {
    await makeWarehouse(warehouse, (message) => telling.report({ kind: 'warning', message }));
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
    const found = await plan(around);
    enter('begin');
    return { planned: found, folder: await beginSnapshotFolder(warehouse, found.id) };
  });
  const bound = boundSignal(around.signal, options.maxDuration, () => tookTooLong(kind, options));
  const run: Run = {
    ...attempt,
    ...planned,
    project,
    asked: project.pipelines.filter(({ table }) => options.datasets === null || options.datasets.includes(table)),
    enter,
    folder,
    signal: bound.signal,
  };
  try {
    const { equals = null, manifest, broken_checks, ...end } = await act(run);
    enter('record the run');
    // As --json prints it: what became of the run comes first, and what is long last.
    const result = {
      kind,
      run: run.id,
      ...end,
      equals,
      warehouse,
      landing: run.landing,
      warnings: run.warnings,
      figures: figuresOf(run),
      broken_checks,
      manifest,
    };
    await recordEnd(run, end);
    return result;
  } catch (error) {
    // Where the disk fails, the next run removes it.
    await discardSnapshotFolder(run.folder).catch(() => undefined);
    throw await recordFailure(run, error);
  } finally {
    bound.end();
    if (kind === 'sync' && !options.dryRun) await pruneLandings(options).catch(() => undefined);
  }
}

/** RunContext that keep the warnings that are reported, and hide a key that a source has woven into one. */
function keepingWarnings(around: SyncContext, { apiKey }: SyncOptions, warnings: string[]): SyncContext {
  return {
    ...around,
    report(event) {
      if (event.kind !== 'warning') return around.report(event);
      const message = apiKey.redact(event.message);
      warnings.push(message);
      around.report({ kind: 'warning', message });
    },
  };
}

function tookTooLong(kind: Run['kind'], { maxDuration }: SyncOptions): RekapError {
  return new RekapError(
    'run-timeout',
    `The ${kind} was not done after ${Math.round(maxDuration / 1000)} s.`,
    'Nothing was published. Give it more time with --max-duration.',
  );
}

/** What a warehouse that was filled from the bundled sample remembers as its source. */
const sampleSource = 'sample';

/** The warehouse remembers its source: figures of two sources must not stand in one history by mistake. */
export function checkSource(
  { source, acceptSource, warehouse }: Pick<SyncOptions, 'source' | 'acceptSource' | 'warehouse'>,
  previous: Snapshot | null,
): void {
  if (previous === null || acceptSource || previous.manifest.source === source || beginsAnew(source, previous)) return;
  throw new RekapError(
    'source-mismatch',
    `The warehouse ${warehouse} was filled from ${previous.manifest.source}, not from ${source}.`,
    source === sampleSource
      ? 'Sample figures are made up and belong to no others: name another folder with --warehouse.'
      : 'Name another folder with --warehouse, or add --accept-source if the source has moved.',
  );
}

/** Whether the history begins with this source: the sample is nobody's data, and no figure is compared with it. */
export function beginsAnew(source: string, previous: Snapshot | null): boolean {
  return previous?.manifest.source === sampleSource && source !== sampleSource;
}
