/** The whole way of a sync on one screen: one call per stage, from the first request to the switch. */

import { join } from 'node:path';
import { openDatabase } from './database.ts';
import { describeSnapshot, schemaFingerprint } from './describe-snapshot.ts';
import { GateError, IncompleteError, UsageError, VerificationError, WarehouseError } from './errors.ts';
import { extract } from './extract/extract.ts';
import { createSourceClient } from './extract/source-client.ts';
import { openLanding } from './land/landing.ts';
import { Load } from './load/load.ts';
import type { CarryOver } from './load/carry-over.ts';
import type { LoadReport } from './load/load-report.ts';
import type { AnyPipeline, Project, TransformTotals, Verdict } from './pipeline.ts';
import { checkGate } from './publish/gate.ts';
import { holdsSameTables, writeManifest } from './publish/manifest.ts';
import { discardSnapshotFolder, pruneSnapshots, publishSnapshotFolder } from './publish/snapshot-folder.ts';
import { verifySnapshot } from './publish/verify-snapshot.ts';
import { readBrokenChecks } from './report/violation-examples.ts';
import { figuresOf, withRun, type Run } from './run.ts';
import type { SyncOptions, SyncResult, SyncSurroundings } from './sync-options.ts';
import type { Transformer } from './transform/transformer.ts';
import { databaseFile, warehousePaths, type Manifest, type Snapshot } from './warehouse.ts';

/** Answers that wait for the end of the sweep or of their district may hold so many bytes of memory. */
const heldBytes = 48 * 1024 * 1024;
const maxAnswerBytes = 64 * 1024 * 1024;
/** Far more than the villages of the nation; a source that brings more does not come to an end. */
const maxRecords = 10_000_000;

/**
 * Brings the source's data into the warehouse, whole and in one step.
 *
 * @throws RekapError of the kind that tells what was wrong; the snapshot before then stays as it was.
 */
export async function sync(project: Project, options: SyncOptions, around: SyncSurroundings): Promise<SyncResult> {
  return withRun(project, options, around, async (run) => {
    const carryOver = await planCarryOver(run);
    const { verdicts, totals, reports } = await fetchAndLoad(run, carryOver);
    const manifest = await describeSnapshot(run, { verdicts, totals, reports, carryOver });
    passGate(run, manifest, reports);
    around.report({ kind: 'step', message: 'verifying what was written' });
    await requireVerified(run, manifest);
    const brokenChecks = await readBrokenChecks(join(run.folder, databaseFile));
    run.signal.throwIfAborted();
    const { outcome, current, pruned } = await switchTo(run, manifest);
    const { warehouse } = options;
    return {
      outcome,
      run: run.id,
      current,
      warehouse,
      manifest,
      brokenChecks,
      warnings: run.warnings,
      pruned,
      figures: figuresOf(run),
    };
  });
}

