/** The whole way of a sync on one screen: from the lock through the stages to the switch. */

import { join } from 'node:path';
import {
  GateError,
  IncompleteError,
  RekapError,
  RunTimeoutError,
  SourceMismatchError,
  UsageError,
  VerificationError,
} from './errors.ts';
import { extract } from './extract/extract.ts';
import { createSourceClient, type SourceClient } from './extract/source-client.ts';
import { explainFileError } from './file-errors.ts';
import { openLanding } from './land/landing.ts';
import { pruneLandings } from './land/prune-landings.ts';
import { exportedTableNames, Load, type CarryOver, type LoadReport } from './load/load.ts';
import { datasetTable, projectDefinition } from './load/tables.ts';
import type { AnyPipeline, Project, Verdict } from './pipeline.ts';
import { assembleDataset } from './publish/assemble-manifest.ts';
import { checkGate } from './publish/gate.ts';
import { lockWarehouse } from './publish/lock.ts';
import { describeFile, fingerprint, holdsSameTables, writeManifest } from './publish/manifest.ts';
import { appendRun, type RunLine } from './publish/runs-log.ts';
import {
  beginSnapshotFolder,
  clearLeftovers,
  discardSnapshotFolder,
  listSnapshotIds,
  makeWarehouse,
  newSnapshotId,
  pruneSnapshots,
  publishSnapshotFolder,
} from './publish/snapshot-folder.ts';
import { verifySnapshot } from './publish/verify-snapshot.ts';
import { readBrokenChecks } from './report/violation-examples.ts';
import type { SyncOptions, SyncResult, SyncSurroundings } from './sync-options.ts';
import { Transformer } from './transform/transformer.ts';
import {
  databaseFile,
  parquetPath,
  readCurrent,
  warehousePaths,
  type Manifest,
  type ManifestFile,
  type Snapshot,
} from './warehouse.ts';

/** Answers that wait for the end of the sweep or of their district may hold so many bytes of memory. */
const heldBytes = 48 * 1024 * 1024;
const maxAnswerBytes = 64 * 1024 * 1024;

/** Everything that one run carries along. */
interface Run {
  readonly id: string;
  readonly project: Project;
  readonly asked: readonly AnyPipeline[];
  readonly options: SyncOptions;
  readonly around: SyncSurroundings;
  readonly previous: Snapshot | null;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly startedAt: Date;
  readonly started: number;
  readonly warnings: string[];
  client: SourceClient | null;
}

/**
 * Brings the source's data into the warehouse, whole and in one step.
 *
 * @throws RekapError of the kind that tells what was wrong; the snapshot before then stays as it was.
 */
export async function sync(project: Project, options: SyncOptions, around: SyncSurroundings): Promise<SyncResult> {
  try {
    await makeWarehouse(options.warehouse);
    const unlock = await lockWarehouse(options.warehouse);
    try {
      return await runLocked(project, options, around);
    } finally {
      unlock();
    }
  } catch (error) {
    throw explainFileError(error, options.warehouse);
  }
}

async function runLocked(project: Project, options: SyncOptions, around: SyncSurroundings): Promise<SyncResult> {
  await clearLeftovers(options.warehouse);
  const previous = await readCurrent(options.warehouse);
  const asked = project.pipelines.filter(({ table }) => options.datasets === null || options.datasets.includes(table));
  checkSource(options, previous);
  const startedAt = around.clock.now();
  const id = newSnapshotId(startedAt, around.random(), (await listSnapshotIds(options.warehouse)).at(-1) ?? null);
  const folder = await beginSnapshotFolder(options.warehouse, id);
  const bound = boundRun(around.signal, options.maxDuration);
  const warnings: string[] = [];
  const run: Run = {
    id,
    project,
    asked,
    options,
    previous,
    folder,
    startedAt,
    warnings,
    around: {
      ...around,
      report: (event) => {
        if (event.kind === 'warning') warnings.push(event.message);
        around.report(event);
      },
    },
    signal: bound.signal,
    started: around.clock.monotonic(),
    client: null,
  };
  try {
    const result = await carryOut(run);
    await appendRun(options.warehouse, runLine(run, result.outcome, 0, result.current, ''));
    return result;
  } catch (error) {
    const explained = explainFileError(error, options.warehouse);
    await discardSnapshotFolder(folder);
    // A disk too full for the line must not hide why the run failed.
    await appendRun(options.warehouse, failedRunLine(run, explained)).catch(() => undefined);
    throw explained;
  } finally {
    bound.end();
  }
}

