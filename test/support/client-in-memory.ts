/** A source client whose answers are made up in memory, one for each request. */

import { isRekapError } from '../../src/errors.ts';
import type { FetchedPage } from '../../src/source/response-reader.ts';
import type { PageSource } from '../../src/source/source-client.ts';
import { emptyPage, emptyStatuses } from '../../src/source/source-messages.ts';
import { createPageScanner } from '../../src/source/decode/page-scanner.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import type { PageRequest } from '../../src/stages.ts';

/** @param answer Gives the body of an answer, or throws what the client would throw. */
export function clientInMemory(
  answer: (pipeline: AnyPipeline, request: PageRequest) => Buffer | Promise<Buffer>,
): PageSource {
  const scan = createPageScanner(() => {});
  return {
    async fetchPage(pipeline, request) {
      return orNothingThere(request, async () => {
        const bytes = await answer(pipeline, request);
        const page = scan(pipeline, request, `http://source.test${request.target}`, bytes);
        return { page, at: new Date(0), landed: { response: 0, read: async () => bytes }, refusal: null, link: null };
      });
    },
  };
}

/** What the client makes of a status that says "nothing there"; other errors are thrown on. */
export async function orNothingThere(request: PageRequest, fetch: () => Promise<FetchedPage>): Promise<FetchedPage> {
  try {
    return await fetch();
  } catch (error) {
    if (!isRekapError(error, 'source-status') || !emptyStatuses.has(error.status)) throw error;
    const landed = { response: 0, read: async () => Buffer.of() };
    return { page: emptyPage(request, 'nowhere'), at: new Date(0), landed, refusal: error, link: null };
  }
}
