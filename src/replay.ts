/** Composes the stages of a replay: read accepted pages from the landing, build, check, and compare or publish. */

import { join } from 'node:path';
import { RekapError } from './errors.ts';
import type { RunFile } from './land/formats.ts';
import { readRunFile } from './land/landed-run.ts';
import type { Project } from './project/declaration.ts';
import { differingFigures, historyOf, holdsSameTables, writeManifest } from './publish/manifest.ts';
import { discardSnapshotFolder, latestRunId, newSnapshotId } from './publish/snapshot-folder.ts';
import { nameSnapshotFolder, pointCurrent, publishSnapshotFolder } from './publish/switch-current.ts';
import { verifySnapshot } from './publish/verify-snapshot.ts';
import { findAltered } from './warehouse/check-files.ts';
import type { Manifest } from './warehouse/snapshot-format.ts';
import { listSnapshotIds, readPinnedId, requireWarehouse, type Snapshot } from './warehouse/warehouse.ts';
import { beginLoad, build, stage } from './build.ts';
import { requireSql } from './load/try-sql.ts';
import { describeBuilt, requireVerified } from './publish/check-built.ts';
import { definitionFingerprint } from './publish/describe-snapshot.ts';
import { openLandedReadings } from './landed-readings.ts';
import type { Attempt, ReplayOptions, Run, SyncContext, SyncResult } from './run-options.ts';
import { planCarryOver } from './publish/previous.ts';
import {
  findLanding,
  optionsOf,
  previousOf,
  readCurrentIdOrNone,
  readCurrentOrWarn,
  readIfThere,
  readUnaltered,
  type Replay,
  requireApart,
  requireKnown,
} from './replay-plan.ts';
import { checkSource, withRun } from './run.ts';
import { addReport } from './publish/write-report.ts';
import { orClose } from './runtime/bound-signal.ts';

export async function projectOfReplay(requested: Pick<ReplayOptions, 'warehouse' | 'run'>): Promise<Project> {
  await requireWarehouse(requested.warehouse);
  return (await readRunFile((await findLanding(requested)).landing)).project;
}

/**
 * Builds the snapshot of an earlier run again from its stored responses. If the snapshot of the run exists, is intact and has the same
 * definition, the new one must equal it. Otherwise the new one is published. It becomes current if no snapshot is, for example because the
 * link is broken.
 *
 * @throws `run-not-found`; `landing` if the landing is damaged or its run was interrupted; `verification` if the tables differ from those
 * that were published.
 */
export async function replay(requested: ReplayOptions, context: SyncContext): Promise<SyncResult> {
  await requireWarehouse(requested.warehouse);
  await requireApart(requested);
  const { landing, notices } = await findLanding(requested);
  const file = await readRunFile(landing);
  requireKnown(landing, file);
  const { project } = file;
  // A landing may come from someone else, so its SQL first runs in a sealed database.
  await requireSql(project);
  const { reportModule } = requested;
  const options = optionsOf(requested, file);
  const plan = async (attempt: Attempt): Promise<Replay> => {
    for (const message of notices) attempt.warn(message);
    return planReplay(attempt, requested, landing, file);
  };
  return withRun({ kind: 'replay', project, reportModule, options, context }, plan, async (run) => {
    for (const snapshot of new Set([run.original, run.published]))
      if (snapshot !== null) await requireSameLanding(landing, snapshot.manifest);
    const carryOver = await planCarryOver(run);
    const landed = await openLandedReadings(run);
    const built = await orClose([landed], async () => {
      const load = await beginLoad(run);
      return build(run, load, await stage(run, load, landed.readings), carryOver);
    });
    await landed.close();
    const described = await describeBuilt(run, built);
    await requireVerified(run, described);
    const { manifest } = described;
    const equals = await requireSameFigures(run, manifest);
    const { outcome, current, manifest: complete } = await publish(run, manifest);
    const snapshot =
      outcome === 'reproduced'
        ? (run.published?.id ?? current)
        : outcome === 'published' || outcome === 'held'
          ? run.id
          : null;
    return { outcome, snapshot, current, equals, pruned: [], manifest: complete, broken_checks: built.brokenChecks };
  });
}

