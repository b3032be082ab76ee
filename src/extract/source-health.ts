/** What the requests given up in a row say of a source: that it is gone, or that it refuses everything. */

import type { RekapError } from '../errors.ts';
import type { Failure } from './retry-plan.ts';
import { refusedAll } from './source-messages.ts';

/** So many requests for a dataset refused in a row, and none answered: the source refuses them all, perhaps for a limit it does not accept. */
const refusalsThatEndTheRun = 6;

/** So many requests given up in a row, with no answer in between, and the source counts as gone. */
const failuresThatEndTheRun = 5;

export class SourceHealth {
  /** Whether the source has ever answered in this run. */
  answered = false;
  /** Requests given up since the last answer. */
  failuresInARow = 0;
  /** Refusals in a row, by dataset; null for one that has brought a page: it is no longer in doubt. */
  private readonly refusals = new Map<string, number | null>();

  get isGone(): boolean {
    return this.failuresInARow >= failuresThatEndTheRun;
  }

  /** Whether the source has given a page of the dataset. */
  hasGiven(dataset: string): boolean {
    return this.refusals.get(dataset) === null;
  }

  notePage(dataset: string): void {
    this.answered = true;
    this.failuresInARow = 0;
    this.refusals.set(dataset, null);
  }

  /** Notes a request that is given up; gives the error that ends the run where it is one too many. */
  noteGivenUp(dataset: string, failure: Failure, error: RekapError): RekapError | null {
    const status = failure.kind === 'status' ? failure.status : null;
    // A plain refusal is an answer; only silence and server errors say that the source is going.
    const isAnswer = status !== null && status < 500 && status !== 429 && status !== 408;
    this.failuresInARow = isAnswer ? 0 : this.failuresInARow + 1;
    if (this.hasGiven(dataset)) return null;
    // One district may be refused; all requests for a dataset, again and again, are not refused for their district.
    const inARow = status !== null && status < 500 ? (this.refusals.get(dataset) ?? 0) + 1 : 0;
    this.refusals.set(dataset, inARow);
    return inARow >= refusalsThatEndTheRun ? refusedAll(dataset, error) : null;
  }
}
