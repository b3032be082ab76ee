/** Fetches, proves, transforms and loads, all at the same time: what the source answers ends as tables and Parquet files in the run's folder. */

import { setMaxListeners } from 'node:events';
import { RekapError } from '../errors.ts';
import { findPrevious } from './find-previous.ts';
import type { CarryOver } from '../load/carry-over.ts';
import type { Load, Loaded } from '../load/load.ts';
import type { PreviousTables } from '../load/previous-tables.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { Asked } from './record-run.ts';
import type { Run } from './run.ts';
import { databaseFile } from '../warehouse/snapshot-format.ts';
import type { AcceptedReading, TransformTotals, Verdict } from '../stages.ts';
import type { Transformer } from '../transform/transformer.ts';

/** So many milliseconds after the first answer the requests that follow it are on their way. */
const headStart = 20;

/** Bytes outside its heap after which V8 surely collects: it does so from 64 MB on, counted from what there was the last time. */
const askedToCollect = 128 * 1024 * 1024;

/** Where districts come from, open until it is closed. */
export interface OpenedSource {
  /** Who brings the answers; resolves `answered` when the first one has come. */
  readonly client: Asked & { readonly answered: Promise<void> };
  readonly readings: AsyncIterable<AcceptedReading>;
  close(): Promise<void>;
}

export type OpenSource = (run: Run) => Promise<OpenedSource>;

/** What the extraction and the transformation have to say of what they brought. */
interface Fetched {
  readonly verdicts: readonly Verdict[];
  /** By table; without those that the run did not ask for. */
  readonly totals: ReadonlyMap<string, TransformTotals>;
}

/** Fetches, proves and loads everything; source and DuckDB file are closed afterwards, whatever happens. */
export async function fetchAndLoad(
  run: Run,
  carryOver: CarryOver | null,
  openSource: OpenSource,
): Promise<Fetched & Loaded> {
  const { options, signal } = run;
  run.enter('fetch');
  const broken = new AbortController();
  /** The run as the source sees it: it ends as well where there is nothing to load its answers into. */
  const fetching = { ...run, signal: AbortSignal.any([signal, broken.signal]) };
  setMaxListeners(0, fetching.signal);
  const source = await openSource(fetching);
  run.client = source.client;
  let closing: Promise<void> | null = null;
  const closeSource = (): Promise<void> => (closing ??= source.close());
  // Where what is needed cannot be loaded, nothing more is asked for.
  const { transforming, load } = loadMeanwhile(fetching, source.client, signal, (error) => broken.abort(error));
  try {
    const { verdicts, totals } = await transformReadings(
      fetching,
      source.readings,
      { transforming, load: load.get },
      (error) => broken.abort(error),
    );
    requireComplete(verdicts);
    freeWhatIsLeft();
    signal.throwIfAborted();
    run.enter('build tables');
    const log = { snapshot: run.id, publishedAt: run.startedAt, source: options.source };
    const previous = await readPrevious(run, carryOver !== null);
    const tables = await load.get();
    // What was landed is flushed to the disk meanwhile.
    closeSource().catch(() => undefined);
    const loaded = await tables.finish(carryOver, log, previous);
    await closeSource();
    signal.throwIfAborted();
    return { verdicts, totals, ...loaded };
  } catch (error) {
    // No load begins after this.
    broken.abort(error);
    // Where the file could not even be made, there is nothing to close, and that is not why an interrupted run ends.
    await load.begun()?.then(
      (tables) => tables.abandon(),
      () => undefined,
    );
    // What went wrong first is the reason; that the source could not be closed either adds nothing to it.
    await closeSource().catch(() => undefined);
    signal.throwIfAborted();
    throw error;
  }
}

/**
 * Makes V8 collect what the extraction has left, up to 60 MB with a million records: it does not know that DuckDB is about to need as much and
 * more. It looks when memory outside its heap is asked for, be it never touched, and collects while the program waits for DuckDB.
 */
function freeWhatIsLeft(): void {
  try {
    Buffer.allocUnsafeSlow(askedToCollect);
  } catch {
    // Where there is no such room V8 has collected before it said so; what was fetched is not lost for it.
  }
}

/**
 * The tables of the snapshot before, whose history goes on in the new ones. One that is damaged as a whole must not keep a sync from making a
 * new one, unless rows are carried over from it.
 */
async function readPrevious({ previous, around }: Run, isCarriedOver: boolean): Promise<PreviousTables | null> {
  if (previous === null) return null;
  const { tables, why } = await findPrevious(previous);
  if (tables === null && isCarriedOver)
    throw new RekapError(
      'warehouse',
      `Nothing can be carried over from snapshot ${previous.id}. ${why}`,
      'Run one sync without --dapil and --dataset.',
    );
  if (why !== null) {
    const message =
      tables === null
        ? `Snapshot ${previous.id} is damaged. ${why} The history of snapshots and changes begins anew.`
        : `Snapshot ${previous.id} is read from its Parquet files. ${why}`;
    around.report({ kind: 'warning', message });
  }
  return tables;
}

