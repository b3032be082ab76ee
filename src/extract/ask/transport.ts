/** How a request reaches its answer: the contract, and the way to what an earlier run has landed. */

import { LandingError } from '../../errors.ts';
import type { LandedAnswers, PageRequest } from '../../stages.ts';

/** An answer as it came, its body decoded from any content encoding. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** When it came, where that is not now. */
  readonly at: Date | null;
}

export interface Transport {
  /** Sends one request once. What it throws is a failure of the connection, unless it is a `RekapError`. */
  send(request: PageRequest, path: string, signal: AbortSignal): Promise<Received>;
  close(): Promise<void>;
}

/** Answers every request from a landing, and never from anywhere else. */
export function createLandedTransport(answers: LandedAnswers): Transport {
  return {
    async send(request, path) {
      const found = await answers.answerTo(request);
      if (found === null) {
        throw new LandingError(
          `The landing holds no answer to ${path} (reading ${request.reading}): its run was broken off, the source failed there, or another build of rekap asked for other pages.`,
          'Only a run that read every district can be replayed; the same sync with --resume goes on from what it has landed.',
        );
      }
      const { status, body, at } = found;
      return { status, headers: {}, body, at };
    },
    async close() {},
  };
}
