/** Gives pages that broken-off runs have landed, of those runs whose full listing is byte for byte today's. */

import { isRekapError } from '../errors.ts';
import type { Answer, LandedAnswers, PageRequest } from '../stages.ts';

export class ResumedPages {
  private readonly runs: readonly LandedAnswers[];
  private readonly warn: (topic: string, message: string) => void;
  /** By dataset, the runs that have landed every page of today's listing as it is. */
  private readonly same = new Map<string, readonly LandedAnswers[]>();
  private readonly taken = new Set<string>();

  /** @param runs The newest first. */
  constructor(runs: readonly LandedAnswers[], warn: (topic: string, message: string) => void) {
    this.runs = runs;
    this.warn = warn;
  }

  /** Compares a page of today's full listing with the landed ones. */
  async compare(request: PageRequest, body: Buffer): Promise<void> {
    const same: LandedAnswers[] = [];
    for (const run of this.same.get(request.dataset) ?? this.runs)
      if ((await this.find(run, request))?.body.equals(body) === true) same.push(run);
    this.same.set(request.dataset, same);
  }

  /** A partition's page as it was landed, once; null where the source is to be asked. */
  async take(request: PageRequest): Promise<Answer | null> {
    const { dataset, target } = request;
    const same = this.same.get(dataset);
    if (same === undefined || same.length === 0) {
      const why = same === undefined ? 'there is no full listing to compare them with' : 'the full listing has changed';
      this.warn(`resume ${dataset}`, `${dataset}: the stored pages of the earlier run cannot be reused: ${why}.`);
      return null;
    }
    // A partition whose landed pages do not prove it is read again, and then from the source.
    const name = `${dataset} ${target}`;
    if (this.taken.has(name)) return null;
    this.taken.add(name);
    const run = same.find((landed) => landed.has(request));
    return run === undefined ? null : this.find(run, request);
  }

  /** A damaged answer is no answer. */
  private async find(run: LandedAnswers, request: PageRequest): Promise<Answer | null> {
    try {
      const answer = await run.answerTo(request);
      return answer?.status === 200 ? answer : null;
    } catch (error) {
      if (!isRekapError(error, 'landing')) throw error;
      this.warn('resume', `A stored page cannot be reused and is requested again: ${error.message}`);
      return null;
    }
  }
}
