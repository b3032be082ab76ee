/** The pages that runs which were broken off have landed, read as they came; for a resumed run to go on from. */

import { LandingError } from '../../errors.ts';
import type { AnyPipeline } from '../../pipeline.ts';
import type { LandedAnswers, Page, PageRequest, ResumableAnswers } from '../../stages.ts';
import type { AnswerReader, FetchedPage } from './answer-reader.ts';
import { ScanError } from '../scan/json-text.ts';

export interface LandedPages {
  /** Whether there are runs that were broken off to go on from. */
  readonly isResuming: boolean;
  /** Whether a run that was broken off has landed the page. */
  hasLanded(request: PageRequest): boolean;
  /**
   * Goes on from those runs only whose pages of the dataset pass. `peek` gives one as it was landed; null where the run has none that is whole.
   * Gives whether there are any.
   */
  keepLanded(pipeline: AnyPipeline, passes: (peek: Peek) => Promise<boolean>): Promise<boolean>;
  /** The page as a run that was broken off has landed it, landed for this run too; null where there is none that is whole. */
  recallPage(pipeline: AnyPipeline, request: PageRequest): Promise<FetchedPage | null>;
}

type Peek = (request: PageRequest) => Promise<Page | null>;

/** `resumed` is null where there is nothing to go on from. */
export function landedPages(
  resumed: ResumableAnswers | null,
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
      if (!(error instanceof LandingError)) throw error;
      warn(`A page that was landed cannot be used and is asked for again: ${error.message}`);
      return null;
    }
  }

  return {
    isResuming: resumed !== null,
    hasLanded: (request) => resumed?.has(request) === true,
    async keepLanded(pipeline, passes) {
      if (resumed === null) return false;
      return resumed.keep(pipeline.table, (run) =>
        passes(async (request) => (await recall(run, pipeline, request))?.page ?? null),
      );
    },
    async recallPage(pipeline, request) {
      const found = resumed && (await recall(resumed, pipeline, request));
      if (!found) return null;
      const { answer, page } = found;
      return { page, at: answer.at, landed: await reader.land({ ...answer, request }), refusal: null };
    },
  };
}
