/** What an extraction is asked: which datasets and districts, of which source, within which bounds. */

import type { AnyPipeline } from '../../pipeline.ts';
import type { DistrictReading } from '../../stages.ts';
import type { Clock, Report } from '../../surroundings.ts';
import type { SourceClient } from '../ask/source-client.ts';

export interface ExtractQuestion {
  readonly pipelines: readonly AnyPipeline[];
  readonly client: SourceClient;
  readonly clock: Clock;
  readonly report: Report;
  readonly concurrency: number;
  readonly pageSize: number;
  /** Just these districts, each read to its empty page; null for all that can be known. */
  readonly wanted: readonly number[] | null;
  /** Districts of the snapshot before. */
  readonly knownBefore: readonly number[];
  /** Districts known from law; asked for where some of them stand in the sweep, or where there is no sweep. */
  readonly reference: readonly number[];
  /** Records that each table's list is likely to have; what it has is read all the same. */
  readonly expected: Readonly<Record<string, number>>;
  /** Bytes of answers that may wait in memory. */
  readonly heldBytes: number;
  /** Records after which a sweep, or a district that no sweep has listed, counts as endless. */
  readonly maxRecords: number;
  readonly signal: AbortSignal;
  /** Takes a complete district's pages; called for one district at a time per dataset. */
  deliver(pipeline: AnyPipeline, reading: DistrictReading): Promise<void>;
}
