/** Loads records into a temporary folder as a sync does, and queries the resulting DuckDB file. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { loadProject, voters, votingRightsUsers } from '../support/bundled.ts';
import { openDatabase } from '../../src/runtime/database.ts';
import { Load } from '../../src/load/load.ts';
import { allTables } from '../../src/load/tables.ts';
import { allModels } from '../../src/load/schema.ts';
import type { CarryOver } from '../../src/load/previous-tables.ts';
import type { Project } from '../../src/project/declaration.ts';
import type { TransformTotals } from '../../src/stages.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

export type Row = Record<string, unknown>;
type Columns = Partial<Record<keyof typeof voters.columns, string>>;

const bundled = loadProject();
const implausible = new Set([
  'turnout_exactly_100',
  'turnout_above_100',
  'identical_sexes',
  'repeated_total',
  'district_in_other_province',
]);

/** The project without the checks for implausible values: most records of these tests are copies of one. */
export const wholeProject: Project = {
  ...bundled,
  checks: bundled.checks.filter(({ name }) => !implausible.has(name)),
};

/** The same with only the view that a check reads, which loads in half the time. */
const { workbook: _workbook, ...plain } = wholeProject;
export const project: Project = {
  ...plain,
  models: bundled.models.filter(({ name }) => name === 'regency_figures'),
};

/** Returns the tables and views that have a Parquet file. */
export const exportedTables = (of: Project): string[] =>
  [...allTables(of.pipelines), ...allModels(of)].map(({ name }) => name).filter((name) => name !== 'snapshots_log');

/** Those of the bundled project. */
export const exported = exportedTables(bundled);

/** When every snapshot of these tests is published. */
export const published = new Date('2026-11-20T03:00:02Z');

/** A voters' record; `columns` replaces values by the names of their columns. */
export function voter(columns: Columns = {}): Row {
  return voterRecord(nameFields(columns, voters));
}

/** A record of the users' dataset with the place and the figures of `voter()`. */
export function user(columns: Columns = {}): Row {
  const record = voterRecord();
  const figures = Object.entries(voters.columns).map(([name, { field }]) => [name, record[field]]);
  return nameFields({ ...(Object.fromEntries(figures) as Columns), ...columns }, votingRightsUsers);
}

function nameFields(columns: Columns, pipeline: typeof voters): Row {
  return Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [pipeline.columns[name as keyof Columns].field, value]),
  );
}

/** A folder that is removed when the test is over. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Calls `fill` once for all tests of a file. Its folder is removed after the last one. */
export function loadOnce<Loaded>(fill: (folder: string) => Promise<Loaded>): () => Promise<Loaded> {
  let folder = '';
  let loaded: Promise<Loaded> | null = null;
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () =>
    (loaded ??= mkdtemp(join(tmpdir(), 'rekap-test-')).then((made) => {
      folder = made;
      return fill(folder);
    }));
}

export interface LoadSettings {
  readonly project?: Project;
  readonly folder?: string;
  readonly carryOver?: CarryOver;
  readonly previous?: string;
  readonly snapshot?: string;
}

/** @param partitions By table, the data of one response per partition; a string is raw JSON. */
export async function load(partitions: Readonly<Record<string, readonly unknown[]>>, settings: LoadSettings = {}) {
  const folder = settings.folder ?? (await makeFolder());
  await mkdir(folder, { recursive: true });
  const moved = settings.project ?? project;
  const { signal } = new AbortController();
  const previous = settings.previous ?? null;
  const loading = await Load.begin({ folder, databaseFile: 'rekap.duckdb', project: moved, previous, signal });
  const totals = new Map<string, TransformTotals>();
  try {
    for (const pipeline of moved.pipelines.filter(({ table }) => table in partitions)) {
      const transformer = new Transformer(pipeline);
      for (const data of partitions[pipeline.table]!) {
        transformer.beginPartition();
        for (const batch of transformer.addPage(pageOf(pipeline, data, { partition: partitionOf(data) })))
          loading.append(pipeline, batch);
      }
      loading.append(pipeline, transformer.finish());
      totals.set(pipeline.table, transformer.totals());
    }
    const log = { snapshot: settings.snapshot ?? '20261120T030002Z-000001', publishedAt: published, source: 'sample' };
    const loaded = await loading.finish(settings.carryOver ?? new Map(), log, previous);
    const file = join(folder, 'rekap.duckdb');
    return {
      folder,
      file,
      totals,
      ...loaded,
      rows: (sql: string) => ask(file, sql),
      change: (sql: string) => change(file, sql),
    };
  } catch (error) {
    loading.abandon();
    throw error;
  }
}

async function change(file: string, sql: string): Promise<void> {
  const database = await openDatabase(file, {});
  try {
    await database.run(sql);
  } finally {
    database.close();
  }
}

/** The partition that a list of records was requested for: that of the first record. */
function partitionOf(data: unknown): string | null {
  const first: unknown = Array.isArray(data) ? data[0] : null;
  return typeof first === 'object' && first !== null && 'IdDapil' in first ? String(first.IdDapil) : null;
}

/** Queries a DuckDB file; ':memory:' for Parquet files alone. */
export async function ask(file: string, sql: string): Promise<Row[]> {
  const database = await openDatabase(file, file === ':memory:' ? {} : { readOnly: true });
  try {
    return await database.rows<Row>(sql);
  } finally {
    database.close();
  }
}
