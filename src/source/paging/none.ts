/** A list in one response. Its length, its closed JSON or its last newline shows that all of it arrived. */

import type { Pager } from './pass.ts';

/** Proved by two equal responses. */
export const singleResponse: Pager = {
  showsGaps: false,
  movesRecords: false,
  repages: false,
  grade: () => 'single',
  async *pass({ fetchFirst }) {
    yield { fetched: await fetchFirst(() => ({})), first: 0, size: null };
  },
};
