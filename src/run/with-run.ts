/** Runs a sync or a replay: locks the warehouse, plans, acts, and records how the run ended. */

import { existsSync } from 'node:fs';
import { boundSignal } from '../runtime/bound-signal.ts';
import { RekapError, tookTooLong } from '../errors.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import { parentsOf } from '../project/validate-reading.ts';
import { planScopes } from '../publish/carry-over.ts';
import type { Scopes } from '../stages.ts';
import { lockWarehouse } from '../publish/lock.ts';
import {
  beginSnapshotFolder,
  clearLeftovers,
  discardSnapshotFolder,
  makeWarehouse,
} from '../publish/snapshot-folder.ts';
import { explainFileError } from '../warehouse/file-errors.ts';
import type { RunStep } from '../runtime/context.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';
import { recordKilled } from '../publish/killed-runs.ts';
import { figuresOf, recordEnd, recordFailure } from '../publish/record-run.ts';
import { pruneLandings } from '../publish/landings.ts';
import type { Run, SyncContext, SyncOptions, SyncResult } from '../publish/run.ts';

/** A run before it has a plan. */
export type Begun = Omit<Run, keyof Planned | 'requested' | 'folder' | 'signal' | 'scopes' | 'figures'>;
type Planned = Pick<Run, 'id' | 'landing' | 'startedAt' | 'previous' | 'current' | 'pinned'> & {
  /** Those of the run that is replayed. */
  readonly stored?: Scopes;
};
type Ended = Pick<SyncResult, 'outcome' | 'current' | 'snapshot' | 'manifest' | 'broken_checks' | 'pruned'> &
  Partial<Pick<SyncResult, 'equals'>>;

/**
 * Runs `plan` and `act` under the lock of the warehouse, records the end of the run, and removes temporary files.
 *
 * @throws The error that ended the run. The previous snapshot then stays unchanged.
 */
export async function withRun<Plan extends Planned>(
  given: Pick<Run, 'kind' | 'project' | 'reportModule' | 'files' | 'options' | 'context'>,
  plan: (begun: Begun) => Promise<Plan>,
  act: (run: Run & Plan) => Promise<Ended>,
): Promise<SyncResult> {
  const { options, context } = given;
  const { warehouse } = options;
  const warnings: string[] = [];
  const steps: [RunStep, number][] = [];
  const keptContext = keepWarnings(context, options, warnings);
  const begun: Begun = {
    ...given,
    context: keptContext,
    warn: (message) => keptContext.report({ kind: 'warning', message }),
    enter(step) {
      steps.push([step, context.clock.monotonic()]);
      keptContext.report({ kind: 'step', step });
    },
    warnings,
    steps,
    begunAt: context.clock.now(),
    started: context.clock.monotonic(),
  };
  try {
    await makeWarehouse(warehouse, begun.warn);
    const unlock = await orRecorded(begun, () => lockWarehouse(warehouse));
    try {
      return await actLocked(begun, plan, act);
    } finally {
      unlock();
    }
  } catch (error) {
    throw explainFileError(error, warehouse);
  }
}

async function orRecorded<Value>(begun: Begun, begin: () => Promise<Value>): Promise<Value> {
  try {
    return await begin();
  } catch (error) {
    throw await recordFailure({ ...begun, id: null, figures: null }, error);
  }
}

async function actLocked<Plan extends Planned>(
  begun: Begun,
  plan: (begun: Begun) => Promise<Plan>,
  act: (run: Run & Plan) => Promise<Ended>,
): Promise<SyncResult> {
  const { kind, project, options, context, enter } = begun;
  const { warehouse, maxDuration, dryRun } = options;
  const planned = await orRecorded(begun, async () => {
    enter('clear leftovers');
    await clearLeftovers(warehouse);
    // A replay can't send the notice of a killed sync, so it leaves that to the next sync.
    if (kind === 'sync') await recordKilled(warehouse);
    const made = await plan(begun);
    context.report({ kind: 'begin', run: made.id });
    enter('begin');
    return { ...made, folder: await beginSnapshotFolder(warehouse, made.id) };
  });
  const bound = boundSignal(context.signal, maxDuration, () =>
    tookTooLong(kind, maxDuration, 'Nothing was published. '),
  );
  const requested = requestedPipelines(project, options);
  const run: Run & Plan = { ...begun, ...planned, requested, signal: bound.signal, scopes: new Map(), figures: null };
  try {
    run.scopes = await planScopes(run, planned.stored ?? null);
    const { equals = null, manifest, broken_checks, ...end } = await act(run);
    enter('record the run');
    await recordEnd(run, { ...end, manifest });
    if (kind === 'sync' && !dryRun) await pruneLandings(options).catch(() => undefined);
    // In the order of --json: the outcome first, long values last.
    return {
      kind,
      run: run.id,
      ...end,
      pinned: run.pinned,
      equals,
      warehouse,
      landing: existsSync(run.landing) ? run.landing : null,
      warnings: run.warnings,
      figures: figuresOf(run),
      broken_checks,
      manifest,
    };
  } catch (error) {
    // If this fails, the next run removes the folder.
    await discardSnapshotFolder(run.folder).catch(() => undefined);
    // An aborted DuckDB statement throws its own error, without the reason.
    const cause = bound.signal.aborted && !(error instanceof RekapError) ? bound.signal.reason : error;
    const failure = await recordFailure(run, cause);
    if (kind === 'sync' && !dryRun) await pruneLandings(options).catch(() => undefined);
    throw failure;
  } finally {
    bound.end();
  }
}

/**
 * Returns the pipelines that a run reads: the requested ones, limited to those with partitions if partitions are requested, and those whose
 * records name the partitions of others.
 */
function requestedPipelines(project: Project, { datasets, partitions }: SyncOptions): AnyPipeline[] {
  const requested = new Set(
    project.pipelines
      .filter(({ table }) => datasets === null || datasets.includes(table))
      .filter(({ partition }) => partitions === null || partition !== undefined)
      .map(({ table }) => table),
  );
  // Requested partitions don't need a parent pipeline to name them.
  if (partitions === null)
    for (const table of requested) for (const parent of parentsOf(project, table)) requested.add(parent);
  return project.pipelines.filter(({ table }) => requested.has(table));
}

function keepWarnings(context: SyncContext, { apiKey }: SyncOptions, warnings: string[]): SyncContext {
  return {
    ...context,
    report(event) {
      if (event.kind !== 'warning') return context.report(event);
      const message = apiKey.redact(event.message);
      warnings.push(message);
      context.report({ kind: 'warning', message });
    },
  };
}

const sampleSource = 'sample';

/** @throws `source-mismatch` if the warehouse has figures of another source, because one history must not mix two sources. */
export function checkSource(
  { source, acceptSource, warehouse }: Pick<SyncOptions, 'source' | 'acceptSource' | 'warehouse'>,
  previous: Snapshot | null,
): void {
  if (previous === null || acceptSource || previous.manifest.source === source || startsNewHistory(source, previous))
    return;
  throw new RekapError(
    'source-mismatch',
    `The warehouse ${warehouse} contains figures from ${previous.manifest.source}, not from ${source}.`,
    source === sampleSource
      ? 'Do not mix sample figures with real ones. Choose another folder with --warehouse.'
      : 'Choose another folder with --warehouse, or add --accept-source if the source has a new URL.',
  );
}

/** Returns whether a new history starts with this source: no figure is compared with the sample. */
export function startsNewHistory(source: string, previous: Snapshot | null): boolean {
  return previous?.manifest.source === sampleSource && source !== sampleSource;
}
