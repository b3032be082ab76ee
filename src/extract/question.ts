/** What an extraction is asked: which datasets and districts, of which source, within which bounds. */

import type { Clock, Report } from '../runtime/context.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { PageSource } from './ask/source-client.ts';

/** What is known of a source before it is asked. */
export interface Known {
  /** Just these districts, without the full listing; null for all that can be known. */
  readonly wanted: readonly number[] | null;
  /** Districts of the snapshot before. */
  readonly knownBefore: readonly number[];
  /** Districts known from law; asked for where some of them stand in the full listing, or where there is none. */
  readonly reference: readonly number[];
  /** Records that each table had in the snapshot before, or has by law; fewer are warned of. */
  readonly expected: Readonly<Record<string, number>>;
}

export interface ExtractQuestion extends Known {
  readonly pipelines: readonly AnyPipeline[];
  readonly client: PageSource;
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
