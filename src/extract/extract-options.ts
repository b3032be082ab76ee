/** Defines the options of an extraction: datasets, partitions, source and limits. */

import type { Clock, Report } from '../runtime/context.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { PageSource } from '../source/source-client.ts';

export interface Known {
  readonly wanted: readonly string[] | null;
  readonly knownBefore: readonly string[];
  /** Declared partitions. They are requested if the full listing contains some of them, or if there is no listing. */
  readonly reference: readonly string[];
  /** Records per table in the previous snapshot, or as declared. Fewer cause a warning. */
  readonly expected: Readonly<Record<string, number>>;
}

export interface ExtractOptions extends Pick<Known, 'wanted' | 'expected'> {
  readonly pipelines: readonly AnyPipeline[];
  readonly before: Readonly<Record<string, readonly string[]>>;
  readonly client: PageSource;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly report: Report;
  readonly concurrency: number;
  /** Records per request, at least 2. If the source refuses this size, smaller ones are tried. */
  readonly pageSize: number;
  /** Without a full listing, accepts a partition as empty even if another dataset has it. */
  readonly acceptChanges: boolean;
  /** Key of the `content` of verdicts, 16 hexadecimal digits. */
  readonly contentKey: string;
  readonly heldBytes: number;
  /** Records after which a pass counts as endless. */
  readonly maxRecords: number;
  readonly signal: AbortSignal;
}