/** Transforms and stages one district after the other, while others are read. */
async function transformReadings(
  { asked }: Run,
  readings: AsyncIterable<AcceptedReading>,
  stages: { readonly transforming: Promise<ReadonlyMap<string, Transformer>>; readonly load: () => Promise<Load> },
  stop: (error: unknown) => void,
): Promise<Fetched> {
  const verdicts: Verdict[] = [];
  const build = async ({ verdict, pages }: AcceptedReading): Promise<void> => {
    const tables = await stages.load();
    const transformer = (await stages.transforming).get(verdict.dataset)!;
    const pipeline = asked.find(({ table }) => table === verdict.dataset)!;
    transformer.beginDistrict();
    for (const accepted of pages) {
      for (const batch of transformer.addPage(await accepted.read())) tables.append(pipeline, batch);
      accepted.release();
    }
  };
  for await (const reading of readings) {
    verdicts.push(reading.verdict);
    if (reading.pages.length === 0) continue;
    try {
      await build(reading);
    } catch (error) {
      // Before the loop is left, which waits for what is under way.
      stop(error);
      throw error;
    }
  }
  const totals = new Map<string, TransformTotals>();
  for (const pipeline of asked) {
    const transformer = (await stages.transforming).get(pipeline.table)!;
    (await stages.load()).append(pipeline, transformer.finish());
    totals.set(pipeline.table, transformer.totals());
  }
  return { verdicts: verdicts.toSorted(byDatasetAndDistrict), totals };
}

function byDatasetAndDistrict(a: Verdict, b: Verdict): number {
  return a.dataset < b.dataset ? -1 : a.dataset > b.dataset ? 1 : (a.district ?? -1) - (b.district ?? -1);
}

/**
 * Arrow and DuckDB take as long to load as answers take to come: Arrow as the first ones, DuckDB as those that are asked for next, or when
 * something is to be put into it.
 *
 * @param fetching Ends when nothing more is asked for; no load begins after that.
 * @param signal Ends the load that has begun.
 */
function loadMeanwhile(
  fetching: Run,
  client: OpenedSource['client'],
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
) {
  const { project, folder, asked, around } = fetching;
  const transforming = loadTransformers(asked);
  transforming.catch(onFailure);
  const load = onceNeeded(async () => {
    await transforming;
    const { Load } = await import('../load/load.ts');
    return Load.begin({ folder, databaseFile, project, signal });
  }, onFailure);
  client.answered
    .then(() => around.clock.sleep(headStart, fetching.signal))
    .then(load.get)
    .catch(() => undefined);
  return { transforming, load };
}

/** Something that is begun when it is first needed, and only then. */
function onceNeeded<Value>(begin: () => Promise<Value>, onFailure: (error: unknown) => void) {
  let begun: Promise<Value> | null = null;
  return {
    get(): Promise<Value> {
      if (begun === null) {
        begun = begin();
        begun.catch(onFailure);
      }
      return begun;
    },
    /** Null where nothing has needed it. */
    begun: () => begun,
  };
}

async function loadTransformers(pipelines: readonly AnyPipeline[]): Promise<Map<string, Transformer>> {
  const { Transformer } = await import('../transform/transformer.ts');
  return new Map(pipelines.map((pipeline) => [pipeline.table, new Transformer(pipeline)]));
}

function requireComplete(verdicts: readonly Verdict[]): void {
  const incomplete = verdicts.filter(({ complete }) => !complete);
  if (incomplete.length === 0) return;
  const shown = incomplete
    .slice(0, 10)
    .map(
      ({ dataset, district, reason }) =>
        `  - ${dataset}, ${district === null ? 'list of districts' : `district ${district}`}: ${reason}`,
    );
  const more = incomplete.length > shown.length ? [`  - and ${incomplete.length - shown.length} more`] : [];
  throw new RekapError(
    'incomplete',
    [`${countIncomplete(verdicts)} could not be proved complete:`, ...shown, ...more].join('\n'),
    'Nothing was published. Run the sync again.',
  );
}

/** 3 of 84 districts of voters, 1 of 84 districts of voting_rights_users. */
function countIncomplete(verdicts: readonly Verdict[]): string {
  const datasets = [...new Set(verdicts.map(({ dataset }) => dataset))];
  const parts = datasets.flatMap((dataset) => {
    const own = verdicts.filter((verdict) => verdict.dataset === dataset);
    // What is doubtful of a district that was read to its end has a verdict of its own.
    const read = new Set(own.flatMap(({ district }) => (district === null ? [] : [district]))).size;
    const doubtful = new Set(own.flatMap(({ district, complete }) => (district === null || complete ? [] : [district])))
      .size;
    return [
      ...(own.some(({ district, complete }) => district === null && !complete)
        ? [`the list of districts of ${dataset}`]
        : []),
      ...(doubtful > 0 ? [`${doubtful} of ${read} districts of ${dataset}`] : []),
    ];
  });
  return parts.join(', ');
}
