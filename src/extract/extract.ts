/** Asks the source for every district of every dataset, proves each one complete or names it, and hands its pages on. */

import { ReadableStream } from 'node:stream/web';
import pLimit from 'p-limit';
import type { AcceptedReading } from '../stages.ts';
import { DatasetExtraction } from './dataset.ts';
import { PageHolder } from './pages.ts';
import type { ExtractQuestion } from './question.ts';

export interface Extraction {
  /**
   * Every district once, in the order in which they are proved; one that could not be proved has no pages, and its verdict says why.
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
  const { signal } = question;
  // As many districts as requests: what a district of many pages holds waits in memory until it is proved.
  const limit = pLimit(question.concurrency);
  const extractions = question.pipelines.map((pipeline) => new DatasetExtraction(pipeline, question, holder));
  // The first failure that concerns more than one district ends the run: what is under way is waited for, and nothing more is asked for.
  let isBroken = false;
  const readAll = (extraction: DatasetExtraction, districts: readonly number[]) =>
    settleAll(
      districts.map((district) =>
        limit(async () => {
          await holder.room();
          signal.throwIfAborted();
          if (isBroken) return;
          try {
            const reading = await extraction.read(district);
            if (reading !== null) put(reading);
          } catch (error) {
            isBroken = true;
            throw error;
          }
        }),
      ),
    );

  if (question.wanted === null) await settleAll(extractions.map((extraction) => extraction.readListing()));
  // What one dataset lists is asked of the others too: a district missing from one listing alone must not go unnoticed.
  const listed = new Set(extractions.flatMap((extraction) => extraction.listedDistricts));
  await settleAll(
    extractions.map(async (extraction) => {
      const districts = question.wanted ?? extraction.districtsToRead(listed);
      question.report({ kind: 'districts', dataset: extraction.pipeline.table, total: districts.length });
      // A refused key shows at the first district; the others need not be asked for then.
      const first = extraction.isKeyInDoubt ? districts.slice(0, 1) : [];
      await readAll(extraction, first);
      await readAll(extraction, districts.slice(first.length));
    }),
  );
  const known = new Set(extractions.flatMap((extraction) => extraction.shownDistricts));
  await settleAll(
    extractions.map(async (extraction) => {
      await readAll(extraction, await extraction.districtsToReadAgain(known));
      for await (const reading of extraction.finish()) put(reading);
    }),
  );
}

/** Waits for all, then throws the first failure: no task is left running behind an error's back. */
async function settleAll(tasks: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(tasks)) if (result.status === 'rejected') throw result.reason;
}