/** What this run does not ask for is taken over from the snapshot before. */
async function planCarryOver({ asked, options, previous, project, around }: Run): Promise<CarryOver | null> {
  const isPartial = options.dapil !== null || asked.length < project.pipelines.length;
  if (!isPartial) return null;
  if (previous === null) {
    around.report({
      kind: 'warning',
      message: 'There is no snapshot before this one: it will hold only what was asked for.',
    });
    return null;
  }
  const problems = await verifySnapshot(previous.folder, previous.manifest, project.pipelines);
  if (problems.length > 0) {
    throw new WarehouseError(
      `Nothing can be carried over from snapshot ${previous.id}, for it is damaged: ${problems.join('; ')}.`,
      'Run one sync without --dapil and --dataset, or go back to another snapshot with "rekap snapshots rollback <id>".',
    );
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

/** Fetches, proves and loads everything; the DuckDB file is closed afterwards, whatever happens. */
async function fetchAndLoad(run: Run, carryOver: CarryOver | null) {
  const { project, options, around, signal, folder } = run;
  // The file is made while the first answers are on their way.
  const loading = Load.begin({ folder, databaseFile, project });
  loading.catch(() => undefined);
  const stop = (): void => void loading.then((load) => load.interrupt());
  try {
    const { verdicts, totals } = await fetchAndTransform(run, loading);
    requireComplete(verdicts);
    signal.throwIfAborted();
    around.report({ kind: 'step', message: 'building tables, checks and Parquet files' });
    signal.addEventListener('abort', stop, { once: true });
    const log = { snapshot: run.id, publishedAt: run.startedAt, source: options.source };
    const previousDatabase = await readablePrevious(run);
    const reports = await (await loading).finish(carryOver, log, previousDatabase);
    return { verdicts, totals, reports };
  } catch (error) {
    (await loading).abandon();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The DuckDB file of the snapshot before, if it can be read: a damaged one must not keep a sync from making a new one. */
async function readablePrevious({ previous, around }: Run): Promise<string | null> {
  if (previous === null) return null;
  const file = join(previous.folder, databaseFile);
  try {
    const database = await openDatabase(file, { readOnly: true });
    try {
      await database.rows('SELECT count(*) FROM snapshots_log');
    } finally {
      database.close();
    }
    return file;
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    around.report({
      kind: 'warning',
      message: `Snapshot ${previous.id} cannot be read, so the log of snapshots begins anew: ${why}`,
    });
    return null;
  }
}

/** Extracts, lands, transforms and stages, all at the same time; memory holds only what is between two stages. */
async function fetchAndTransform(
  run: Run,
  loading: Promise<Load>,
): Promise<{ verdicts: Verdict[]; totals: Map<string, TransformTotals> }> {
  const { asked, options, around, signal } = run;
  const landing = await openLanding(join(warehousePaths(options.warehouse).landing, run.id));
  const client = createSourceClient({ ...options, maxAnswerBytes }, { ...around, land: landing.land, signal });
  run.client = client;
  // Arrow takes as long to load as an answer or two takes to come: it is loaded when many are on their way.
  let transforming: Promise<Map<string, Transformer>> | null = null;
  const transformerOf = async ({ table }: AnyPipeline): Promise<Transformer> => {
    transforming ??= loadTransformers(asked);
    return (await transforming).get(table)!;
  };
  try {
    const verdicts = await extract({
      pipelines: asked,
      client,
      clock: around.clock,
      report: around.report,
      concurrency: options.concurrency,
      pageSize: options.pageSize,
      wanted: options.dapil,
      knownBefore: knownDistricts(run.previous),
      reference: run.project.referenceDistricts,
      heldBytes,
      maxRecords,
      signal,
      async deliver(pipeline, reading) {
        const load = await loading;
        const transformer = await transformerOf(pipeline);
        transformer.beginDistrict();
        for (const readPage of reading.pages) {
          for (const batch of transformer.addPage(await readPage())) load.append(pipeline, batch);
        }
      },
    });
    const totals = new Map<string, TransformTotals>();
    for (const pipeline of asked) {
      const transformer = await transformerOf(pipeline);
      (await loading).append(pipeline, transformer.finish());
      totals.set(pipeline.table, transformer.totals());
    }
    return { verdicts, totals };
  } finally {
    await client.close();
    await landing.close();
  }
}

async function loadTransformers(pipelines: readonly AnyPipeline[]): Promise<Map<string, Transformer>> {
  const { Transformer } = await import('./transform/transformer.ts');
  return new Map(pipelines.map((pipeline) => [pipeline.table, new Transformer(pipeline)]));
}

function requireComplete(verdicts: readonly Verdict[]): void {
  const incomplete = verdicts.filter(({ complete }) => !complete);
  if (incomplete.length === 0) return;
  const shown = incomplete
    .slice(0, 10)
    .map(
      ({ dataset, dapil, reason }) =>
        `  - ${dataset}, ${dapil === null ? 'list of districts' : `district ${dapil}`}: ${reason}`,
    );
  const more = incomplete.length > shown.length ? [`  - and ${incomplete.length - shown.length} more`] : [];
  throw new IncompleteError(
    [`${incomplete.length} of ${verdicts.length} districts could not be proved complete:`, ...shown, ...more].join(
      '\n',
    ),
    'Nothing was published; the snapshot before stays. Run the sync again.',
  );
}

function passGate(
  { project, asked, options, previous }: Run,
  manifest: Manifest,
  reports: ReadonlyMap<string, LoadReport>,
): void {
  const { refusals, changes } = checkGate({
    pipelines: project.pipelines,
    manifest,
    previous: previous?.manifest ?? null,
    asked: asked.map(({ table }) => table),
    errors: new Map(
      [...reports].map(([table, { violations }]) => [
        table,
        violations.reduce((sum, { severity, count }) => sum + (severity === 'error' ? count : 0), 0),
      ]),
    ),
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

/** What was transformed = what DuckDB holds = what Parquet holds. */
async function requireVerified({ folder, project }: Run, manifest: Manifest): Promise<void> {
  const problems = await verifySnapshot(folder, manifest, project.pipelines);
  if (problems.length === 0) return;
  throw new VerificationError(
    `What was written is not what was fetched: ${problems.join('; ')}.`,
    'Nothing was published. Please report this.',
  );
}

/** Publishes, unless this is a dry run or nothing has changed at the source. */
async function switchTo(run: Run, manifest: Manifest): Promise<Pick<SyncResult, 'outcome' | 'current' | 'pruned'>> {
  const { id, options, previous, folder } = run;
  const { warehouse } = options;
  const isSame = previous !== null && holdsSameTables(manifest, previous.manifest);
  if (options.dryRun || (isSame && (await isWhole(run, previous)))) {
    await discardSnapshotFolder(folder);
    return { outcome: options.dryRun ? 'dry run' : 'unchanged', current: previous?.id ?? null, pruned: [] };
  }
  await writeManifest(folder, manifest);
  await publishSnapshotFolder(warehouse, id, folder);
  return { outcome: 'published', current: id, pruned: await removeOld(run) };
}

/** Whether the snapshot before is as it was published; a damaged one is replaced though its tables are the same. */
async function isWhole({ project, around }: Run, previous: Snapshot): Promise<boolean> {
  const problems = await verifySnapshot(previous.folder, previous.manifest, project.pipelines);
  if (problems.length > 0) {
    around.report({
      kind: 'warning',
      message: `Snapshot ${previous.id} is damaged and replaced by a new one: ${problems.join('; ')}.`,
    });
  }
  return problems.length === 0;
}

/** Retention comes after the switch: should it fail, the snapshot is published all the same. */
async function removeOld({ id, options, around }: Run): Promise<string[]> {
  const { warehouse, keep } = options;
  try {
    return await pruneSnapshots(warehouse, keep, id);
  } catch (error) {
    around.report({
      kind: 'warning',
      message: `old snapshots could not be removed: ${error instanceof Error ? error.message : String(error)}`,
    });
    return [];
  }
}

/** Districts that had records in the snapshot before. */
function knownDistricts(previous: Snapshot | null): number[] {
  const verdicts = Object.values(previous?.manifest.datasets ?? {}).flatMap(({ districts }) => districts);
  return [
    ...new Set(verdicts.filter(({ received }) => received > 0).flatMap(({ dapil }) => (dapil === null ? [] : [dapil]))),
  ];
}
