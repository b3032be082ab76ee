/** Reads every partition of every dataset, proves that each one is complete or says why it isn't, and yields its pages. */

import pLimit from 'p-limit';
import { RekapError } from '../errors.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { AcceptedReading } from '../stages.ts';
import { DatasetExtraction } from './dataset.ts';
import type { ExtractOptions } from './extract-options.ts';
import { PageHolder } from './page-holder.ts';
import { readPartition } from './partition.ts';
import { partitionLists, partitionParameters } from '../project/partition-list.ts';
import { CollectedValues } from './partition-values.ts';

/**
 * Yields every partition once, in the order in which they are proved. A partition without proof has no pages, and its verdict says why.
 * Partitions are read ahead of the consumer, until their pages fill the memory that they may hold.
 *
 * @throws RekapError if the source fails as a whole.
 */
export async function* extract(options: ExtractOptions): AsyncGenerator<AcceptedReading, void, undefined> {
  const holder = new PageHolder(options.heldBytes);
  options.signal.addEventListener('abort', () => holder.close(), { once: true });
  const values = new CollectedValues(options.pipelines);
  /** When each dataset was read, in milliseconds of the monotonic clock. */
  const done = new Map<string, number>();
  for (let left = [...options.pipelines]; left.length > 0;) {
    const ready = left.filter((pipeline) => values.parentsOf(pipeline).every((parent) => done.has(parent)));
    for (const datasets of [ready.flatMap(partitionLists), ready])
      yield* readDatasets(
        datasets.map((pipeline) => new DatasetExtraction(pipeline, options, holder, values.referenceOf(pipeline))),
        options,
        holder,
        values,
      );
    for (const { table } of ready) done.set(table, options.clock.monotonic());
    left = left.filter(({ table }) => !done.has(table));
  }
  if (options.wanted !== null) return;
  const parents = new Set(options.pipelines.flatMap((pipeline) => values.parentsOf(pipeline)));
  for (const pipeline of options.pipelines)
    if (parents.has(pipeline.table) && options.clock.monotonic() - done.get(pipeline.table)! > maxAge)
      await requireSameValues(pipeline, options, values);
}

/** Milliseconds. If reading the lists of its records takes longer, a dataset is read again. */
const maxAge = 60_000;

/** @throws `incomplete` if the dataset now names other lists than those that were read. */
async function requireSameValues(
  pipeline: AnyPipeline,
  options: ExtractOptions,
  values: CollectedValues,
): Promise<void> {
  const quiet: ExtractOptions = { ...options, report: () => undefined };
  // The second reading is compared, but not published.
  const holder = new PageHolder(0);
  const now = new CollectedValues(options.pipelines);
  const extraction = new DatasetExtraction(pipeline, quiet, holder, values.referenceOf(pipeline));
  for await (const { verdict } of readDatasets([extraction], quiet, holder, now))
    if (!verdict.complete)
      throw new RekapError(
        'incomplete',
        `${pipeline.table} was read again after the lists of its records, and could not be proved complete: ${verdict.reason}`,
        'Nothing was published. Run the sync again.',
      );
  const different = values.differenceFrom(now, pipeline.table);
  if (different === null) return;
  throw new RekapError(
    'incomplete',
    `${pipeline.table} changed while the lists of its records were read: ${different}.`,
    'Nothing was published. Run the sync again.',
  );
}

