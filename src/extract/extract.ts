/** Asks the source for every district of every dataset, proves each one complete or names it, and hands the pages on. */

import pLimit from 'p-limit';
import type { Verdict } from '../stages.ts';
import { DatasetExtraction } from './dataset-extraction.ts';
import type { ExtractQuestion } from './extract-question.ts';
import { PageHolder } from './held-pages.ts';

/** Reads everything and gives a verdict for each district asked for; an incomplete one is a verdict, not a throw. */
export async function extract(question: ExtractQuestion): Promise<Verdict[]> {
  const holder = new PageHolder(question.heldBytes);
  const walks = pLimit(question.concurrency);
  // Reading ahead leaves room for the sweeps, which everything waits for in the end.
  const ahead = pLimit(Math.max(1, question.concurrency - question.pipelines.length));
  const extractions = question.pipelines.map((pipeline) => new DatasetExtraction(pipeline, question, holder, ahead));
  const verdicts: Verdict[] = [];

  const sweeps = question.wanted === null ? await settleAll(extractions.map((extraction) => extraction.sweep())) : [];
  ahead.concurrency = question.concurrency;
  // What one dataset lists is asked of the others too: a district missing from one list alone must not go unnoticed.
  const listed = new Set(sweeps.flatMap((result) => result?.listing.districts ?? []));
  await settleAll(
    extractions.map(async (extraction) => {
      const districts = question.wanted ?? extraction.districtsToRead(listed);
      question.report({ kind: 'districts', dataset: extraction.pipeline.table, total: districts.length });
      verdicts.push(...(await extraction.deliverStrays()));
      await settleAll(
        districts.map((dapil) =>
          walks(async () => {
            verdicts.push(await extraction.readAndDeliver(dapil));
          }),
        ),
      );
      verdicts.push(...extraction.judgeDistrictList());
    }),
  );
  return verdicts.toSorted((a, b) =>
    a.dataset < b.dataset ? -1 : a.dataset > b.dataset ? 1 : (a.dapil ?? -1) - (b.dapil ?? -1),
  );
}

/** Waits for all, then throws the first failure: no task is left running behind an error's back. */
async function settleAll<Value>(tasks: readonly Promise<Value>[]): Promise<Value[]> {
  const settled = await Promise.allSettled(tasks);
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
