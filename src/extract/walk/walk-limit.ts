/** Bounds how many districts are walked at once: by the requests that there may be, and by the memory that their pages take. */

import pLimit from 'p-limit';
import type { PageHolder } from './held-pages.ts';

/**
 * Where less than this part of the bound on memory was in use since the walk before ended, one more district is walked; else one fewer. What is
 * in use at an end says little: the pages of the walk that ended have just been given back.
 */
const spare = 1 / 4;

/**
 * Runs a walk when its turn comes. There are as many at once as there may be requests, and up to twice as many while their pages take
 * little memory: then the next requests are sent while what came is read and transformed. Each walk of a long district holds much.
 */
export function limitWalks(requests: number, holder: PageHolder): (walk: () => Promise<void>) => Promise<void> {
  const limit = pLimit(requests);
  return (walk) =>
    limit(async () => {
      try {
        await walk();
      } finally {
        const next = limit.concurrency + (holder.takePeakUse() < spare ? 1 : -1);
        limit.concurrency = Math.min(Math.max(next, requests), requests * 2);
      }
    });
}
