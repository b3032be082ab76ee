/** Asks the source for every district of every dataset, proves each one complete or names it, and hands its pages on. */

import pLimit from 'p-limit';
import type { AcceptedReading } from '../stages.ts';
import { DatasetExtraction } from './dataset-extraction.ts';
import type { ExtractQuestion } from './extract-question.ts';
import { PageHolder } from './prove/page-holder.ts';
import { ReadingQueue } from './reading-queue.ts';
import { settleAll } from './settle-all.ts';

/**
 * Gives every district once, in the order in which they are proved; one that could not be proved has no pages, and its verdict says why.
 *
 * @throws RekapError where the source failed as a whole.
 */
export async function* extract(question: ExtractQuestion): AsyncGenerator<AcceptedReading> {
  const found = new ReadingQueue<AcceptedReading>();
  const holder = new PageHolder(question.heldBytes);
  const reading = readEverything(question, holder, found).then(
    () => found.end(),
    (error: unknown) => found.fail(error),
  );
  try {
    yield* found;
  } finally {
    // Nothing is asked for behind the back of whoever has stopped listening.
    holder.close();
    await reading;
  }
}

async function readEverything(
  question: ExtractQuestion,
  holder: PageHolder,
  found: ReadingQueue<AcceptedReading>,
): Promise<void> {
  // As many districts as requests: what a district of many pages holds waits in memory until it is proved.
  const limit = pLimit(question.concurrency);
  const extractions = question.pipelines.map((pipeline) => new DatasetExtraction(pipeline, question, holder));
  // The first failure that concerns more than one district ends the run: what is under way is waited for, and nothing more is asked for.
  let isBroken = false;
  const readAll = async (extraction: DatasetExtraction, districts: readonly number[]): Promise<void> => {
    await settleAll(
      districts.map((district) =>
        limit(async () => {
          await holder.room();
          if (isBroken || found.isAbandoned) return;
          try {
            const reading = await extraction.read(district);
            if (reading !== null) found.put(reading);
          } catch (error) {
            isBroken = true;
            throw error;
          }
        }),
      ),
    );
  };

  if (question.wanted === null) await settleAll(extractions.map((extraction) => extraction.readListing()));
  // What one dataset lists is asked of the others too: a district missing from one listing alone must not go unnoticed.
  const listed = new Set(extractions.flatMap((extraction) => extraction.listedDistricts));
  await settleAll(
    extractions.map(async (extraction) => {
      const districts = question.wanted ?? extraction.districtsToRead(listed);
      question.report({ kind: 'districts', dataset: extraction.pipeline.table, total: districts.length });
      await readAll(extraction, districts);
    }),
  );
  if (found.isAbandoned) return;
  const known = new Set(extractions.flatMap((extraction) => extraction.shownDistricts));
  await settleAll(
    extractions.map(async (extraction) => {
      await readAll(extraction, await extraction.districtsToReadAgain(known));
      for await (const reading of extraction.finish()) found.put(reading);
    }),
  );
}
