/** Asks the source for every partition of every dataset, proves each one complete or names it, and hands its pages on. */

import { ReadableStream } from 'node:stream/web';
import pLimit, { type LimitFunction } from 'p-limit';
import type { AnyPipeline } from '../project/declaration.ts';
import type { AcceptedReading } from '../stages.ts';
import { DatasetExtraction } from './dataset.ts';
import { CollectedValues, listOfValues } from './partition-values.ts';
import { PageHolder } from './pages.ts';
import type { ExtractQuestion } from './question.ts';

export interface Extraction {
  /**
   * Every partition once, in the order in which they are proved; one that could not be proved has no pages, and its verdict says why.
   * Ends with a RekapError where the source failed as a whole.
   */
  readonly readings: AsyncIterable<AcceptedReading>;
  /** Resolves when nothing is asked for any more, however the extraction ended. */
  readonly ended: Promise<void>;
}

/** Begins at once. What is proved waits in memory and in the landing until it is taken. */
export function extract(question: ExtractQuestion): Extraction {
  const holder = new PageHolder(question.heldBytes);
  let ended = Promise.resolve();
  const readings = new ReadableStream<AcceptedReading>({
    start(controller) {
      ended = readEverything(question, holder, (reading) => controller.enqueue(reading)).then(
        () => controller.close(),
        (error: unknown) => controller.error(error),
      );
    },
  });
  // Whoever waits for room goes on to its end when the run is over.
  question.signal.addEventListener('abort', () => holder.close(), { once: true });
  return { readings, ended: ended.catch(() => undefined) };
}

async function readEverything(
  question: ExtractQuestion,
  holder: PageHolder,
  put: (reading: AcceptedReading) => void,
): Promise<void> {
  const round = new Round(question, holder, put);
  /** Of each pipeline whose partitions others name, what its records have in that column. */
  const values = new CollectedValues(question.pipelines);
  const done = new Set<string>();
  for (let left = [...question.pipelines]; left.length > 0;) {
    const ready = left.filter((pipeline) => values.parentsOf(pipeline).every((parent) => done.has(parent)));
    const lists = ready.flatMap(listOfValues);
    await round.read(lists, values);
    await round.read(ready, values);
    for (const { table } of ready) done.add(table);
    left = left.filter(({ table }) => !done.has(table));
  }
}

/** Reads datasets that wait for no other. */
class Round {
  private readonly question: ExtractQuestion;
  private readonly holder: PageHolder;
  private readonly put: (reading: AcceptedReading) => void;
  /** As many partitions as requests: what a partition of many pages holds waits in memory until it is proved. */
  private readonly limit: LimitFunction;
  /** The first failure that concerns more than one partition ends the run: what is under way is waited for, and nothing more is asked for. */
  private isBroken = false;

  constructor(question: ExtractQuestion, holder: PageHolder, put: (reading: AcceptedReading) => void) {
    this.question = question;
    this.holder = holder;
    this.put = put;
    this.limit = pLimit(question.concurrency);
  }

  async read(pipelines: readonly AnyPipeline[], values: CollectedValues): Promise<void> {
    const { question, holder } = this;
    const extractions = pipelines.map(
      (pipeline) => new DatasetExtraction(pipeline, question, holder, values.referenceOf(pipeline)),
    );
    if (question.wanted === null) await settleAll(extractions.map((extraction) => extraction.readListing()));
    // What one dataset lists is asked of the others too: a partition missing from one listing alone must not go unnoticed.
    const ofColumn = groupBy(extractions, ({ pipeline }) => pipeline.partition?.column ?? '');
    await settleAll(
      extractions.map(async (extraction) => {
        const column = extraction.pipeline.partition?.column ?? '';
        const listed = new Set(ofColumn.get(column)!.flatMap((other) => other.listedPartitions));
        const isWanted = question.wanted !== null && extraction.pipeline.partition !== undefined;
        const partitions = isWanted ? question.wanted : extraction.partitionsToRead(listed);
        question.report({ kind: 'partitions', dataset: extraction.pipeline.table, total: partitions.length });
        // A refused key shows at the first partition; the others need not be asked for then.
        const first = extraction.isKeyInDoubt ? partitions.slice(0, 1) : [];
        await this.readAll(extraction, first, values);
        await this.readAll(extraction, partitions.slice(first.length), values);
      }),
    );
    await settleAll(
      extractions.map(async (extraction) => {
        const others = ofColumn.get(extraction.pipeline.partition?.column ?? '')!;
        const known = new Set(others.flatMap((other) => other.shownPartitions));
        await this.readAll(extraction, await extraction.partitionsToReadAgain(known), values);
        for await (const reading of extraction.finish()) await this.pass(extraction.pipeline, reading, values);
      }),
    );
  }

  private async readAll(
    extraction: DatasetExtraction,
    partitions: readonly (string | null)[],
    values: CollectedValues,
  ): Promise<void> {
    const { question, holder } = this;
    await settleAll(
      partitions.map((partition) =>
        this.limit(async () => {
          await holder.room();
          question.signal.throwIfAborted();
          if (this.isBroken) return;
          try {
            const reading = await extraction.read(partition);
            if (reading !== null) await this.pass(extraction.pipeline, reading, values);
          } catch (error) {
            this.isBroken = true;
            throw error;
          }
        }),
      ),
    );
  }

  private async pass(pipeline: AnyPipeline, reading: AcceptedReading, values: CollectedValues): Promise<void> {
    await values.collect(pipeline, reading);
    this.put(reading);
  }
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** Waits for all, then throws the first failure: no task is left running behind an error's back. */
async function settleAll(tasks: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(tasks)) if (result.status === 'rejected') throw result.reason;
}
