/** A list that comes in one response. Its length, its closed JSON or its last newline say that all of it has come. */

import { type Pager, PassTally } from './pass.ts';

/** Proved by two equal responses. */
export const singleResponse: Pager = {
  showsGaps: false,
  movesRecords: false,
  repages: false,
  grade: () => 'single',
  async pass(question) {
    const tally = new PassTally(question);
    const first = await question.fetchFirst(() => ({}));
    tally.noteAnswer(first);
    if (first.page.records.length > 0) tally.take(first, 0, null);
    return tally.end(first);
  },
};
