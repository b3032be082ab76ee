/** The whole way of a replay: a landing through the same stages as a sync, without the network. */

import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buildSnapshot, type OpenedSource } from './build-snapshot.ts';
import { errorCode, LandingError, RunNotFoundError, SnapshotNotFoundError, VerificationError } from './errors.ts';
import { createSourceClient } from './extract/source-client.ts';
import { createLandedTransport } from './extract/transport.ts';
import { openLandedRun } from './land/landed-run.ts';
import { readRunFile, type RunFile } from './land/run-file.ts';
import { projectDefinition } from './load/tables.ts';
import type { Project } from './pipeline.ts';
import { describeFile, differingFigures, fingerprint, writeManifest } from './publish/manifest.ts';
import {
  discardSnapshotFolder,
  latestRunId,
  listSnapshotIds,
  nameSnapshotFolder,
  newSnapshotId,
  publishSnapshotFolder,
} from './publish/snapshot-folder.ts';
import { verifySnapshot } from './publish/verify-snapshot.ts';
import { checkSource, figuresOf, withRun, type Run } from './run.ts';
import { Secret } from './secret.ts';
import type { ReplayOptions, SyncOptions, SyncResult, SyncSurroundings } from './sync-options.ts';
import {
  isSnapshotId,
  readCurrentId,
  readCurrent,
  readSnapshot,
  requireWarehouse,
  warehousePaths,
  type Manifest,
  type Snapshot,
} from './warehouse.ts';

/** What a replay goes by besides its options. */
interface Replay {
  readonly landing: string;
  readonly file: RunFile;
  /** The run's own snapshot, where it is whole and of today's definition: what is built must equal it. */
  readonly original: Snapshot | null;
  /** The same, in the warehouse that is built in. */
  readonly published: Snapshot | null;
}

/**
 * Builds the snapshot of an earlier run again from what the source answered then. Where the run's snapshot is there, whole and of the
 * same definition, the rebuilt one must equal it. It is published where the warehouse does not hold it already.
 *
 * @throws RunNotFoundError; LandingError where the landing is damaged, or its run was broken off; VerificationError where the
 * tables are not those that were published.
 */
export async function replay(project: Project, asked: ReplayOptions, around: SyncSurroundings): Promise<SyncResult> {
  await requireWarehouse(asked.warehouse);
  const landing = await findLanding(asked);
  const file = await readRunFile(landing);
  requireKnown(project, landing, file);
  const options = optionsOf(asked, file);
  const { warehouse } = options;
  let found: Replay;
  return withRun(project, options, around, {
    kind: 'replay',
    async plan() {
      checkSource(options, await readCurrent(warehouse));
      const original = await usableSnapshot(project, asked.warehouse, file.run);
      const published = await usableSnapshot(project, warehouse, file.run);
      found = { landing, file, original, published };
      const isFree = published !== null || !(await listSnapshotIds(warehouse)).includes(file.run);
      return {
        id: isFree ? file.run : newSnapshotId(around.clock.now(), around.random(), await latestRunId(warehouse)),
        landing,
        startedAt: new Date(file.started_at),
        previous: await previousOf(project, [asked.warehouse, warehouse], file, around),
        knownDistricts: file.known_districts,
        referenceDistricts: file.reference_districts,
      };
    },
    async act(run) {
      if (found.original !== null) await requireSameLanding(landing, found.original.manifest);
      const { manifest, brokenChecks } = await buildSnapshot(run, askLanding);
      await requireSameFigures(run, manifest, found);
      const { outcome, current } = await publish(run, manifest, found);
      const { id, warnings } = run;
      const figures = figuresOf(run);
      return { outcome, run: id, current, warehouse, landing, manifest, brokenChecks, warnings, pruned: [], figures };
    },
  });
}

/** The landing of the run asked for, or the newest there is. */
async function findLanding({ warehouse, run }: ReplayOptions): Promise<string> {
  const { landing } = warehousePaths(warehouse);
  const runs = (await namesIn(landing)).filter(isSnapshotId).toSorted();
  const id = run ?? runs.at(-1);
  if (id !== undefined && runs.includes(id)) return join(landing, id);
  throw new RunNotFoundError(
    run === null
      ? `The warehouse ${warehouse} holds no answers of any run.`
      : `The warehouse ${warehouse} holds no answers of a run ${JSON.stringify(run)}.`,
    runs.length === 0
      ? 'Run "rekap sync" first, or name another folder with --warehouse.'
      : `It holds those of ${runs.slice(-5).join(', ')}${runs.length > 5 ? ' and earlier ones' : ''}.`,
  );
}

