/** Finds what a replay needs before it begins: the landing, the settings of its run, and the snapshots it is compared with. */

import { realpath } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { gateRefusal, RekapError } from './errors.ts';
import { Secret } from './source/secret.ts';
import type { RunFile } from './land/formats.ts';
import { readRuns } from './warehouse/runs-log.ts';
import { requireReplaceable } from './publish/switch-current.ts';
import { checkManifestFile } from './publish/verify-snapshot.ts';
import { warehousePaths } from './warehouse/snapshot-format.ts';
import {
  fillFirst,
  listLandedIds,
  listSnapshotIds,
  readCurrent,
  readCurrentId,
  readSnapshot,
  type Snapshot,
} from './warehouse/warehouse.ts';
import { finishedRuns } from './publish/landings.ts';
import type { Attempt, ReplayOptions, RunPlan, SyncOptions } from './run-options.ts';

/** What a replay goes by besides its options. */
export interface Replay extends RunPlan {
  readonly file: RunFile;
  /** The run's own snapshot, if its manifest is as it was written; the landing must be the one that it names. */
  readonly original: Snapshot | null;
  /** The same in the warehouse that is built in. */
  readonly published: Snapshot | null;
  /** Whether that one is whole: then there is nothing to publish. */
  readonly isWhole: boolean;
}

/** The landing of the run asked for, or of the newest that came to its end, and what is to be told where a newer one did not. */
export async function findLanding({
  warehouse,
  run,
}: Pick<ReplayOptions, 'warehouse' | 'run'>): Promise<{ landing: string; notices: readonly string[] }> {
  const { landing } = warehousePaths(warehouse);
  const runs = await listLandedIds(warehouse);
  const newest = runs.at(-1);
  const id = run ?? (await newestFinished(warehouse, runs));
  if (id === undefined && newest !== undefined)
    throw new RekapError(
      'run-not-found',
      `The warehouse ${warehouse} does not contain the responses of a finished run. The newest run, ${newest}, ${await whyPassedOver(warehouse, newest)}.`,
      'To continue it, run the same sync with --resume.',
    );
  if (id !== undefined && runs.includes(id)) {
    const notices =
      run === null && newest !== undefined && newest !== id
        ? [`Replaying run ${id}, the newest finished run. Run ${newest} ${await whyPassedOver(warehouse, newest)}.`]
        : [];
    return { landing: join(landing, id), notices };
  }
  throw new RekapError(
    'run-not-found',
    run === null
      ? `The warehouse ${warehouse} does not contain responses of any run.`
      : `The warehouse ${warehouse} does not contain responses of the run ${JSON.stringify(run)}.`,
    runs.length === 0
      ? fillFirst
      : `It contains the responses of ${runs.slice(-5).join(', ')}${runs.length > 5 ? ' and earlier runs' : ''}.`,
  );
}

/** The last of these runs that came to its end. */
async function newestFinished(warehouse: string, runs: readonly string[]): Promise<string | undefined> {
  const finished = await finishedRuns(warehouse);
  return runs.findLast((id) => finished.has(id));
}

/** Why a run is not the one to replay, as the end of a sentence; one without a line may be under way. */
async function whyPassedOver(warehouse: string, id: string): Promise<string> {
  const line = (await readRuns(warehouse)).findLast(({ kind, run }) => kind === 'sync' && run === id);
  if (line === undefined) return 'is still running, or was killed';
  return line.outcome === 'interrupted' ? 'was interrupted' : 'failed';
}

export function requireKnown(landing: string, file: RunFile): void {
  const { pipelines } = file.project;
  const unknown = file.datasets.find((name) => !pipelines.some(({ table }) => table === name));
  if (file.run === basename(landing) && unknown === undefined) return;
  throw new RekapError(
    'landing',
    unknown === undefined
      ? `${landing} contains the responses of another run, ${JSON.stringify(file.run)}.`
      : `${landing} contains responses of the unknown dataset ${JSON.stringify(unknown)}.`,
    'Choose another run.',
  );
}

