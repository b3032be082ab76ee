/** Finds the input of a replay: the landing, the settings of its run, and the snapshots to compare with. */

import { basename, join } from 'node:path';
import { gateRefusal, RekapError } from '../errors.ts';
import { Secret } from '../source/secret.ts';
import type { RunFile } from '../land/formats.ts';
import { readVerdicts } from '../land/landed-run.ts';
import { readRuns } from '../warehouse/runs-log.ts';
import { requireReplaceable } from '../publish/switch-current.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import {
  fillFirst,
  listLandedIds,
  listSnapshotIds,
  readCurrent,
  readSnapshot,
  type Snapshot,
} from '../warehouse/warehouse.ts';
import { finishedRuns } from '../publish/landings.ts';
import type { Scopes } from '../stages.ts';
import { type ReplayOptions, type Run, syncDefaults, type SyncOptions } from '../publish/run.ts';

export interface Replay extends Pick<Run, 'id' | 'landing' | 'startedAt' | 'previous' | 'current' | 'pinned'> {
  readonly stored: Scopes;
  readonly file: RunFile;
  /** The intact snapshot of the run. The landing must match it. Null if the run has no snapshot. */
  readonly original: Snapshot | null;
}

/** Returns the landing of the requested run, or of the newest finished run with a notice about newer ones. */
export async function findLanding({
  warehouse,
  run,
}: Pick<ReplayOptions, 'warehouse' | 'run'>): Promise<{ landing: string; notices: readonly string[] }> {
  const { landing } = warehousePaths(warehouse);
  const runs = await listLandedIds(warehouse);
  const newest = runs.at(-1);
  const id = run ?? (await newestFinishedRun(warehouse));
  if (id === undefined && newest !== undefined)
    throw new RekapError(
      'run-not-found',
      `The warehouse ${warehouse} does not contain the responses of a finished run. The newest run, ${newest}, ${await reasonSkipped(warehouse, newest)}.`,
      'To continue it, run the same sync with --resume.',
    );
  if (id !== undefined && runs.includes(id)) {
    const notices =
      run === null && newest !== undefined && newest !== id
        ? [`Replaying run ${id}, the newest finished run. Run ${newest} ${await reasonSkipped(warehouse, newest)}.`]
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

/** Returns the newest run that built tables and whose responses are stored. */
export async function newestFinishedRun(warehouse: string): Promise<string | undefined> {
  const finished = await finishedRuns(warehouse);
  return (await listLandedIds(warehouse)).findLast((id) => finished.has(id));
}

/** Returns why a run isn't replayed, as the end of a sentence. A run without a line in the log may still be running. */
async function reasonSkipped(warehouse: string, id: string): Promise<string> {
  const line = (await readRuns(warehouse)).findLast(({ kind, run }) => kind === 'sync' && run === id);
  if (line === undefined) return 'is still running, or was killed';
  return line.outcome === 'interrupted' ? 'was interrupted' : 'failed';
}

/** @throws `landing` if the landing belongs to another run. */
export function requireOwnFile(landing: string, { run }: RunFile): void {
  if (run === basename(landing)) return;
  const what = `${landing} contains the responses of another run, ${JSON.stringify(run)}.`;
  throw new RekapError('landing', what, 'Choose another run.');
}

/** Returns the settings of the original run. The key is empty, because a replay sends no requests. */
export function optionsOf(requested: ReplayOptions, file: RunFile): SyncOptions {
  return {
    ...syncDefaults,
    warehouse: requested.warehouse,
    baseUrl: file.base_url,
    source: file.source,
    apiKey: new Secret(''),
    partitions: file.partitions,
    datasets: file.datasets,
    pageSize: file.page_size,
    maxDuration: 86_400_000,
    strict: requested.strict || file.strict,
    refuse: requested.refuse ?? file.refuse ?? null,
    acceptChanges: requested.acceptChanges || file.accept_changes,
    acceptSource: requested.acceptSource || file.accept_source,
    dryRun: file.dry_run,
    memory: requested.memory,
  };
}

/**
 * Returns the current snapshot. If it is damaged, only warns, because the replay may restore it.
 *
 * @throws `warehouse` if a link can't replace `current`.
 */
export async function readCurrentOrWarn({ options, warn }: Pick<Run, 'options' | 'warn'>): Promise<Snapshot | null> {
  try {
    return await readCurrent(options.warehouse);
  } catch (error) {
    if (!(error instanceof RekapError)) throw error;
    warn(`The current snapshot cannot be read: ${error.message}`);
    await requireReplaceable(options.warehouse);
    return null;
  }
}

/** Returns a snapshot; null if it is missing or its manifest can't be read. */
export async function readIfThere(warehouse: string, id: string): Promise<Snapshot | null> {
  if (!(await listSnapshotIds(warehouse)).includes(id)) return null;
  try {
    return await readSnapshot(warehouse, id);
  } catch (error) {
    if (error instanceof RekapError) return null;
    throw error;
  }
}

/** Returns the scopes of a run that kept rows. If no window joined, it read the whole list. */
export async function keptScopes(landing: string, { scopes = {} }: RunFile): Promise<Scopes> {
  const planned = Object.entries(scopes);
  if (!planned.some(([, scope]) => 'window' in scope)) return new Map(planned);
  const { verdicts } = await readVerdicts(landing);
  const joined = new Set(verdicts.flatMap(({ dataset, window }) => (window === undefined ? [] : [dataset])));
  return new Map(planned.filter(([table, scope]) => !('window' in scope) || joined.has(table)));
}

export async function previousOf(
  { project, options, warn }: Pick<Run, 'project' | 'options' | 'warn'>,
  { file: { run, previous, partitions, datasets }, original, stored }: Pick<Replay, 'file' | 'original' | 'stored'>,
): Promise<Snapshot | null> {
  if (previous === null) return null;
  const there = await readIfThere(options.warehouse, previous);
  if (there !== null) return there;
  const isPartial = partitions !== null || datasets.length < project.pipelines.length;
  if (isPartial || stored.size > 0) {
    throw new RekapError(
      'snapshot-not-found',
      `Run ${run} carried over rows from snapshot ${previous}, which no longer exists.`,
      'Replay a run that read the whole lists.',
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