async function carryOut(run: Run): Promise<SyncResult> {
  const { id, project, options, around, previous, folder } = run;
  const carryOver = planCarryOver(run);
  const load = await Load.begin({ folder, databaseFile, project });
  let built: {
    verdicts: Verdict[];
    totals: Map<string, ReturnType<Transformer['totals']>>;
    reports: Map<string, LoadReport>;
  };
  try {
    const { verdicts, totals } = await fetchAndTransform(run, load);
    requireComplete(verdicts);
    run.signal.throwIfAborted();
    around.report({ kind: 'step', message: 'building tables, checks and Parquet files' });
    const stop = () => load.interrupt();
    run.signal.addEventListener('abort', stop, { once: true });
    const previousDatabase = previous === null ? null : join(previous.folder, databaseFile);
    const reports = await load.finish(
      carryOver,
      { snapshot: id, publishedAt: run.startedAt, source: options.source },
      previousDatabase,
    );
    run.signal.removeEventListener('abort', stop);
    built = { verdicts, totals, reports };
  } catch (error) {
    load.abandon();
    run.signal.throwIfAborted();
    throw error;
  }

  const manifest = await describeSnapshot(run, built, carryOver);
  passGate(run, manifest, built.reports);
  around.report({ kind: 'step', message: 'verifying what was written' });
  const problems = await verifySnapshot(folder, manifest, project.pipelines);
  if (problems.length > 0)
    throw new VerificationError(
      `What was written is not what was fetched: ${problems.join('; ')}.`,
      'Nothing was published. Please report this.',
    );
  const brokenChecks = await readBrokenChecks(join(folder, databaseFile));
  run.signal.throwIfAborted();

  const finish = (outcome: SyncResult['outcome'], current: string | null, pruned: string[]): SyncResult => ({
    outcome,
    run: id,
    current,
    warehouse: options.warehouse,
    manifest,
    brokenChecks,
    warnings: run.warnings,
    pruned,
    figures: { ...figuresOf(run), milliseconds: around.clock.monotonic() - run.started },
  });
  if (options.dryRun || (previous !== null && holdsSameTables(manifest, previous.manifest))) {
    await discardSnapshotFolder(folder);
    return finish(options.dryRun ? 'dry run' : 'unchanged', previous?.id ?? null, []);
  }
  await writeManifest(folder, manifest);
  await publishSnapshotFolder(options.warehouse, id, folder);
  const pruned = await pruneSnapshots(options.warehouse, options.keep, id);
  await pruneLandings(
    warehousePaths(options.warehouse).landing,
    options.keep,
    new Set(await listSnapshotIds(options.warehouse)),
  );
  return finish('published', id, pruned);
}