/** A warehouse within another would go with what is cleared up there. */
export async function requireApart({ warehouse, into }: ReplayOptions): Promise<void> {
  if (into === null) return;
  // A folder that is not there yet leads nowhere else.
  const real = [into, warehouse].map((path) => realpath(path).catch(() => resolve(path)));
  const [inner, outer] = (await Promise.all(real)).map((path) => path + sep) as [string, string];
  if (inner === outer) return;
  if (!inner.startsWith(outer) && !outer.startsWith(inner)) return;
  throw new RekapError(
    'usage',
    `One of the folders ${warehouse} and ${into} contains the other.`,
    'Choose a folder outside the warehouse with --into.',
  );
}

/** The settings of the run as it was, with what it was told to refuse and to accept; without a key: nothing is asked of the source. */
export function optionsOf(requested: ReplayOptions, file: RunFile): SyncOptions {
  return {
    warehouse: requested.into ?? requested.warehouse,
    baseUrl: file.base_url,
    source: file.source,
    apiKey: new Secret(''),
    partitions: file.partitions,
    requireProof: null,
    datasets: file.datasets,
    concurrency: 4,
    pageSize: file.page_size,
    timeout: 600_000,
    maxAttempts: 1,
    maxDuration: 86_400_000,
    strict: requested.strict || file.strict,
    refuse: requested.refuse ?? file.refuse ?? null,
    acceptChanges: requested.acceptChanges || file.accept_changes,
    acceptSource: requested.acceptSource || file.accept_source,
    keep: Number.MAX_SAFE_INTEGER,
    keepLanding: null,
    resumeWithin: null,
    dryRun: file.dry_run && requested.into === null,
    unpin: false,
  };
}

/** A current snapshot that cannot be read is what a replay may be there to restore. */
export async function readCurrentOrWarn({ options, warn }: Attempt): Promise<Snapshot | null> {
  try {
    return await readCurrent(options.warehouse);
  } catch (error) {
    if (!(error instanceof RekapError)) throw error;
    warn(`The current snapshot cannot be read: ${error.message}`);
    return null;
  }
}

/**
 * The id that `current` points to. A link that is broken points to none; what stands in its place must be something that a link can
 * replace, for the replay is there to restore it.
 */
export async function readCurrentIdOrNone(warehouse: string): Promise<string | null> {
  try {
    const id = await readCurrentId(warehouse);
    // A link to a snapshot that is gone keeps none from becoming current.
    return id !== null && (await listSnapshotIds(warehouse)).includes(id) ? id : null;
  } catch (error) {
    if (!(error instanceof RekapError)) throw error;
    await requireReplaceable(warehouse);
    return null;
  }
}

/** The snapshot of this id, if it is there and its manifest can be read. */
export async function readIfThere(warehouse: string, id: string): Promise<Snapshot | null> {
  if (!(await listSnapshotIds(warehouse)).includes(id)) return null;
  try {
    return await readSnapshot(warehouse, id);
  } catch (error) {
    if (error instanceof RekapError) return null;
    throw error;
  }
}

/** The same, if its manifest is as it was written: only that tells what a replay must give. */
export async function readUnaltered(warehouse: string, id: string): Promise<Snapshot | null> {
  const snapshot = await readIfThere(warehouse, id);
  if (snapshot === null) return null;
  return (await checkManifestFile(snapshot.folder)).length === 0 ? snapshot : null;
}

/** The snapshot that was current when the run began. */
export async function previousOf(
  { project, options, warn }: Attempt,
  { warehouse, into }: ReplayOptions,
  { file: { run, previous, partitions, datasets }, original }: Pick<Replay, 'file' | 'original'>,
): Promise<Snapshot | null> {
  if (previous === null) return null;
  for (const place of [warehouse, into ?? warehouse]) {
    const there = await readIfThere(place, previous);
    if (there !== null) return there;
  }
  if (partitions !== null || datasets.length < project.pipelines.length) {
    throw new RekapError(
      'snapshot-not-found',
      `Run ${run} carried over rows from snapshot ${previous}, which no longer exists.`,
      'Replay a run that read all partitions.',
    );
  }
  if (original === null && !options.acceptChanges) {
    throw gateRefusal(
      [`the previous snapshot of run ${run}, ${previous}, no longer exists, so changes cannot be checked`],
      'To publish the figures without this check, add --accept-changes.',
    );
  }
  warn(`Snapshot ${previous}, the previous snapshot of the run, no longer exists, so changes since then are unknown.`);
  return null;
}
