/** A source client whose answers are made up in memory, one for each request. */

import { isRekapError } from '../../src/errors.ts';
import type { FetchedPage } from '../../src/extract/ask/answer-reader.ts';
import type { PageSource } from '../../src/extract/ask/source-client.ts';
import { emptyPage, nothingThere } from '../../src/extract/ask/source-messages.ts';
import { createScanner } from '../../src/extract/scan/scan-answer.ts';
import type { AnyPipeline } from '../../src/pipeline.ts';
import type { PageRequest } from '../../src/stages.ts';

/** @param answer Gives the body of an answer, or throws what the client would throw. */
export function clientInMemory(
  answer: (pipeline: AnyPipeline, request: PageRequest) => Buffer | Promise<Buffer>,
): PageSource {
  return {
    async fetchPage(pipeline, request) {
      return orNothingThere(request, async () => {
        const bytes = await answer(pipeline, request);
        const page = this.reopen(pipeline, request, bytes);
        return { page, at: new Date(0), landed: { answer: 0, read: async () => bytes }, refusal: null };
      });
    },
    reopen(pipeline, request, bytes) {
      const scan = createScanner(Object.values(pipeline.columns).map(({ field }) => field));
      return { request, url: `${pipeline.endpoint} ${JSON.stringify(request)}`, bytes, ...scan(bytes) };
    },
  };
}

/** What the client makes of a status that says "nothing there"; other errors are thrown on. */
export async function orNothingThere(request: PageRequest, fetch: () => Promise<FetchedPage>): Promise<FetchedPage> {
  try {
    return await fetch();
  } catch (error) {
    if (!isRekapError(error, 'source-status') || !nothingThere.has(error.status)) throw error;
    const landed = { answer: 0, read: async () => Buffer.of() };
    return { page: emptyPage(request, 'nowhere'), at: new Date(0), landed, refusal: error };
  }
}