async function planReplay(attempt: Attempt, requested: ReplayOptions, landing: string, file: RunFile): Promise<Replay> {
  const { project, options, context } = attempt;
  const { warehouse } = options;
  checkSource(options, await readCurrentOrWarn(attempt));
  const original = await readUnaltered(requested.warehouse, file.run);
  const published = requested.into === null ? original : await readUnaltered(warehouse, file.run);
  const isWhole =
    published !== null && hasSameDefinition(project, published) && (await isIntact(published, context.signal));
  const current = await readCurrentIdOrNone(warehouse);
  const isFree = isWhole || !(await listSnapshotIds(warehouse)).includes(file.run);
  return {
    id: isFree ? file.run : newSnapshotId(context.clock.now(), context.random(), await latestRunId(warehouse)),
    landing,
    startedAt: new Date(file.started_at),
    file,
    original,
    published,
    isWhole,
    current,
    // A pin doesn't apply if `current` is broken and the replay restores it.
    pinned: current === null ? null : await readPinnedId(warehouse),
    previous: await previousOf(attempt, requested, { file, original }),
  };
}

async function isIntact({ folder, manifest }: Snapshot, signal: AbortSignal): Promise<boolean> {
  return (await verifySnapshot(folder, manifest, { signal })).length === 0;
}

/** Returns whether a snapshot has the current tables, views and checks. Only then can another one equal it. */
function hasSameDefinition(project: Project, { manifest }: Snapshot): boolean {
  return manifest.definition === definitionFingerprint(project);
}

/** Checks the landing against the hashes in the manifest. It contains the hashes of its bodies itself. */
async function requireSameLanding(landing: string, manifest: Manifest): Promise<void> {
  const [first] = await findAltered(landing, manifest.landing);
  if (first === undefined) return;
  throw new RekapError(
    'landing',
    `${join(landing, first.path)} has changed since its run was published: ${first.why}.`,
    'Replay another run, or run the sync again.',
  );
}

/** Compares the new snapshot with the published one of the same definition. Returns its id if everything could be compared. */
async function requireSameFigures(run: Run & Replay, manifest: Manifest): Promise<string | null> {
  const { original, published, file } = run;
  const model = published ?? original;
  if (model === null || !hasSameDefinition(run.project, model)) return null;
  // The changes can be reproduced only if the previous snapshot still has the same history.
  const history = run.previous === null ? null : historyOf(run.previous.manifest);
  const canCompareChanges = history === file.previous_history;
  const differing = differingFigures(manifest, model.manifest, canCompareChanges);
  // With another id, the table `changes` has different bytes, because it contains the id.
  if (differing.length === 0) return canCompareChanges && manifest.snapshot === model.id ? model.id : null;
  throw new RekapError(
    'verification',
    [
      `The responses of run ${file.run} do not reproduce the figures of snapshot ${model.id}:`,
      ...differing.map((what) => `  - ${what}`),
    ].join('\n'),
    'Nothing was published. This is a bug in rekap; please report it.',
  );
}

/**
 * Publishes the snapshot unless the warehouse has it. A run that is older than the current snapshot doesn't become current; a rollback does
 * that. A replayed dry run isn't published in its own warehouse.
 */
async function publish(
  run: Run & Replay,
  manifest: Manifest,
): Promise<Pick<SyncResult, 'outcome' | 'current' | 'manifest'>> {
  const { id, folder, enter, options, file, published, isWhole, current } = run;
  const { warehouse } = options;
  if (isWhole || (await equalsCurrent(run, manifest))) {
    await discardSnapshotFolder(folder);
    if (current !== null || published === null) return { outcome: 'reproduced', current, manifest };
    enter('switch current');
    await pointCurrent(warehouse, published.id);
    run.warn(`No snapshot was current. Snapshot ${published.id} is now current.`);
    return { outcome: 'reproduced', current: published.id, manifest };
  }
  if (options.dryRun) {
    await discardSnapshotFolder(folder);
    return { outcome: 'dry run', current, manifest };
  }
  enter('write the report');
  const complete = await addReport(run, manifest);
  enter('write the manifest');
  const finished = { id, folder, files: await writeManifest(folder, complete) };
  if (current !== null && current > file.run) {
    await nameSnapshotFolder(warehouse, finished, enter);
    return { outcome: 'published', current, manifest: complete };
  }
  if (current !== null && run.pinned !== null) {
    await nameSnapshotFolder(warehouse, finished, enter);
    return { outcome: 'held', current, manifest: complete };
  }
  await publishSnapshotFolder(warehouse, finished, enter);
  return { outcome: 'published', current: id, manifest: complete };
}

/** Returns whether the current snapshot has these tables, as after a run without changes. */
async function equalsCurrent(run: Run & Replay, manifest: Manifest): Promise<boolean> {
  const { current } = run;
  if (current === null) return false;
  const snapshot = await readIfThere(run.options.warehouse, current);
  return snapshot !== null && holdsSameTables(manifest, snapshot.manifest) && (await isIntact(snapshot, run.signal));
}
