/** How a source is doing: how many requests it bears at a time, what the requests given up in a row say of it, and what ended the run. */

import pLimit, { type LimitFunction } from 'p-limit';
import type { RekapError } from '../errors.ts';
import type { Failure } from './retry-plan.ts';
import { refusedAll } from './source-messages.ts';

/** So many requests for a dataset refused in a row, and none answered: the source refuses them all, perhaps for a limit it does not accept. */
const refusalsThatEndTheRun = 6;

/** So many requests for a dataset given up in a row, with no answer in between, and its endpoint counts as gone. */
const failuresThatEndTheRun = 5;
/** The same of an endpoint that has never given a page: its list and the first partition that stands in for it. */
const failuresBeforeFirstPage = 2;

/** What is known of one endpoint. */
interface Endpoint {
  /** Whether it has given a page: then it does not refuse everything. */
  hasGiven: boolean;
  refusalsInARow: number;
  failuresInARow: number;
}

export class SourceHealth {
  /** Whether the source has ever answered in this run. */
  answered = false;
  /** What ends the run for every request to come: a refused key, an endpoint that is gone, a source that asks for patience, or answers that cannot be kept. */
  end: unknown = null;
  private readonly endpoints = new Map<string, Endpoint>();

  /** Requests for the dataset given up since its last answer, where they are so many that its endpoint is gone; else null. */
  goneSince(dataset: string): number | null {
    const { failuresInARow, hasGiven } = this.of(dataset);
    return failuresInARow >= (hasGiven ? failuresThatEndTheRun : failuresBeforeFirstPage) ? failuresInARow : null;
  }

  /** Whether the source has given a page of the dataset. */
  hasGiven(dataset: string): boolean {
    return this.of(dataset).hasGiven;
  }

  /** Whether the source has given a page of any dataset. */
  get hasGivenAny(): boolean {
    return [...this.endpoints.values()].some(({ hasGiven }) => hasGiven);
  }

  notePage(dataset: string): void {
    this.answered = true;
    this.endpoints.set(dataset, { hasGiven: true, refusalsInARow: 0, failuresInARow: 0 });
  }

  /** Notes a request that is given up; gives the error that ends the run where it is one too many. */
  noteGivenUp(dataset: string, failure: Failure, error: RekapError): RekapError | null {
    const endpoint = this.of(dataset);
    const status = failure.kind === 'status' ? failure.status : null;
    // A plain refusal is an answer; only silence and server errors say that the source is going.
    const isAnswer = status !== null && status < 500 && status !== 429 && status !== 408;
    endpoint.failuresInARow = isAnswer ? 0 : endpoint.failuresInARow + 1;
    endpoint.refusalsInARow = status !== null && status < 500 ? endpoint.refusalsInARow + 1 : 0;
    // One partition may be refused; all requests for a dataset, again and again, are not refused for their partition.
    const refusesAll = !endpoint.hasGiven && endpoint.refusalsInARow >= refusalsThatEndTheRun;
    return refusesAll ? refusedAll(dataset, error) : null;
  }

  /** Notes a request given up because its answer would be too large to read; asking again would bring the same. */
  noteTooLarge(dataset: string): void {
    this.answered = true;
    this.of(dataset).failuresInARow += 1;
  }

  private of(dataset: string): Endpoint {
    let endpoint = this.endpoints.get(dataset);
    if (endpoint === undefined) {
      endpoint = { hasGiven: false, refusalsInARow: 0, failuresInARow: 0 };
      this.endpoints.set(dataset, endpoint);
    }
    return endpoint;
  }
}

/** So many answers in a row without a problem raise the limit by one. */
const answersPerRaise = 20;

export class Pace {
  readonly limit: LimitFunction;
  private readonly ceiling: number;
  private round = 0;
  private answers = 0;

  constructor(concurrency: number) {
    this.ceiling = concurrency;
    this.limit = pLimit(concurrency);
  }

  /** The present limit. */
  get concurrency(): number {
    return this.limit.concurrency;
  }

  /** Called when a request is sent; its number says later whether a problem is older than the last halving. */
  begin(): number {
    return this.round;
  }

  /** The source complained about a request of `round`. Complaints of one burst halve the limit once. */
  slowDown(round: number): void {
    if (round !== this.round) return;
    this.round += 1;
    this.answers = 0;
    this.limit.concurrency = Math.max(1, Math.floor(this.limit.concurrency / 2));
  }

  /** The source answered. */
  answered(): void {
    if (this.limit.concurrency >= this.ceiling) return;
    this.answers += 1;
    if (this.answers < answersPerRaise) return;
    this.answers = 0;
    this.limit.concurrency += 1;
  }
}
