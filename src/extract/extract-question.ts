/** What an extraction is asked: which datasets and districts, of which source, within which bounds. */

import type { AnyPipeline } from '../pipeline.ts';
import type { Clock, Report } from '../context.ts';
import type { SourceClient } from './ask/source-client.ts';
import type { Known } from './prove/findings.ts';

export interface ExtractQuestion extends Known {
  readonly pipelines: readonly AnyPipeline[];
  readonly client: SourceClient;
  readonly clock: Clock;
  readonly report: Report;
  readonly concurrency: number;
  /** Records to ask for at a time, 2 or more; a source that refuses so many is asked for fewer. */
  readonly pageSize: number;
  /** Takes a district for empty that another dataset has, where there is no full listing to say so. */
  readonly acceptChanges: boolean;
  /** Bytes of answers that may wait in memory. */
  readonly heldBytes: number;
  /** Records after which a reading counts as endless. */
  readonly maxRecords: number;
  readonly signal: AbortSignal;
}
