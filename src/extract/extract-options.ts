/** What an extraction is asked: which datasets and partitions, of which source, within which bounds. */

import type { Clock, Report } from '../runtime/context.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { PageSource } from '../source/source-client.ts';

/** What is known of a dataset's partitions before the source is asked. */
export interface Known {
  /** Just these partitions, without the full listing; null for all that can be known. */
  readonly wanted: readonly string[] | null;
  /** Partitions of the snapshot before. */
  readonly knownBefore: readonly string[];
  /** Partitions that are declared; asked for where some of them stand in the full listing, or where there is none. */
  readonly reference: readonly string[];
  /** Records that each table had in the snapshot before, or is declared to have; fewer are warned of. */
  readonly expected: Readonly<Record<string, number>>;
}

export interface ExtractOptions extends Pick<Known, 'wanted' | 'expected'> {
  readonly pipelines: readonly AnyPipeline[];
  /** Partitions of each table in the snapshot before. */
  readonly before: Readonly<Record<string, readonly string[]>>;
  readonly client: PageSource;
  /** Of the source, without a trailing slash. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly report: Report;
  readonly concurrency: number;
  /** Records to ask for at a time, 2 or more; a source that refuses so many is asked for fewer. */
  readonly pageSize: number;
  /** Takes a partition for empty that another dataset has, where there is no full listing to say so. */
  readonly acceptChanges: boolean;
  /** Bytes of answers that may wait in memory. */
  readonly heldBytes: number;
  /** Records after which a reading counts as endless. */
  readonly maxRecords: number;
  readonly signal: AbortSignal;
}
