/** Declared signs of the end of a list: a total and a flag. A sign counts only after a response of the run has shown the opposite. */

import { RekapError } from '../../errors.ts';
import type { Page } from '../../stages.ts';

export class EndSigns {
  /** True if a count was larger than its page: then it counts all matching records. */
  private isCountTotal = false;
  private hasBeenTrue = false;

  note({ count, hasMore, records }: Page): void {
    if (records.length > 0 && count !== null) this.isCountTotal ||= count > records.length;
    this.hasBeenTrue ||= hasMore === true;
  }

  /** Returns whether the flag says that no page follows, after it was true on another page. */
  isLast({ hasMore }: Page): boolean {
    return hasMore === false && this.hasBeenTrue;
  }

  /** Returns whether all records that the response counts were received. A count of the records of one response shows nothing. */
  isTotal({ count, isCountExact }: Page, received: number): boolean {
    return this.isCountTotal && isCountExact && count === received;
  }
}

/** @throws `unprovable-source` if the last page says that another one follows. */
export function requireNoMore({ hasMore, url }: Page): void {
  if (hasMore === true) throw contradiction(`${url} says that another page follows ("hasMore"), but there is none.`);
}

export function contradiction(message: string): RekapError {
  return new RekapError(
    'unprovable-source',
    message,
    'Check "hasMore" in the declaration: it must be true on every page that another one follows, and false on the last.',
  );
}
