/** The pages that runs which were broken off have landed, read as they came; for a resumed run to go on from. */

import { isRekapError } from '../../errors.ts';
import type { AnyPipeline } from '../../pipeline.ts';
import type { LandedAnswers, PageRequest } from '../../stages.ts';
import type { AnswerReader, FetchedPage } from './answer-reader.ts';
import { ScanError } from '../scan/json-text.ts';

export interface LandedPages {
  /** Whether there are runs that were broken off to go on from. */
  readonly isResuming: boolean;
  /** Whether a run that was broken off has landed the page. */
  hasLanded(request: PageRequest): boolean;
  /**
   * The page as a run that was broken off has landed it; null where there is none that is whole.
   *
   * @param isTaken Whether it counts for this run, and so is landed for it too; else it is only looked at.
   */
  recallPage(pipeline: AnyPipeline, request: PageRequest, isTaken: boolean): Promise<FetchedPage | null>;
}

/** `resumed` is null where there is nothing to go on from. */
export function landedPages(
  resumed: LandedAnswers | null,
  reader: AnswerReader,
  warn: (message: string) => void,
): LandedPages {
  /** A damaged answer is no answer: the source can still be asked. */
  async function recall(landed: LandedAnswers, pipeline: AnyPipeline, request: PageRequest) {
    try {
      const answer = await landed.answerTo(request);
      if (answer?.status !== 200) return null;
      return { answer, page: reader.scan(pipeline, request, answer.url, answer.body) };
    } catch (error) {
      if (error instanceof ScanError) return null;
      if (!isRekapError(error, 'landing')) throw error;
      warn(`A page that was landed cannot be used and is asked for again: ${error.message}`);
      return null;
    }
  }

  return {
    isResuming: resumed !== null,
    hasLanded: (request) => resumed?.has(request) === true,
    async recallPage(pipeline, request, isTaken) {
      const found = resumed && (await recall(resumed, pipeline, request));
      if (!found) return null;
      const { answer, page } = found;
      const landed = isTaken
        ? await reader.land({ ...answer, request })
        : { answer: -1, read: async () => (await resumed.answerTo(request))!.body };
      return { page, at: answer.at, landed, refusal: null };
    },
  };
}
