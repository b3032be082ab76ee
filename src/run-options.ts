/** What a run is told, what it carries along, and what it gives back. */

import type { Secret } from './source/secret.ts';
import type { SourceFigures } from './source/source-client.ts';
import type { BrokenCheck } from './load/load-report.ts';
import type { AnyPipeline, Project } from './project/declaration.ts';
import type { SourceFile } from './project/load-project.ts';
import type { Clock, Random, Report, RunStep } from './runtime/context.ts';
import type { Grade } from './stages.ts';
import type { Manifest } from './warehouse/snapshot-format.ts';
import type { Snapshot } from './warehouse/warehouse.ts';

/** Settings of one sync; `syncDefaults` holds those that have a default. */
export interface SyncOptions {
  readonly warehouse: string;
  /** Of the service, without an endpoint. */
  readonly baseUrl: string;
  /** What the warehouse remembers as its source: the base URL, or 'sample'. */
  readonly source: string;
  readonly apiKey: Secret;
  /** Just these partitions, by their values; null for all. */
  readonly partitions: readonly string[] | null;
  /** The weakest grade of proof that is accepted; null for any. */
  readonly requireProof: Grade | null;
  /** Just these tables; null for all. */
  readonly datasets: readonly string[] | null;
  readonly concurrency: number;
  readonly pageSize: number;
  /** Milliseconds for one attempt at one request. */
  readonly timeout: number;
  readonly maxAttempts: number;
  /** Milliseconds for the whole run. */
  readonly maxDuration: number;
  readonly strict: boolean;
  /** 'new-errors' refuses what the snapshot before did not have; null for nothing. */
  readonly refuse: 'new-errors' | null;
  readonly acceptChanges: boolean;
  readonly acceptSource: boolean;
  /** Snapshots to keep. */
  readonly keep: number;
  /** Landings to keep, beside the current snapshot's; null for as many as snapshots, and one for every snapshot there is. */
  readonly keepLanding: number | null;
  /** Goes on from the pages that broken-off runs have landed in the last so many milliseconds; null for none. */
  readonly resumeWithin: number | null;
  readonly dryRun: boolean;
  /** Removes the pin of the current snapshot when the sync succeeds, so that the new one becomes current. */
  readonly unpin: boolean;
}

/** What a sync goes by where nothing else is said, on the command line and in a program. */
export const syncDefaults = {
  partitions: null,
  requireProof: null,
  datasets: null,
  concurrency: 4,
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

/** Settings of one replay. */
export interface ReplayOptions {
  readonly warehouse: string;
  /** Id of the run to replay; null for the newest that came to its end. */
  readonly run: string | null;
  /** Warehouse in which the snapshot is built; null for the run's own. */
  readonly into: string | null;
  /** Module that draws the report; null for the report that every project has. */
  readonly reportModule: string | null;
  readonly strict: boolean;
  readonly refuse: SyncOptions['refuse'];
  readonly acceptChanges: boolean;
  readonly acceptSource: boolean;
}

/** The context of a sync: time, chance and output, which tests own. */
export interface SyncContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly report: Report;
  /** Aborted by a signal to the process; its reason is thrown. */
  readonly signal: AbortSignal;
}

export interface SyncFigures {
  /** Sent to the source, with those tried again. */
  readonly requests: number;
  readonly retries: number;
  /** Pages read from a landing instead. */
  readonly from_landing: number;
  readonly bytes: number;
  /** Answers that asked for fewer requests, and the fewest under way at a time that they led to. */
  readonly throttled: number;
  readonly lowest_concurrency: number;
  readonly milliseconds: number;
}

/** How a sync or a replay that did not fail ended. */
export interface SyncResult {
  readonly kind: 'sync' | 'replay';
  /**
   * 'reproduced' is a replay that gave the very tables of the snapshot that there is. 'held' is a new snapshot that did not become current,
   * because another one is pinned.
   */
  readonly outcome: 'published' | 'held' | 'unchanged' | 'reproduced' | 'dry run';
  /** Id of the run, as in runs.jsonl; a snapshot that it published has the same. */
  readonly run: string;
  /** The snapshot that holds what was built: published, held, reproduced or found unchanged; null after a dry run. */
  readonly snapshot: string | null;
  /** The snapshot that is current now; null after a dry run into an empty warehouse. */
  readonly current: string | null;
  /** The pinned snapshot, which keeps others from becoming current; null if none is pinned. */
  readonly pinned: string | null;
  readonly warehouse: string;
  /** The snapshot of the same run that what was built was found equal to, every Parquet file and figure; null where not all of that could be compared. */
  readonly equals: string | null;
  /** Folder of the answers; null where they were not kept. */
  readonly landing: string | null;
  /** The manifest of what was built, published or not. */
  readonly manifest: Manifest;
  readonly broken_checks: readonly BrokenCheck[];
  readonly figures: SyncFigures;
  readonly warnings: readonly string[];
  /** Ids of old snapshots that were removed. */
  readonly pruned: readonly string[];
}

/** What is known of a run as soon as it is asked for. */
export interface Attempt {
  readonly kind: SyncResult['kind'];
  readonly project: Project;
  /** Module that draws the report; null for the report that every project has. */
  readonly reportModule: string | null;
  /** The project's files, for errors in its SQL; undefined for a project that was stored. */
  readonly files?: ReadonlyMap<string, SourceFile> | undefined;
  readonly options: SyncOptions;
  readonly context: SyncContext;
  readonly warn: (message: string) => void;
  /** Says which step the run has come to. */
  readonly enter: (step: RunStep) => void;
  /** Those warned of so far. */
  readonly warnings: readonly string[];
  /** The steps so far, and when each began, in milliseconds of the clock that never goes back. */
  readonly steps: readonly (readonly [step: RunStep, at: number])[];
  readonly begunAt: Date;
  /** As the clock that never goes back has it. */
  readonly started: number;
}

/** What a run is to be, found out with the lock held. */
export interface RunPlan {
  /** Id of the run and of the snapshot that it publishes. */
  readonly id: string;
  /** Folder of the run's answers. */
  readonly landing: string;
  /** When the source was first asked; for a replay that lies back. */
  readonly startedAt: Date;
  readonly previous: Snapshot | null;
  /** The snapshot that is current as the run begins. */
  readonly current: string | null;
  /** The pinned snapshot: while there is one, `current` stays as it is. Null if none is pinned, or if the run removes the pin. */
  readonly pinned: string | null;
}

/** Everything that one run carries along. */
export interface Run extends RunPlan, Attempt {
  /** The pipelines that this run asks the source for. */
  readonly requested: readonly AnyPipeline[];
  /** Folder in which the snapshot is built. */
  readonly folder: string;
  /** Aborted by the caller, by the bound on the run's time, or when the run is over. */
  readonly signal: AbortSignal;
  /** What its requests came to; null as long as nothing is asked. */
  figures: Readonly<SourceFigures> | null;
}

/** How a run ended; all as in SyncResult. */
export interface RunEnd extends Pick<
  SyncResult,
  'outcome' | 'current' | 'snapshot' | 'manifest' | 'broken_checks' | 'pruned'
> {
  readonly equals?: string | null;
}
