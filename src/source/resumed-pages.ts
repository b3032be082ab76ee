/** Reuses pages that interrupted runs have stored, if the full listing is still byte for byte the same. */

import { isRekapError } from '../errors.ts';
import { isSuccess, type SourceResponse, type LandedResponses, type PageRequest } from '../stages.ts';

export class ResumedPages {
  private readonly runs: readonly LandedResponses[];
  private readonly warn: (topic: string, message: string) => void;
  /** By dataset, the runs whose stored listing equals the current one. */
  private readonly same = new Map<string, readonly LandedResponses[]>();
  private readonly taken = new Set<string>();

  constructor(runs: readonly LandedResponses[], warn: (topic: string, message: string) => void) {
    this.runs = runs;
    this.warn = warn;
  }

  async compare(request: PageRequest, body: Buffer): Promise<void> {
    const same: LandedResponses[] = [];
    for (const run of this.same.get(request.dataset) ?? this.runs)
      if ((await this.find(run, request))?.body.equals(body) === true) same.push(run);
    this.same.set(request.dataset, same);
  }

  /** Returns the stored page of a partition, once; null if it must be requested. */
  async take(request: PageRequest): Promise<SourceResponse | null> {
    const { dataset, target } = request;
    const same = this.same.get(dataset);
    if (same === undefined || same.length === 0) {
      const why = same === undefined ? 'there is no full listing to compare them with' : 'the full listing has changed';
      this.warn(`resume ${dataset}`, `${dataset}: the stored pages of the earlier run cannot be reused: ${why}.`);
      return null;
    }
    // A partition that the stored pages don't prove is read again from the source.
    const name = `${dataset} ${target}`;
    if (this.taken.has(name)) return null;
    this.taken.add(name);
    const run = same.find((landed) => landed.has(request));
    return run === undefined ? null : this.find(run, request);
  }

  private async find(run: LandedResponses, request: PageRequest): Promise<SourceResponse | null> {
    try {
      const response = await run.responseTo(request);
      return response !== null && isSuccess(response.status) ? response : null;
    } catch (error) {
      if (!isRekapError(error, 'landing')) throw error;
      this.warn('resume', `A stored page cannot be reused and is requested again: ${error.message}`);
      return null;
    }
  }
}
