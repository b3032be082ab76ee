/** Tracks the health of a source: concurrency, failures in a row, and the error that ends the run. */

import pLimit, { type LimitFunction } from 'p-limit';
import type { RekapError } from '../errors.ts';
import type { Failure } from './retry-plan.ts';
import { refusedAll } from './source-messages.ts';

/** Refusals in a row, without any page, after which the source counts as refusing every request of a dataset. */
const maxRefusals = 6;

/** Failed requests in a row after which the endpoint of a dataset counts as gone. */
const maxFailures = 5;
const maxFailuresBeforeFirstPage = 2;

interface Endpoint {
  hasReturnedPage: boolean;
  refusalsInARow: number;
  failuresInARow: number;
}

export class SourceHealth {
  hasResponded = false;
  /** The error for all further requests, such as a refused key or a failed landing; null while the run goes on. */
  end: unknown = null;
  private readonly endpoints = new Map<string, Endpoint>();

  failuresIfGone(dataset: string): number | null {
    const { failuresInARow, hasReturnedPage } = this.of(dataset);
    return failuresInARow >= (hasReturnedPage ? maxFailures : maxFailuresBeforeFirstPage) ? failuresInARow : null;
  }

  hasReturnedPage(dataset: string): boolean {
    return this.of(dataset).hasReturnedPage;
  }

  get hasReturnedAnyPage(): boolean {
    return [...this.endpoints.values()].some(({ hasReturnedPage }) => hasReturnedPage);
  }

  notePage(dataset: string): void {
    this.hasResponded = true;
    this.endpoints.set(dataset, { hasReturnedPage: true, refusalsInARow: 0, failuresInARow: 0 });
  }

  /** Records a request without further attempts. Returns the error that ends the run, if this failure is one too many. */
  noteGivenUp(dataset: string, failure: Failure, error: RekapError): RekapError | null {
    const endpoint = this.of(dataset);
    const status = failure.kind === 'status' ? failure.status : null;
    // A refusal is a response. Only timeouts and server errors suggest that the source is going down.
    const isResponse = status !== null && status < 500 && status !== 429 && status !== 408;
    endpoint.failuresInARow = isResponse ? 0 : endpoint.failuresInARow + 1;
    endpoint.refusalsInARow = status !== null && status < 500 ? endpoint.refusalsInARow + 1 : 0;
    // A single partition may be refused, but not every request for a dataset.
    const refusesAll = !endpoint.hasReturnedPage && endpoint.refusalsInARow >= maxRefusals;
    return refusesAll ? refusedAll(dataset, error) : null;
  }

  noteTooLarge(dataset: string): void {
    this.hasResponded = true;
    this.of(dataset).failuresInARow += 1;
  }

  private of(dataset: string): Endpoint {
    let endpoint = this.endpoints.get(dataset);
    if (endpoint === undefined) {
      endpoint = { hasReturnedPage: false, refusalsInARow: 0, failuresInARow: 0 };
      this.endpoints.set(dataset, endpoint);
    }
    return endpoint;
  }
}

const successesPerRaise = 20;

/** Limits concurrency: halves the limit when the source is overloaded, and raises it again slowly. */
export class Pace {
  readonly limit: LimitFunction;
  private readonly ceiling: number;
  private round = 0;
  private successes = 0;

  constructor(concurrency: number) {
    this.ceiling = concurrency;
    this.limit = pLimit(concurrency);
  }

  get concurrency(): number {
    return this.limit.concurrency;
  }

  /** Returns the current round, to be passed to `slowDown`. Each halving starts a new round. */
  begin(): number {
    return this.round;
  }

  /** Halves the limit, once per round: the requests of a burst fail together. */
  slowDown(round: number): void {
    if (round !== this.round) return;
    this.round += 1;
    this.successes = 0;
    this.limit.concurrency = Math.max(1, Math.floor(this.limit.concurrency / 2));
  }

  noteSuccess(): void {
    if (this.limit.concurrency >= this.ceiling) return;
    this.successes += 1;
    if (this.successes < successesPerRaise) return;
    this.successes = 0;
    this.limit.concurrency += 1;
  }
}