/** Reads datasets that don't wait for each other: the full listings, then all partitions, then what only the end can show. */
async function* readDatasets(
  extractions: readonly DatasetExtraction[],
  { wanted, concurrency, report, signal }: ExtractOptions,
  holder: PageHolder,
  values: CollectedValues,
): AsyncGenerator<AcceptedReading, void, undefined> {
  if (wanted === null) await settleAll(extractions.map((extraction) => extraction.readListing()));
  // A partition in the listing of one dataset is requested for all of them, so that a listing can't hide it.
  const columnsOf = (pipeline: AnyPipeline) =>
    partitionParameters(pipeline)
      .map(({ column }) => column)
      .join();
  const withSameColumn = (pipeline: AnyPipeline) =>
    extractions.filter((other) => columnsOf(other.pipeline) === columnsOf(pipeline));
  /** One partition per concurrent request, because the pages of a partition stay in memory until it is proved. */
  const limit = pLimit(concurrency);
  const started: Promise<unknown>[] = [];
  let isOver = false;

  const planned = extractions.map((extraction) => {
    const { pipeline } = extraction;
    const listed = new Set(withSameColumn(pipeline).flatMap((other) => other.listedPartitions));
    const isWanted = wanted !== null && pipeline.partition !== undefined;
    const partitions = isWanted ? wanted : extraction.partitionsToRead(listed);
    report({ kind: 'partitions', dataset: pipeline.table, total: partitions.length });
    // If the key may be refused, a single partition shows it first.
    return { extraction, partitions, first: extraction.isKeyInDoubt ? 1 : 0 };
  });
  const listCount = planned.reduce((sum, { partitions }) => sum + partitions.length, 0);
  const lookahead = Math.max(1, Math.floor(concurrency / listCount));

  async function* readAll(
    lists: readonly { readonly extraction: DatasetExtraction; readonly partitions: readonly (string | null)[] }[],
  ): AsyncGenerator<AcceptedReading, void, undefined> {
    const tasks = lists.flatMap(({ extraction, partitions }) =>
      partitions.map((partition) => limit(() => readOne(extraction, partition))),
    );
    started.push(...tasks);
    for await (const read of asSettled(tasks)) if (read !== null) yield* collected(read.extraction, read.reading);
  }

  async function readOne(extraction: DatasetExtraction, partition: string | null) {
    await holder.room();
    signal.throwIfAborted();
    if (isOver) return null;
    try {
      const reading = await readPartition(extraction, partition, lookahead);
      return reading === null ? null : { extraction, reading };
    } catch (error) {
      isOver = true;
      throw error;
    }
  }

  async function* collected({ pipeline }: DatasetExtraction, reading: AcceptedReading) {
    await values.collect(pipeline, reading);
    yield reading;
  }

  try {
    yield* readAll(planned.map(({ first, ...list }) => ({ ...list, partitions: list.partitions.slice(0, first) })));
    yield* readAll(planned.map(({ first, ...list }) => ({ ...list, partitions: list.partitions.slice(first) })));
    const again = await settleAll(
      extractions.map(async (extraction) => {
        const seen = new Set(withSameColumn(extraction.pipeline).flatMap((other) => other.seenPartitions));
        return { extraction, partitions: await extraction.partitionsToReadAgain(seen) };
      }),
    );
    yield* readAll(again);
    const left = await settleAll(extractions.map((extraction) => extraction.finish()));
    for (const [place, extraction] of extractions.entries())
      for (const reading of left[place]!) yield* collected(extraction, reading);
  } finally {
    isOver = true;
    await Promise.allSettled(started);
  }
}

/** Yields the results of tasks in the order in which they settle, waits for all, and throws the first failure at the end. */
async function* asSettled<Value>(tasks: readonly Promise<Value>[]): AsyncGenerator<Value, void, undefined> {
  const results: Value[] = [];
  let wake = (): void => undefined;
  let settled = 0;
  for (const task of tasks)
    void task
      .then(
        (result) => results.push(result),
        () => undefined,
      )
      .finally(() => {
        settled += 1;
        wake();
      });
  while (settled < tasks.length || results.length > 0) {
    yield* results.splice(0);
    if (settled < tasks.length && results.length === 0) await new Promise<void>((resolve) => (wake = resolve));
  }
  await settleAll(tasks);
}

async function settleAll<Value>(tasks: readonly Promise<Value>[]): Promise<Value[]> {
  const results = await Promise.allSettled(tasks);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
