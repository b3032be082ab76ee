/** Composes the stages of a replay: read accepted pages from the landing, build, check, and compare or publish. */

import { join } from 'node:path';
import { RekapError } from './errors.ts';
import type { RunFile } from './land/formats.ts';
import { readRunFile } from './land/landed-run.ts';
import type { Project } from './project/declaration.ts';
import { differingFigures, historyOf, holdsSameTables } from './publish/manifest.ts';
import { discardSnapshotFolder } from './publish/snapshot-folder.ts';
import { verifySnapshot } from './publish/verify-snapshot.ts';
import { findAltered } from './warehouse/check-files.ts';
import type { Manifest } from './warehouse/snapshot-format.ts';
import { listSnapshotIds, readPinnedId, recoveryHint, requireWarehouse, type Snapshot } from './warehouse/warehouse.ts';
import { beginLoad, build, stage } from './run/build.ts';
import { requireSql } from './load/try-sql.ts';
import { checkBuilt } from './publish/check-built.ts';
import { definitionFingerprint } from './publish/describe-snapshot.ts';
import { openLandedReadings } from './run/landed-readings.ts';
import type { ReplayOptions, Run, SyncContext, SyncResult } from './publish/run.ts';
import {
  findLanding,
  keptScopes,
  newestFinishedRun,
  optionsOf,
  previousOf,
  readCurrentOrWarn,
  readIfThere,
  type Replay,
  requireOwnFile,
} from './run/replay-plan.ts';
import { publishBuilt } from './publish/switch-current.ts';
import { type Begun, checkSource, withRun } from './run/with-run.ts';
import { orClose } from './runtime/bound-signal.ts';

export async function projectOfReplay(requested: Pick<ReplayOptions, 'warehouse' | 'run'>): Promise<Project> {
  await requireWarehouse(requested.warehouse);
  return (await readRunFile((await findLanding(requested)).landing)).project;
}

/**
 * Builds the tables of an earlier run again from its stored responses, and compares them with its snapshot. If the newest run has no snapshot,
 * because the gate refused it, publishes them.
 *
 * @throws `run-not-found`; `landing` if the landing is damaged or its run was interrupted; `verification` if the tables differ from those
 * that were published; `snapshot-not-found` if an older run has no snapshot.
 */
export async function replay(requested: ReplayOptions, context: SyncContext): Promise<SyncResult> {
  await requireWarehouse(requested.warehouse);
  const { landing, notices } = await findLanding(requested);
  const file = await readRunFile(landing);
  requireOwnFile(landing, file);
  const { project } = file;
  // A landing may come from someone else, so its SQL first runs in a sealed database.
  await requireSql(project);
  const { reportModule } = requested;
  const options = optionsOf(requested, file);
  const plan = async (begun: Begun): Promise<Replay> => {
    for (const message of notices) begun.warn(message);
    return planReplay(begun, landing, file);
  };
  return withRun({ kind: 'replay', project, reportModule, options, context }, plan, async (run) => {
    if (run.original !== null) await requireSameLanding(landing, run.original.manifest);
    const landed = await openLandedReadings(run);
    const built = await orClose([landed], async () => {
      const load = await beginLoad(run);
      return build(run, load, await stage(run, load, landed.readings));
    });
    await landed.close();
    const ended = await compareOrPublish(run, await checkBuilt(run, built));
    return { ...ended, pruned: [], broken_checks: built.brokenChecks };
  });
}

async function planReplay(begun: Begun, landing: string, file: RunFile): Promise<Replay> {
  const { project, options, context } = begun;
  const { warehouse } = options;
  const current = await readCurrentOrWarn(begun);
  checkSource(options, current);
  const original = await readIfThere(warehouse, file.run);
  const isThere = (await listSnapshotIds(warehouse)).includes(file.run);
  if (isThere && (original === null || !(await isIntact(original, context.signal))))
    throw new RekapError(
      'verification',
      `Snapshot ${file.run} is damaged, so the responses cannot be compared with it.`,
      recoveryHint(file.run),
    );
  if (original !== null && !hasSameDefinition(project, original))
    throw new RekapError(
      'verification',
      `Snapshot ${file.run} has other tables, views or checks than this release of rekap builds, so it cannot be compared.`,
      'Use the release that published it, or run a sync.',
    );
  const stored = await keptScopes(landing, file);
  return {
    id: file.run,
    landing,
    startedAt: new Date(file.started_at),
    stored,
    file,
    original,
    current: current?.id ?? null,
    // A pin doesn't apply if `current` is broken.
    pinned: current === null ? null : await readPinnedId(warehouse),
    previous: await previousOf(begun, { file, original, stored }),
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

/** Compares the new tables with the snapshot of the run. Returns its id if everything could be compared. */
function requireSameFigures({ previous, file }: Run & Replay, manifest: Manifest, original: Snapshot): string | null {
  // The changes can be reproduced only if the previous snapshot still has the same history.
  const history = previous === null ? null : historyOf(previous.manifest);
  const canCompareChanges = history === file.previous_history;
  const differing = differingFigures(manifest, original.manifest, canCompareChanges);
  if (differing.length === 0) return canCompareChanges ? original.id : null;
  throw new RekapError(
    'verification',
    [
      `The responses of run ${file.run} do not reproduce the figures of snapshot ${original.id}:`,
      ...differing.map((what) => `  - ${what}`),
    ].join('\n'),
    'Nothing was published. This is a bug in rekap; please report it.',
  );
}

type Ending = Pick<SyncResult, 'outcome' | 'current' | 'snapshot' | 'equals' | 'manifest'>;

async function compareOrPublish(run: Run & Replay, manifest: Manifest): Promise<Ending> {
  const { folder, options, file, original, current } = run;
  const { warehouse } = options;
  const equals = original === null ? null : requireSameFigures(run, manifest, original);
  const same = original ?? (await findEqual(run, manifest));
  if (same !== null || options.dryRun) {
    await discardSnapshotFolder(folder);
    return { outcome: same === null ? 'dry run' : 'reproduced', current, snapshot: same?.id ?? null, equals, manifest };
  }
  if (file.run !== (await newestFinishedRun(warehouse)))
    throw new RekapError(
      'snapshot-not-found',
      `The warehouse ${warehouse} does not contain the snapshot of run ${file.run}.`,
      'Only the newest run can be published. To choose among the snapshots, run "rekap snapshots", then "rekap snapshots rollback ID".',
    );
  return { ...(await publishBuilt(run, manifest)), equals };
}

/** Returns the current snapshot if it has these tables, as after a run without changes. */
async function findEqual({ current, options, signal }: Run & Replay, manifest: Manifest): Promise<Snapshot | null> {
  const snapshot = current === null ? null : await readIfThere(options.warehouse, current);
  const isSame = snapshot !== null && holdsSameTables(manifest, snapshot.manifest);
  return isSame && (await isIntact(snapshot, signal)) ? snapshot : null;
}