/** Extracts, lands, transforms and stages, all at the same time; memory holds only what is between two stages. */
async function fetchAndTransform(run: Run, load: Load) {
  const { asked, options, around, previous, signal } = run;
  const landing = await openLanding(join(warehousePaths(options.warehouse).landing, run.id));
  const client = createSourceClient(
    {
      baseUrl: options.baseUrl,
      apiKey: options.apiKey,
      concurrency: options.concurrency,
      timeout: options.timeout,
      maxAttempts: options.maxAttempts,
      maxAnswerBytes,
    },
    { clock: around.clock, random: around.random, report: around.report, land: landing.land, signal },
  );
  run.client = client;
  const transformers = new Map(asked.map((pipeline) => [pipeline.table, new Transformer(pipeline)]));
  try {
    const verdicts = await extract({
      pipelines: asked,
      client,
      clock: around.clock,
      report: around.report,
      concurrency: options.concurrency,
      pageSize: options.pageSize,
      wanted: options.dapil,
      knownBefore: knownDistricts(previous),
      reference: run.project.referenceDistricts,
      heldBytes,
      signal,
      async deliver(pipeline, reading) {
        const transformer = transformers.get(pipeline.table)!;
        transformer.beginDistrict();
        for (const readPage of reading.pages) {
          for (const batch of transformer.addPage(await readPage())) load.append(pipeline, batch);
        }
      },
    });
    const totals = new Map<string, ReturnType<Transformer['totals']>>();
    for (const pipeline of asked) {
      const transformer = transformers.get(pipeline.table)!;
      load.append(pipeline, transformer.finish());
      totals.set(pipeline.table, transformer.totals());
    }
    return { verdicts, totals };
  } finally {
    await client.close();
    await landing.close();
  }
}

/** The warehouse remembers its source: figures of two sources must not stand in one history by mistake. */
function checkSource({ source, acceptSource, warehouse }: SyncOptions, previous: Snapshot | null): void {
  if (previous === null || acceptSource || previous.manifest.source === source) return;
  throw new SourceMismatchError(
    `The warehouse ${warehouse} was filled from ${previous.manifest.source}, not from ${source}.`,
    'Name another folder with --warehouse, or add --accept-source if the source has moved.',
  );
}

/** What this run does not ask for is taken over from the snapshot before. */
function planCarryOver({ asked, options, previous, project, around }: Run): CarryOver | null {
  const isPartial = options.dapil !== null || asked.length < project.pipelines.length;
  if (!isPartial) return null;
  if (previous === null) {
    around.report({
      kind: 'warning',
      message: 'There is no snapshot before this one: it will hold only what was asked for.',
    });
    return null;
  }
  const replaced = new Map<string, readonly number[] | null>();
  for (const pipeline of project.pipelines) {
    const before = previous.manifest.datasets[pipeline.table];
    if (before !== undefined && before.schema_fingerprint !== schemaFingerprint(pipeline)) {
      throw new UsageError(
        `The table ${pipeline.table} has other columns than in the snapshot before, so nothing can be carried over.`,
        'Run one sync without --dapil and --dataset.',
      );
    }
    replaced.set(pipeline.table, before === undefined ? null : asked.includes(pipeline) ? options.dapil : []);
  }
  return { database: join(previous.folder, databaseFile), replaced };
}

function requireComplete(verdicts: readonly Verdict[]): void {
  const incomplete = verdicts.filter(({ complete }) => !complete);
  if (incomplete.length === 0) return;
  const shown = incomplete
    .slice(0, 10)
    .map(({ dataset, dapil, reason }) => `  - ${dataset}, district ${dapil}: ${reason}`);
  const more = incomplete.length > shown.length ? [`  - and ${incomplete.length - shown.length} more`] : [];
  throw new IncompleteError(
    [`${incomplete.length} of ${verdicts.length} districts could not be proved complete:`, ...shown, ...more].join(
      '\n',
    ),
    'Nothing was published; the snapshot before stays. Run the sync again.',
  );
}

