/** A warehouse for programs: reads, compares, verifies, judges and exports its snapshots. */

import { chooseSnapshots, diffSnapshots } from './diff-snapshots.ts';
import { exportSnapshot } from './export-snapshot.ts';
import { readAllRuns } from '../publish/killed-runs.ts';
import { judgeStatus, type Status } from './freshness.ts';
import { type Verification, verifyPublished } from './manage-snapshots.ts';
import type { QueryParameters } from './query/prepare-query.ts';
import { jsonValue, type QueryResult } from './query/query-result.ts';
import { runQuery } from './query/run-query.ts';
import { requireOutside } from './query/write-aside.ts';
import {
  chooseSnapshot,
  requireCurrent,
  requireDatabase,
  requireWarehouse,
  type Snapshot,
} from '../warehouse/warehouse.ts';

/** A value as `rekap query --format json` prints it: decimals, dates and integers beyond 2^53 are strings that keep every digit. */
export type RowValue = string | number | boolean | null | readonly RowValue[] | { readonly [name: string]: RowValue };

/** A row by column name. */
export type Row = Readonly<Record<string, RowValue>>;

/** An opened warehouse. */
export interface Warehouse {
  readonly folder: string;
  /** Returns the current snapshot. @throws `warehouse` if nothing is published. */
  current(): Promise<Snapshot>;
  /**
   * Returns the rows of one read-only SQL statement. For results that don't fit into memory, use `runQuery`.
   *
   * @param options.parameters Values of `$name` in the SQL.
   * @param options.snapshot ID of a snapshot. Default: the current one.
   * @throws `query` if DuckDB refuses the SQL.
   */
  query(
    sql: string,
    options?: { readonly parameters?: QueryParameters; readonly snapshot?: string },
  ): Promise<readonly Row[]>;
  /**
   * Returns what the source changed: a row per changed column and per added or removed record, with the columns of the table `changes`.
   *
   * @param to Default: the current snapshot.
   * @param from Default: the snapshot before `to`.
   */
  diff(options?: { readonly from?: string; readonly to?: string }): Promise<readonly Row[]>;
  /** Verifies a snapshot: hashes, rows, sums, ledger, DuckDB against Parquet, and stored responses. Default: the current one. */
  verify(snapshot?: string): Promise<Verification>;
  /** Judges whether the data is fresh. `maxAge` is in milliseconds. Default: 26 hours. */
  status(options?: { readonly maxAge?: number; readonly now?: Date }): Promise<Status>;
  /** Writes all tables and views to files in a folder outside the warehouse, and returns their paths. */
  export(
    folder: string,
    options?: { readonly format?: 'xlsx' | 'csv' | 'parquet'; readonly snapshot?: string },
  ): Promise<readonly string[]>;
}

const defaultMaxAge = 26 * 3_600_000;

/** Opens a warehouse. Each call reads the files again, so nothing needs to be closed. @throws `warehouse` if the folder isn't one. */
export async function openWarehouse(folder: string): Promise<Warehouse> {
  await requireWarehouse(folder);
  return {
    folder,
    current: () => requireCurrent(folder),
    async query(sql, { parameters, snapshot } = {}) {
      const database = await requireDatabase(await chooseSnapshot(folder, snapshot));
      return runQuery(database, sql, readRows, parameters === undefined ? {} : { parameters });
    },
    async diff({ from, to } = {}) {
      const compared = await chooseSnapshots(folder, from, to);
      return diffSnapshots(compared.after.manifest.project.pipelines, compared, readRows);
    },
    verify: async (snapshot) => verifyPublished(folder, snapshot ?? (await requireCurrent(folder)).id),
    status: async ({ maxAge = defaultMaxAge, now = new Date() } = {}) =>
      judgeStatus((await readAllRuns(folder)).lines, now, maxAge),
    async export(target, { format = 'xlsx', snapshot: id } = {}) {
      const snapshot = await chooseSnapshot(folder, id);
      await requireDatabase(snapshot);
      await requireOutside(target, folder, 'The output folder');
      return exportSnapshot(snapshot, { format, folder: target });
    },
  };
}

async function readRows({ columns, groups }: QueryResult): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const group of groups())
    for (const values of group) {
      const entries = columns.map(({ name }, place) => [name, values[place]] as const);
      rows.push(JSON.parse(JSON.stringify(Object.fromEntries(entries), jsonValue)) as Row);
    }
  return rows;
}