/** What lies in a folder; nothing where there is no such folder. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return [];
    throw error;
  }
}

function requireKnown({ pipelines }: Project, landing: string, file: RunFile): void {
  const unknown = file.datasets.find((name) => !pipelines.some(({ table }) => table === name));
  if (file.run === basename(landing) && unknown === undefined) return;
  throw new LandingError(
    unknown === undefined
      ? `${landing} holds the answers of the run ${JSON.stringify(file.run)}.`
      : `${landing} holds answers of ${JSON.stringify(unknown)}, a dataset that is not known here.`,
    'Name another run.',
  );
}

/** The settings of the run as it was, without a key: nothing is asked of the source. */
function optionsOf(asked: ReplayOptions, file: RunFile): SyncOptions {
  return {
    warehouse: asked.into ?? asked.warehouse,
    baseUrl: file.base_url,
    source: file.source,
    apiKey: new Secret(''),
    dapil: file.dapil,
    datasets: file.datasets,
    concurrency: 4,
    pageSize: file.page_size,
    timeout: 600_000,
    maxAttempts: 1,
    maxDuration: 86_400_000,
    strict: asked.strict,
    acceptChanges: asked.acceptChanges,
    acceptSource: asked.acceptSource,
    keep: Number.MAX_SAFE_INTEGER,
    keepLanding: null,
    resumeWithin: null,
    dryRun: false,
  };
}

/** The snapshot of this id, if there is one that is whole and of today's definition: only then can another be expected to equal it. */
async function usableSnapshot(project: Project, warehouse: string, id: string): Promise<Snapshot | null> {
  if (!(await listSnapshotIds(warehouse)).includes(id)) return null;
  try {
    const snapshot = await readSnapshot(warehouse, id);
    if (snapshot.manifest.definition !== fingerprint(projectDefinition(project))) return null;
    return (await verifySnapshot(snapshot.folder, snapshot.manifest, project.pipelines)).length === 0 ? snapshot : null;
  } catch {
    return null;
  }
}

/** The snapshot that was current when the run began. */
async function previousOf(
  { pipelines }: Project,
  warehouses: readonly string[],
  { run, previous, dapil, datasets }: RunFile,
  { report }: SyncSurroundings,
): Promise<Snapshot | null> {
  if (previous === null) return null;
  for (const warehouse of warehouses) {
    if ((await listSnapshotIds(warehouse)).includes(previous)) return readSnapshot(warehouse, previous);
  }
  if (dapil !== null || datasets.length < pipelines.length) {
    throw new SnapshotNotFoundError(
      `Run ${run} carried over rows from snapshot ${previous}, which is gone.`,
      'Replay a run that read everything.',
    );
  }
  report({
    kind: 'warning',
    message: `Snapshot ${previous}, from before the run, is gone: what changed since then is not known.`,
  });
  return null;
}

/** The manifest knows the hashes of the landing, and the landing those of its bodies. */
async function requireSameLanding(landing: string, manifest: Manifest): Promise<void> {
  for (const file of manifest.landing) {
    let why = 'the SHA-256 differs';
    try {
      if ((await describeFile(landing, file.path, null)).sha256 === file.sha256) continue;
    } catch (error) {
      why = `it cannot be read (${errorCode(error)})`;
    }
    throw new LandingError(
      `${join(landing, file.path)} is not what it was when its run was published: ${why}.`,
      'Nothing can be shown from it; replay another run, or run the sync again.',
    );
  }
}

async function askLanding({ landing, options, around, signal }: Run): Promise<OpenedSource> {
  const answers = await openLandedRun(landing, null);
  const client = createSourceClient(options, {
    ...around,
    transport: createLandedTransport(answers),
    land:
      async ({ request }) =>
      async () =>
        (await answers.answerTo(request))!.body,
    resumed: null,
    signal,
  });
  return {
    client,
    async close() {
      await client.close();
      await answers.close();
    },
  };
}

async function requireSameFigures(run: Run, manifest: Manifest, { original, published, file }: Replay): Promise<void> {
  const model = published ?? original;
  // What changed since the snapshot before cannot be told again when that is gone.
  const knowsChanges = run.previous !== null || file.previous === null;
  const differing = model === null ? [] : differingFigures(manifest, model.manifest, knowsChanges);
  if (differing.length === 0) return;
  throw new VerificationError(
    [
      `The answers of run ${file.run} give other figures than snapshot ${model!.id} holds:`,
      ...differing.map((what) => `  - ${what}`),
    ].join('\n'),
    'Nothing was published. Please report this.',
  );
}

/** A snapshot older than the current one gets its name, but does not become current: that is what a rollback is for. */
async function publish(
  { id, folder, enter, options: { warehouse } }: Run,
  manifest: Manifest,
  { published }: Replay,
): Promise<Pick<SyncResult, 'outcome' | 'current'>> {
  const current = await readCurrentId(warehouse);
  if (published !== null) {
    await discardSnapshotFolder(folder);
    return { outcome: 'reproduced', current };
  }
  enter('write the manifest');
  const finished = { id, folder, files: await writeManifest(folder, manifest) };
  if (current !== null && current > id) {
    await nameSnapshotFolder(warehouse, finished, enter);
    return { outcome: 'published', current };
  }
  await publishSnapshotFolder(warehouse, finished, enter);
  return { outcome: 'published', current: id };
}
