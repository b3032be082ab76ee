/** Asks the source for every district of every dataset, proves each one complete or names it, and hands the pages on. */

import pLimit from 'p-limit';
import type { Verdict } from '../stages.ts';
import { DatasetExtraction } from './dataset-extraction.ts';
import type { ExtractQuestion } from './walk/extract-question.ts';
import { PageHolder } from './walk/held-pages.ts';
import { settleAll } from './walk/settle-all.ts';
import { limitWalks } from './walk/walk-limit.ts';

/** Reads everything and gives a verdict for each district asked for; an incomplete one is a verdict, not a throw. */
export async function extract(question: ExtractQuestion): Promise<Verdict[]> {
  const holder = new PageHolder(question.heldBytes);
  const walks = limitWalks(question.concurrency, holder);
  // Reading ahead leaves room for the sweeps, which everything waits for in the end.
  const ahead = pLimit(Math.max(1, question.concurrency - question.pipelines.length));
  const extractions = question.pipelines.map((pipeline) => new DatasetExtraction(pipeline, question, holder, ahead));
  const verdicts: Verdict[] = [];

  const sweeping = question.wanted === null ? extractions.map((extraction) => extraction.sweep()) : [];
  // What was not read ahead by then is read in its turn, and the districts that take longest come first.
  const sweeps = await settleAll(sweeping).finally(() => ahead.clearQueue());
  // What one dataset lists is asked of the others too: a district missing from one list alone must not go unnoticed.
  const listed = new Set(sweeps.flatMap((result) => result?.listing.districts ?? []));
  // A fault that is not the source's ends the run: what is under way is waited for, and nothing more is asked for.
  let isBroken = false;
  const read = await settleAll(
    extractions.map(async (extraction) => {
      const districts = question.wanted ?? extraction.districtsToRead(listed);
      question.report({ kind: 'districts', dataset: extraction.pipeline.table, total: districts.length });
      const found: Verdict[] = [];
      await settleAll(
        districts.map((dapil) =>
          walks(async () => {
            if (isBroken) return;
            try {
              found.push(await extraction.readAndDeliver(dapil));
            } catch (error) {
              isBroken = true;
              throw error;
            }
          }),
        ),
      );
      return found;
    }),
  );
  // What one dataset has records of is doubtful where another has none.
  const known = new Set([...listed, ...read.flat().flatMap(({ dapil, received }) => (received > 0 ? dapil! : []))]);
  await settleAll(
    extractions.map(async (extraction, index) => {
      const confirmed = await extraction.confirmEmpty(read[index]!, known);
      verdicts.push(...confirmed, ...extraction.judgeWhole(confirmed), ...(await extraction.deliverStrays()));
    }),
  );
  return verdicts.toSorted((a, b) =>
    a.dataset < b.dataset ? -1 : a.dataset > b.dataset ? 1 : (a.dapil ?? -1) - (b.dapil ?? -1),
  );
}
