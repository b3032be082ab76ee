/** A source client whose answers are made up in memory, one for each request. */

import { createScanner } from '../../src/extract/scan-answer.ts';
import type { SourceClient } from '../../src/extract/source-client.ts';
import type { AnyPipeline } from '../../src/pipeline.ts';
import type { PageRequest } from '../../src/stages.ts';

/** @param answer Gives the body of an answer, or throws what the client would throw. */
export function clientInMemory(
  answer: (pipeline: AnyPipeline, request: PageRequest) => Buffer | Promise<Buffer>,
): SourceClient {
  return {
    figures: { requests: 0, retries: 0, bytes: 0, throttled: 0, lowestConcurrency: 1, resumed: 0 },
    async fetchPage(pipeline, request) {
      const bytes = await answer(pipeline, request);
      return { page: this.reopen(pipeline, request, bytes), at: new Date(0), landed: async () => bytes };
    },
    hasLanded: () => false,
    recallPage: async () => null,
    noteResumed() {},
    reopen(pipeline, request, bytes) {
      const scan = createScanner(Object.values(pipeline.columns).map(({ field }) => field));
      return { request, url: `${pipeline.endpoint} ${JSON.stringify(request)}`, bytes, ...scan(bytes) };
    },
    async close() {},
  };
}
