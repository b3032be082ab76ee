/** Reads datasets that don't wait for each other, a partition per concurrent request. */

import pLimit from 'p-limit';
import type { AnyPipeline } from '../project/declaration.ts';
import { partitionParameters } from '../project/partition-list.ts';
import type { AcceptedReading } from '../stages.ts';
import type { DatasetExtraction } from './dataset.ts';
import type { ExtractOptions } from './extract-options.ts';
import type { PageHolder } from './page-holder.ts';
import { readPartition } from './partition.ts';

interface DatasetReading {
  readonly pipeline: AnyPipeline;
  readonly reading: AcceptedReading;
}

/** Reads datasets that don't wait for each other: the full listings, then all partitions, then what only the end can show. */
export async function* readDatasets(
  extractions: readonly DatasetExtraction[],
  { concurrency, report, signal }: ExtractOptions,
  holder: PageHolder,
): AsyncGenerator<DatasetReading, void, undefined> {
  await settleAll(extractions.map((extraction) => extraction.readListing()));
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
    const partitions = extraction.partitionsToRead(listed);
    report({ kind: 'partitions', dataset: pipeline.table, total: partitions.length });
    // If the key may be refused, a single partition shows it first.
    return { extraction, partitions, first: extraction.isKeyInDoubt ? 1 : 0 };
  });
  const listCount = planned.reduce((sum, { partitions }) => sum + partitions.length, 0);
  const lookahead = Math.max(1, Math.floor(concurrency / listCount));

  async function* readAll(
    lists: readonly { readonly extraction: DatasetExtraction; readonly partitions: readonly (string | null)[] }[],
  ): AsyncGenerator<DatasetReading, void, undefined> {
    const tasks = lists.flatMap(({ extraction, partitions }) =>
      partitions.map((partition) => limit(() => readOne(extraction, partition))),
    );
    started.push(...tasks);
    for await (const read of asSettled(tasks)) if (read !== null) yield read;
  }

  async function readOne(extraction: DatasetExtraction, partition: string | null) {
    await holder.room();
    signal.throwIfAborted();
    if (isOver) return null;
    try {
      const reading = await readPartition(extraction, partition, lookahead);
      return reading === null ? null : { pipeline: extraction.pipeline, reading };
    } catch (error) {
      isOver = true;
      throw error;
    }
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
      for (const reading of left[place]!) yield { pipeline: extraction.pipeline, reading };
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
