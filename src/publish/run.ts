/** Defines the options, the state and the result of a run. */

import type { Secret } from '../source/secret.ts';
import type { SourceFigures } from '../source/source-client.ts';
import type { BrokenCheck } from '../load/load-report.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import type { SourceFile } from '../project/declaration-error.ts';
import type { Clock, Random, Report, RunStep } from '../runtime/context.ts';
import type { Grade, Scopes } from '../stages.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** Options of a sync. Times are in milliseconds. `rekap sync --help` describes each. */
export interface SyncOptions {
  readonly warehouse: string;
  readonly baseUrl: string;
  readonly source: string;
  readonly apiKey: Secret;
  readonly partitions: readonly string[] | null;
  /** The weakest accepted grade of proof, or null to accept any. */
  readonly requireProof: Grade | null;
  readonly datasets: readonly string[] | null;
  readonly concurrency: number;
  readonly pageSize: number;
  readonly timeout: number;
  readonly maxAttempts: number;
  readonly maxDuration: number;
  readonly strict: boolean;
  /** 'new-errors' refuses errors that the previous snapshot doesn't have. */
  readonly refuse: 'new-errors' | null;
  readonly acceptChanges: boolean;
  readonly acceptSource: boolean;
  readonly keep: number;
  /** Number of landings to keep in addition to that of the current snapshot; null for as many as `keep`, and that of every snapshot. */
  readonly keepLanding: number | null;
  /** Reuses pages of interrupted runs that are at most this many milliseconds old; null for none. */
  readonly resumeWithin: number | null;
  readonly dryRun: boolean;
  /** Memory for building tables, in bytes; undefined for the default. */
  readonly memory?: number | undefined;
  /** Removes the pin of the current snapshot when the sync succeeds, so that the new one becomes current. */
  readonly unpin: boolean;
}

export const syncDefaults = {
  partitions: null,
  requireProof: null,
  datasets: null,
  // As many as a browser opens to one host.
  concurrency: 6,
  pageSize: 1000,
  timeout: 30_000,
  maxAttempts: 6,
  maxDuration: 3_600_000,
  strict: false,
  refuse: null,
  acceptChanges: false,
  acceptSource: false,
  keep: 7,
  keepLanding: null,
  resumeWithin: null,
  dryRun: false,
  unpin: false,
} as const satisfies Omit<SyncOptions, 'warehouse' | 'baseUrl' | 'source' | 'apiKey'>;

/** Options of a replay. `rekap replay --help` describes each. */
export interface ReplayOptions {
  readonly warehouse: string;
  readonly run: string | null;
  /** Module that draws the report; null for the default report. */
  readonly reportModule: string | null;
  readonly strict: boolean;
  readonly refuse: SyncOptions['refuse'];
  readonly acceptChanges: boolean;
  readonly acceptSource: boolean;
  readonly memory?: SyncOptions['memory'];
}

/** What a run takes from its surroundings. */
export interface SyncContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly report: Report;
  /** Aborts the run. Its reason is thrown. */
  readonly signal: AbortSignal;
}

/** What the requests of a run amounted to. */
export interface SyncFigures {
  readonly requests: number;
  readonly retries: number;
  readonly from_landing: number;
  readonly bytes: number;
  /** Responses with status 429 or 503, and the lowest concurrency that they led to. */
  readonly throttled: number;
  readonly lowest_concurrency: number;
  readonly milliseconds: number;
}

/** What a sync or a replay did. */
export interface SyncResult {
  readonly kind: 'sync' | 'replay';
  /**
   * 'reproduced' is a replay that produced the tables of a published snapshot. 'held' is a new snapshot that isn't current, because another one
   * is pinned.
   */
  readonly outcome: 'published' | 'held' | 'unchanged' | 'reproduced' | 'dry run';
  /** Id of the run, as in runs.jsonl. Its snapshot has the same id. */
  readonly run: string;
  /** The snapshot with the tables of the run, whether published, held, reproduced or unchanged; null after a dry run. */
  readonly snapshot: string | null;
  /** The current snapshot; null after a dry run in an empty warehouse. */
  readonly current: string | null;
  readonly pinned: string | null;
  readonly warehouse: string;
  /** The snapshot of the run that the replay equals in every Parquet file and figure; null if not everything could be compared. */
  readonly equals: string | null;
  readonly landing: string | null;
  readonly manifest: Manifest;
  readonly broken_checks: readonly BrokenCheck[];
  readonly figures: SyncFigures;
  readonly warnings: readonly string[];
  readonly pruned: readonly string[];
}

/** A run under the lock of the warehouse. */
export interface Run {
  readonly kind: SyncResult['kind'];
  readonly project: Project;
  readonly reportModule: string | null;
  /** Files of the project, for errors in its SQL; undefined for a stored project. */
  readonly files?: ReadonlyMap<string, SourceFile> | undefined;
  readonly options: SyncOptions;
  readonly context: SyncContext;
  readonly warn: (message: string) => void;
  readonly enter: (step: RunStep) => void;
  readonly warnings: readonly string[];
  /** Steps so far, with their start in milliseconds of the monotonic clock. */
  readonly steps: readonly (readonly [step: RunStep, at: number])[];
  readonly begunAt: Date;
  readonly started: number;
  readonly id: string;
  readonly landing: string;
  /** Start of the run; for a replay, of the original run. */
  readonly startedAt: Date;
  readonly previous: Snapshot | null;
  readonly current: string | null;
  /** The pinned snapshot, which keeps `current` unchanged; null if none is pinned, or if the run removes the pin. */
  readonly pinned: string | null;
  readonly requested: readonly AnyPipeline[];
  readonly folder: string;
  readonly signal: AbortSignal;
  /** What the run reads of each dataset. A table that is missing is read whole. */
  scopes: Scopes;
  /** Null before the first request. */
  figures: Readonly<SourceFigures> | null;
}