async function describeSnapshot(
  run: Run,
  built: {
    verdicts: Verdict[];
    totals: Map<string, ReturnType<Transformer['totals']>>;
    reports: Map<string, LoadReport>;
  },
  carryOver: CarryOver | null,
): Promise<Manifest> {
  const { project, options, previous, folder } = run;
  const datasets = Object.fromEntries(
    project.pipelines.map((pipeline) => {
      const { table } = pipeline;
      const report = built.reports.get(table)!;
      const verdicts = built.verdicts.filter(({ dataset }) => dataset === table);
      const replaced = carryOver?.replaced.get(table) ?? null;
      const facts = {
        pipeline,
        totals: built.totals.get(table) ?? null,
        verdicts,
        replaced,
        ...report,
        schema: schemaOf(pipeline),
      };
      return [table, assembleDataset(facts, previous?.manifest ?? null)];
    }),
  );
  const rowsOf = (table: string): number | null => datasets[table]?.rows ?? null;
  const files: ManifestFile[] = [await describeFile(folder, databaseFile, null)];
  for (const table of exportedTableNames(project.pipelines))
    files.push(await describeFile(folder, parquetPath(table), rowsOf(table)));
  return {
    format: 1,
    snapshot: run.id,
    run: run.id,
    created_at: run.startedAt.toISOString(),
    tool: { name: 'rekap', version: run.around.version },
    source: options.source,
    previous: previous?.id ?? null,
    datasets,
    definition: fingerprint(projectDefinition(project)),
    warnings: run.warnings,
    files,
  };
}

function passGate(
  { project, asked, options, previous }: Run,
  manifest: Manifest,
  reports: Map<string, LoadReport>,
): void {
  const errors = new Map(
    [...reports].map(([table, { violations }]) => [
      table,
      violations.filter(({ severity }) => severity === 'error').reduce((sum, { count }) => sum + count, 0),
    ]),
  );
  const { refusals, changes } = checkGate({
    pipelines: project.pipelines,
    manifest,
    previous: previous?.manifest ?? null,
    asked: asked.map(({ table }) => table),
    errors,
    strict: options.strict,
    acceptChanges: options.acceptChanges,
  });
  if (refusals.length + changes.length === 0) return;
  throw new GateError(
    'The quality gate refuses to publish:',
    [...refusals, ...changes],
    refusals.length > 0
      ? 'The snapshot before stays.'
      : 'The snapshot before stays. If the source really changed so, run the sync again with --accept-changes.',
  );
}

function schemaOf(pipeline: AnyPipeline): [string, string][] {
  return datasetTable(pipeline).columns.map(({ name, type }) => [name, type]);
}

function schemaFingerprint(pipeline: AnyPipeline): string {
  return fingerprint(schemaOf(pipeline));
}

function knownDistricts(previous: Snapshot | null): number[] {
  const verdicts = Object.values(previous?.manifest.datasets ?? {}).flatMap(({ districts }) => districts);
  return [
    ...new Set(verdicts.filter(({ received }) => received > 0).flatMap(({ dapil }) => (dapil === null ? [] : [dapil]))),
  ];
}

/** A signal that the run ends by: the caller's, or its own bound on time. */
function boundRun(outer: AbortSignal, milliseconds: number) {
  const controller = new AbortController();
  const pass = () => controller.abort(outer.reason);
  if (outer.aborted) pass();
  outer.addEventListener('abort', pass, { once: true });
  const timer = setTimeout(() => {
    controller.abort(
      new RunTimeoutError(
        `The sync was not done after ${Math.round(milliseconds / 1000)} s.`,
        'Nothing was published. Give it more time with --max-duration.',
      ),
    );
  }, milliseconds);
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      outer.removeEventListener('abort', pass);
    },
  };
}

function figuresOf(run: Run) {
  const { requests, retries, bytes, throttled } = run.client?.figures ?? {
    requests: 0,
    retries: 0,
    bytes: 0,
    throttled: 0,
  };
  return { requests, retries, bytes, throttled };
}

function runLine(
  run: Run,
  outcome: RunLine['outcome'],
  exitCode: number,
  snapshot: string | null,
  reason: string,
): RunLine {
  const { requests, retries } = figuresOf(run);
  return {
    run: run.id,
    started_at: run.startedAt.toISOString(),
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

function failedRunLine(run: Run, error: unknown): RunLine {
  const exitCode = error instanceof RekapError ? error.exitCode : 1;
  const outcome = exitCode === 3 ? 'refused' : exitCode >= 128 ? 'interrupted' : 'failed';
  return runLine(
    run,
    outcome,
    exitCode,
    run.previous?.id ?? null,
    error instanceof Error ? error.message : String(error),
  );
}
