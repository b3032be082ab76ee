/** The public API: run a sync or a replay, read its warehouse, or serve it from your own program. */

import { RekapError } from './errors.ts';
import { keyOf } from './source/credentials.ts';
import { readBaseUrl } from './source/base-url.ts';
import { Secret } from './source/secret.ts';
import type { Auth, Project, ProjectDeclaration } from './project/declaration.ts';
import { type LoadedProject, loadProject } from './project/load-project.ts';
import { replay as replayRun } from './replay.ts';
import {
  type ReplayOptions,
  type SyncContext,
  syncDefaults,
  type SyncOptions,
  type SyncResult,
} from './publish/run.ts';
import { systemClock } from './runtime/context.ts';
import { sync as syncProject } from './sync.ts';

export { ExitCode, isRekapError, RekapError } from './errors.ts';
export type { ErrorCode } from './errors.ts';
export {
  boolean,
  columnOf,
  count,
  date,
  decimal,
  definePipeline,
  defineProject,
  defineReport,
  endpoint,
  integer,
  list,
  pattern,
  range,
  reference,
  refersTo,
  sum,
  text,
  timestamp,
} from './project/define.ts';
export type * from './project/declaration.ts';
export type * from './project/sql-file.ts';
export { loadProject } from './project/load-project.ts';
export type { LoadedProject } from './project/load-project.ts';
export type { Ledger, Severity, Verdict } from './stages.ts';
export type { Clock, Random, Report, RunEvent } from './runtime/context.ts';
export { Secret } from './source/secret.ts';
export { openWarehouse, type Row, type RowValue, type Warehouse } from './snapshots/open-warehouse.ts';
export type { Verification } from './snapshots/manage-snapshots.ts';
export type { Status } from './snapshots/freshness.ts';
export type { ReplayOptions, SyncFigures, SyncOptions, SyncResult, SyncContext } from './publish/run.ts';
export { rollBack } from './snapshots/manage-snapshots.ts';
export { queryToParquet, runQuery } from './snapshots/query/run-query.ts';
export type { QueryResult, ResultColumn } from './snapshots/query/query-result.ts';
export { ApiKeys, generateApiKey, readApiKeys } from './serve/api-keys.ts';
export type { FaultName, FaultSettings, FaultValues } from './serve/faults/fault-list.ts';
export { openFolderSource } from './serve/record-source.ts';
export type { RecordSet, RecordSource } from './serve/record-source.ts';
export { startService } from './serve/service.ts';
export type { Service, ServiceOptions } from './serve/service.ts';
export { openWarehouseSource } from './serve/warehouse-source.ts';
export { readCurrent, readSnapshot } from './warehouse/warehouse.ts';
export type { Manifest, ManifestDataset, ManifestFile } from './warehouse/snapshot-format.ts';
export type { Snapshot } from './warehouse/warehouse.ts';

type GivenContext = Partial<SyncContext>;

/** A project: its folder, its declaration with `pipelines`, or what `loadProject` or a manifest returned. */
export type GivenProject = string | ProjectDeclaration | LoadedProject | Project;

/** Options of a sync. `SyncOptions` describes the optional ones. */
export interface SyncSettings extends Partial<Omit<SyncOptions, 'apiKey' | 'baseUrl'>>, GivenContext {
  /** Folder of the warehouse. It is created if it doesn't exist. */
  readonly warehouse: string;
  /** Default: the bundled project. */
  readonly project?: GivenProject;
  /** URL of the service. Default: the `baseUrl` of the project. */
  readonly baseUrl?: string;
  /** Required if the project declares `auth`. */
  readonly apiKey?: string | Secret;
}

/** Options of a replay. Only the warehouse is required. */
export interface ReplaySettings extends Partial<ReplayOptions>, GivenContext {
  readonly warehouse: string;
}

/**
 * Copies the data of the source into the warehouse and publishes it as a snapshot.
 *
 * @throws RekapError with a `code`, an `exitCode` and the `next` step. The previous snapshot then stays unchanged.
 */
export async function sync(settings: SyncSettings): Promise<SyncResult> {
  const { context, options } = split(settings);
  const project = await resolveProject(options.project);
  const given = options.baseUrl ?? ('baseUrl' in project ? project.baseUrl : null);
  if (given === null)
    throw new RekapError('usage', 'The source is missing.', 'Pass `baseUrl`, or declare it in the project.');
  const baseUrl = readBaseUrl(given, project.pipelines);
  const apiKey = readKey(options.apiKey, project.auth);
  return syncProject(project, { ...syncDefaults, source: baseUrl, ...options, baseUrl, apiKey }, context);
}

export async function resolveProject(given: GivenProject | undefined): Promise<LoadedProject | Project> {
  if (given === undefined) return loadProject();
  return typeof given === 'string' || !('models' in given) ? loadProject(given) : given;
}

function readKey(given: string | Secret | undefined, auth: Auth | null): Secret {
  if (given instanceof Secret) return given;
  if (auth !== null && (given === undefined || given === ''))
    throw new RekapError('configuration', 'The API key is missing.', 'Pass `apiKey`.');
  return keyOf(given ?? '', auth);
}

/** Rebuilds a snapshot from the stored responses of a run, without network access. */
export async function replay(settings: ReplaySettings): Promise<SyncResult> {
  const { context, options } = split(settings);
  const requested = {
    reportModule: null,
    run: null,
    strict: false,
    refuse: null,
    acceptChanges: false,
    acceptSource: false,
  };
  return replayRun({ ...requested, ...options }, context);
}

function split<Settings extends GivenContext>(settings: Settings) {
  const {
    clock = systemClock,
    random = Math.random,
    report = () => {},
    signal = new AbortController().signal,
    ...options
  } = settings;
  return { context: { clock, random, report, signal }, options };
}
