/** Reads every partition of every dataset, proves that each one is complete or says why it isn't, and yields its pages. */

import { RekapError } from '../errors.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { AcceptedReading } from '../stages.ts';
import { DatasetExtraction } from './dataset.ts';
import type { ExtractOptions } from './extract-options.ts';
import { PageHolder } from './page-holder.ts';
import { readDatasets } from './read-datasets.ts';
import { readWindow } from './read-window.ts';
import { partitionLists } from '../project/partition-list.ts';
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
    const whole: AnyPipeline[] = [];
    for (const pipeline of ready) {
      const windows = options.windows.get(pipeline.table);
      const joined = windows === undefined ? null : await readWindow(pipeline, windows, options, holder);
      if (joined === null) whole.push(pipeline);
      else yield* joined;
    }
    for (const datasets of [ready.flatMap(partitionLists), whole]) {
      const extractions = datasets.map(
        (pipeline) => new DatasetExtraction(pipeline, options, holder, values.referenceOf(pipeline)),
      );
      for await (const { pipeline, reading } of readDatasets(extractions, options, holder)) {
        await values.collect(pipeline, reading);
        yield reading;
      }
    }
    for (const { table } of ready) done.set(table, options.clock.monotonic());
    left = left.filter(({ table }) => !done.has(table));
  }
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
  for await (const { reading } of readDatasets([extraction], quiet, holder)) {
    await now.collect(pipeline, reading);
    const { verdict } = reading;
    if (!verdict.complete)
      throw new RekapError(
        'incomplete',
        `${pipeline.table} was read again after the lists of its records, and could not be proved complete: ${verdict.reason}`,
        'Nothing was published. Run the sync again.',
      );
  }
  const different = values.differenceFrom(now, pipeline.table);
  if (different === null) return;
  throw new RekapError(
    'incomplete',
    `${pipeline.table} changed while the lists of its records were read: ${different}.`,
    'Nothing was published. Run the sync again.',
  );
}
