/** Limits how many requests are under way: halved when the source says "too many", raised slowly again. */

import pLimit, { type LimitFunction } from 'p-limit';

/** So many answers in a row without a complaint raise the limit by one. */
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

  /** Called when a request is sent; its number says later whether a complaint is older than the last halving. */
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
