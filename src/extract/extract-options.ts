/** Defines the options of an extraction: datasets, partitions, source and limits. */

import type { Clock, Report } from '../runtime/context.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { PageSource } from '../source/source-client.ts';
import type { Scope } from '../stages.ts';
import type { RequestedWindow } from './windows.ts';

export interface ExtractOptions {
  readonly pipelines: readonly AnyPipeline[];
  /** What to read of each dataset. A table that is missing is read whole. */
  readonly scopes: ReadonlyMap<string, Scope>;
  /** Windows to try, by table. If none joins, the whole list is read. */
  readonly windows: ReadonlyMap<string, readonly RequestedWindow[]>;
  /** Parameters of a window, in every request of its list. */
  readonly window?: Readonly<Record<string, string>>;
  /** Partitions with records in the previous snapshot, by table. */
  readonly before: Readonly<Record<string, readonly string[]>>;
  /** Records per table in the previous snapshot, or as declared. Fewer cause a warning. */
  readonly expected: Readonly<Record<string, number>>;
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
