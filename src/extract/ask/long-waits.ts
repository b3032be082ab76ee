/** Tells whoever watches of a request that waits long before it is tried again; of those that wait together, once. */

import type { Clock, Report } from '../../context.ts';
import type { Failure } from './retry-plan.ts';
import { nameFailure } from './source-messages.ts';

/** Milliseconds after which a person wonders what is going on. */
const longWait = 5000;

export class LongWaits {
  private readonly clock: Clock;
  private readonly report: Report;
  /** Milliseconds that one attempt may take. */
  private readonly timeout: number;
  private toldUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, report: Report, timeout: number) {
    this.clock = clock;
    this.report = report;
    this.timeout = timeout;
  }

  /** Notes a wait of so many milliseconds. One after a timeout is told of however short it is, for that was long itself. */
  note(dataset: string, failure: Failure, milliseconds: number): void {
    if (milliseconds < longWait && failure.kind !== 'timeout') return;
    const over = this.clock.monotonic() + milliseconds;
    if (over < this.toldUntil) return;
    this.toldUntil = over + longWait;
    this.report({ kind: 'wait', dataset, milliseconds, why: nameFailure(failure, this.timeout) });
  }
}
