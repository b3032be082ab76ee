/** Builds a snapshot from answers, whether they come from the source or from a landing: every stage up to the switch. */

import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describeFile } from './describe-file.ts';
import { describeSnapshot, schemaFingerprint } from './describe-snapshot.ts';
import { errorCode, GateError, IncompleteError, UsageError, VerificationError, WarehouseError } from './errors.ts';
import { extract } from './extract/extract.ts';
import type { SourceClient } from './extract/source-client.ts';
import { Load } from './load/load.ts';
import type { CarryOver } from './load/carry-over.ts';
import type { LoadReport } from './load/load-report.ts';
import type { AnyPipeline } from './pipeline.ts';
import type { TransformTotals, Verdict } from './stages.ts';
import { checkGate } from './publish/gate.ts';
import { verifyBuilt, verifySnapshot } from './publish/verify-snapshot.ts';
import { readBrokenChecks, type BrokenCheck } from './report/violation-examples.ts';
import type { Run } from './run.ts';
import type { Transformer } from './transform/transformer.ts';
import { databaseFile, type Manifest } from './snapshot-format.ts';
import { wayBack } from './way-back.ts';

/** Answers that wait for the end of the sweep or of their district may hold so many bytes of memory. */
const heldBytes = 48 * 1024 * 1024;
/** Twice the polling stations of the nation and more; a source that brings more does not come to an end. */
const maxRecords = 2_000_000;

/** A source of answers, open until it is closed. */
export interface OpenedSource {
  readonly client: SourceClient;
  close(): Promise<void>;
}

export type OpenSource = (run: Run) => Promise<OpenedSource>;

/** A snapshot in the run's folder, proved, past the gate, and verified; only its manifest is not written yet. */
export interface BuiltSnapshot {
  readonly manifest: Manifest;
  readonly brokenChecks: readonly BrokenCheck[];
}

export async function buildSnapshot(run: Run, openSource: OpenSource): Promise<BuiltSnapshot> {
  const carryOver = await planCarryOver(run);
  const { verdicts, totals, reports, parquetRows } = await fetchAndLoad(run, carryOver, openSource);
  run.enter('hash files');
  const manifest = await describeSnapshot(run, { verdicts, totals, reports, parquetRows, carryOver });
  run.enter('pass the gate');
  passGate(run, manifest, reports);
  run.enter('verify');
  await requireVerified(run, manifest);
  // Only now: DuckDB does not guard a file against being opened twice in one process.
  const brokenChecks = await readBrokenChecks(join(run.folder, databaseFile), run.project.pipelines[0]!);
  run.signal.throwIfAborted();
  return { manifest, brokenChecks };
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
      `Run one sync without --dapil and --dataset. ${await wayBack(options.warehouse, previous.id, previous.manifest.run)}`,
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

/** Fetches, proves and loads everything; source and DuckDB file are closed afterwards, whatever happens. */
async function fetchAndLoad(run: Run, carryOver: CarryOver | null, openSource: OpenSource) {
  const { project, options, signal, folder } = run;
  run.enter('fetch');
  const source = await openSource(run);
  run.client = source.client;
  let closing: Promise<void> | null = null;
  const closeSource = (): Promise<void> => (closing ??= source.close());
  // DuckDB takes as long to load as an answer takes to come: that is when the first requests are on their way.
  const loading = setImmediate().then(() => Load.begin({ folder, databaseFile, project }));
  loading.catch(() => undefined);
  const stop = (): void =>
    void loading.then(
      (load) => load.interrupt(),
      () => undefined,
    );
  try {
    const { verdicts, totals } = await fetchAndTransform(run, source.client, loading);
    requireComplete(verdicts);
    signal.throwIfAborted();
    run.enter('build tables');
    signal.addEventListener('abort', stop, { once: true });
    const log = { snapshot: run.id, publishedAt: run.startedAt, source: options.source };
    const previousDatabase = await readablePrevious(run);
    const load = await loading;
    // What was landed is flushed to the disk meanwhile.
    closeSource().catch(() => undefined);
    const reports = await load.finish(carryOver, log, previousDatabase);
    await closeSource();
    warnOfQuarantine(run, reports);
    return { verdicts, totals, reports, parquetRows: load.parquetRows };
  } catch (error) {
    // Where the file could not even be made, there is nothing to close, and that is not why an interrupted run ends.
    await loading.then(
      (load) => load.abandon(),
      () => undefined,
    );
    // What went wrong first is the reason; that the source could not be closed either adds nothing to it.
    await closeSource().catch(() => undefined);
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** No check speaks of a record that is in no table, so each run does. */
function warnOfQuarantine({ around }: Run, reports: ReadonlyMap<string, LoadReport>): void {
  for (const [table, { quarantine }] of reports) {
    if (quarantine.length === 0) continue;
    const total = quarantine.reduce((sum, { count }) => sum + count, 0);
    const reasons = quarantine.slice(0, 5).map(({ reason, count }) => `${reason} (${count.toLocaleString('en')})`);
    const more = quarantine.length > reasons.length ? ' and other reasons' : '';
    around.report({
      kind: 'warning',
      message: `${table}: ${total.toLocaleString('en')} of its records ${total === 1 ? 'is' : 'are'} in quarantine and not in the table: ${reasons.join(', ')}${more}.`,
    });
  }
}

/** The DuckDB file of the snapshot before, if it is as it was: a damaged one must not keep a sync from making a new one. */
async function readablePrevious({ previous, around }: Run): Promise<string | null> {
  if (previous === null) return null;
  const known = previous.manifest.files.find(({ path }) => path === databaseFile);
  let why = 'its DuckDB file is not the one that was published';
  try {
    const found = await describeFile(previous.folder, databaseFile, null);
    if (found.sha256 === known?.sha256) return join(previous.folder, databaseFile);
  } catch (error) {
    why = `its DuckDB file cannot be read (${errorCode(error)})`;
  }
  around.report({
    kind: 'warning',
    message: `Snapshot ${previous.id} is damaged: ${why}. The history of snapshots and changes begins anew.`,
  });
  return null;
}

/** Extracts, transforms and stages, all at the same time; memory holds only what is between two stages. */
async function fetchAndTransform(
  run: Run,
  client: SourceClient,
  loading: Promise<Load>,
): Promise<{ verdicts: Verdict[]; totals: Map<string, TransformTotals> }> {
  const { asked, options, around, signal } = run;
  // Arrow after DuckDB, so that no answer has to wait for both.
  const transforming = loading.then(() => loadTransformers(asked));
  transforming.catch(() => undefined);
  const transformerOf = async ({ table }: AnyPipeline): Promise<Transformer> => (await transforming).get(table)!;
  const verdicts = await extract({
    pipelines: asked,
    client,
    clock: around.clock,
    report: around.report,
    concurrency: options.concurrency,
    pageSize: options.pageSize,
    wanted: options.dapil,
    knownBefore: run.knownDistricts,
    reference: run.referenceDistricts,
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
  { kind, project, asked, options, previous }: Run,
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
        new Map(
          violations.filter(({ severity }) => severity === 'error').map(({ check, count }) => [check, count] as const),
        ),
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
      : `The snapshot before stays. If the source really changed so, run the ${kind} again with --accept-changes.`,
  );
}

/** What was transformed = what DuckDB holds = what Parquet holds. */
async function requireVerified({ folder, project }: Run, manifest: Manifest): Promise<void> {
  const problems = await verifyBuilt(folder, manifest, project.pipelines);
  if (problems.length === 0) return;
  throw new VerificationError(
    `What was written is not what was fetched: ${problems.join('; ')}.`,
    'Nothing was published. Please report this.',
  );
}
