/** The public API: run a sync or a replay, read its warehouse, or serve it from your own program. */

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
export { loadProject } from './project/load-project.ts';
export type { LoadedProject } from './project/load-project.ts';
export type { Ledger, Severity, Verdict } from './stages.ts';
export type { Clock, Random, Report, RunEvent } from './runtime/context.ts';
export { Secret } from './source/secret.ts';
export { replay, sync } from './api.ts';
export type { GivenProject, ReplaySettings, SyncSettings } from './api.ts';
export { openWarehouse, type Row, type RowValue, type Warehouse } from './open-warehouse.ts';
export type { Verification } from './snapshots/manage-snapshots.ts';
export type { Status } from './snapshots/freshness.ts';
export type { ReplayOptions, SyncFigures, SyncOptions, SyncResult, SyncContext } from './run-options.ts';
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
