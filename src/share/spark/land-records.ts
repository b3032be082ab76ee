/** Copies the accepted records of a run to a table of a catalog, from which an engine can transform them. */

import type { DuckDBAppender } from '@duckdb/node-api';
import { RekapError } from '../../errors.ts';
import { readRaw } from '../../kinds/read-field.ts';
import type { RunFile } from '../../land/formats.ts';
import { readRunFile } from '../../land/landed-run.ts';
import type { AnyPipeline, Project } from '../../project/declaration.ts';
import { openAccepted } from '../../run/landed-readings.ts';
import { findLanding, keptScopes, requireOwnFile } from '../../run/replay-plan.ts';
import { type Database, quoteText } from '../../runtime/database.ts';
import { type AcceptedReading, FieldKind, type Page } from '../../stages.ts';
import { readRuns } from '../../warehouse/runs-log.ts';
import { listSnapshotIds } from '../../warehouse/warehouse.ts';
import { Catalog } from '../lake/catalog.ts';
import type { TableChange } from '../lake/iceberg.ts';
import { readLastPublication } from '../lake/inspect-lake.ts';
import { type LakePlace, lakeTableSql } from '../lake/lake-database.ts';
import { createTables } from '../lake/lake-tables.ts';
import { commitLake, withLake } from '../lake/open-lake.ts';
import type { Publication } from '../lake/publications.ts';
import { targetOf } from '../lake/publish-lake.ts';
import { type LakeTable, newTable } from '../lake/table-schema.ts';
import { requireSource } from '../refusals.ts';
import { describeStaged } from './staged-tables.ts';

/** Namespace of the landed records of all projects. */
const rawNamespace = 'raw';
const branchName = 'landed';

const recordsTable: LakeTable = {
  name: 'records',
  meaning: 'Records that rekap accepted as complete, by run.',
  file: '',
  columns: [
    { name: 'run_id', type: 'VARCHAR', meaning: 'ID of the run.' },
    { name: 'dataset', type: 'VARCHAR', meaning: 'The dataset.' },
    {
      name: 'position',
      type: 'BIGINT',
      meaning: 'Position in the dataset, from 0, which decides which copy is a duplicate.',
    },
    { name: 'partition_value', type: 'VARCHAR', meaning: 'Value of the filter parameter; NULL for the full listing.' },
    { name: 'request', type: 'VARCHAR', meaning: 'The request, below the base URL.' },
    { name: 'response', type: 'INTEGER', meaning: 'Number of the response in the landing of the run, from 0.' },
    { name: 'record', type: 'VARCHAR', meaning: 'The record as received.' },
    { name: 'fields', type: 'VARCHAR', meaning: 'The declared fields, as JSON. NULL if the record is not an object.' },
  ],
  key: [],
};

export interface LandedRecords {
  readonly run: string;
  readonly catalog: string;
  /** False if the catalog doesn't keep branches of tables, to which Spark writes. */
  readonly keepsBranches: boolean;
  /** Records by dataset. */
  readonly records: Readonly<Record<string, number>>;
}

type LandingPlace = LakePlace & { readonly acceptSource: boolean };

/**
 * Lands a run, and replaces its records if they exist.
 *
 * @param requested The run; null for the newest finished one.
 * @throws `landing` if the responses are damaged or the run didn't read everything; `lake` and its kin as `publishToLake`.
 */
export async function landRecords(
  requested: { readonly warehouse: string; readonly run: string | null },
  place: LandingPlace,
): Promise<LandedRecords> {
  const { landing } = await findLanding(requested);
  const file = await readRunFile(landing);
  requireOwnFile(landing, file);
  await requireWhole(landing, file);
  await requireAccepted(requested.warehouse, file.run);
  // Before tables or columns are created for a run that can't be released.
  const last = await readLastPublication(place);
  requireReleases(place, file.source, last);
  const staged = await describeStaged(file.project);
  const { name } = recordsTable;
  const raw = { ...place, catalog: { ...place.catalog, namespace: rawNamespace } };
  const prepare = async (catalog: Catalog): Promise<void> => {
    await createTables(await Catalog.connect(place.catalog), staged);
    await catalog.createNamespace();
    // Spark reads a whole row group into memory.
    const properties = { 'write.parquet.row-group-size': '8192' };
    if ((await catalog.loadTable(name)) === null) await catalog.createTable(newTable(recordsTable, properties));
  };
  return withLake(raw, { prepare, tables: [name], files: [], complete: withBranch }, async (lake) => {
    const { database, catalog } = lake;
    const accepted = await openAccepted(landing, file.project);
    try {
      const records = await stageRecords(database, file.run, file.project, accepted.readings);
      const target = lakeTableSql(rawNamespace, name);
      await database.run('BEGIN');
      await database.run(`DELETE FROM ${target} WHERE run_id = ${quoteText(file.run)}`);
      await database.run(`INSERT INTO ${target} FROM landed`);
      await commitLake(lake);
      const keepsBranches = (await catalog.loadTable(name))?.refs?.[branchName] !== undefined;
      return { run: file.run, catalog: place.catalog.url, keepsBranches, records };
    } finally {
      await accepted.close();
    }
  });
}

/** Refuses a run that the gate refused, unless a replay published it since. */
async function requireAccepted(warehouse: string, run: string): Promise<void> {
  const line = (await readRuns(warehouse)).findLast((one) => one.kind === 'sync' && one.run === run);
  const isRefused = line?.outcome === 'refused' || line?.outcome === 'dry run';
  if (!isRefused || (await listSnapshotIds(warehouse)).includes(run)) return;
  const what = `Run ${run} was ${line.outcome === 'refused' ? `refused: ${line.reason}` : 'only a dry run.'}`;
  throw new RekapError('landing', what, 'Land a run that was published.');
}

/**
 * Refuses a namespace of another source, and one of published snapshots, because a release would leave the tables that Spark doesn't build as they
 * are.
 */
export function requireReleases(place: LandingPlace, source: string, last: Publication | null): void {
  if (last === null) return;
  const target = targetOf(place);
  requireSource(target, source, last.source);
  if (last.manifest_sha256 === '') return;
  const what = `${target.place} contains the published snapshot ${last.snapshot_id}. A release would replace only some of its tables.`;
  const next = 'Choose another --namespace for lake land, lake script and lake release.';
  throw new RekapError('lake-conflict', what, next);
}

/** Moves a branch to the new records. It shows whether the catalog keeps branches: Nessie accepts them without keeping them. */
function withBranch(changes: readonly TableChange[]): TableChange[] {
  return changes.map((change) => {
    const moves = change.updates.flatMap((update) =>
      update.action === 'set-snapshot-ref' ? [{ ...update, 'ref-name': branchName }] : [],
    );
    return { ...change, updates: [...change.updates, ...moves] };
  });
}

async function requireWhole(landing: string, file: RunFile): Promise<void> {
  const { run, partitions, datasets, project } = file;
  const isWhole = partitions === null && datasets.length === project.pipelines.length;
  if (isWhole && (await keptScopes(landing, file)).size === 0) return;
  const what = `Run ${run} read only some datasets, partitions or changes, and carried the other rows over.`;
  throw new RekapError('landing', what, 'Land a run that read everything.');
}

/** Fills the temporary table `landed`, and returns the number of records by dataset. */
async function stageRecords(
  database: Database,
  run: string,
  project: Project,
  readings: AsyncIterable<AcceptedReading>,
): Promise<Record<string, number>> {
  const columns = recordsTable.columns.map(({ name, type }) => `${name} ${type}`);
  await database.run(`CREATE TEMP TABLE landed (${columns.join(', ')})`);
  const appender = await database.connection.createAppender('landed', 'main', 'temp');
  const counts = Object.fromEntries(project.pipelines.map(({ table }) => [table, 0]));
  for await (const { verdict, pages } of readings) {
    if (!verdict.complete)
      throw new RekapError('landing', `Run ${run} is incomplete: ${verdict.reason}`, 'Land a run that was published.');
    const pipeline = project.pipelines.find(({ table }) => table === verdict.dataset);
    // A list of partitions is not a dataset.
    if (pipeline === undefined) continue;
    for (const accepted of pages) {
      const page = await accepted.read();
      for (let row = 0; row < page.records.length; row += 1) {
        const position = counts[pipeline.table]!++;
        const { partition, target } = page.request;
        const place = [run, pipeline.table, BigInt(position), partition, target, accepted.response];
        const record = page.bytes.toString('utf8', page.records.recordStart[row], page.records.recordEnd[row]);
        appendRow(appender, [...place, record, fieldsOf(pipeline, page, row)]);
      }
      appender.flushSync();
    }
  }
  appender.closeSync();
  return counts;
}

function appendRow(appender: DuckDBAppender, values: readonly (string | bigint | number | null)[]): void {
  for (const value of values)
    if (value === null) appender.appendNull();
    else if (typeof value === 'bigint') appender.appendBigInt(value);
    else if (typeof value === 'number') appender.appendInteger(value);
    else appender.appendVarchar(value);
  appender.endRow();
}

/** The first character of a value in `fieldsOf`, which says how the source wrote it; `t` for a string. A missing field isn't there. */
const letters: Readonly<Record<number, string>> = {
  [FieldKind.null]: 'z',
  [FieldKind.number]: 'n',
  [FieldKind.other]: 'j',
};

/**
 * Returns the declared fields of a record by column, as JSON: the content of a string, or the text of any other value, after a character that
 * says which. Null if the record isn't an object. Escapes are resolved, so two records with the same content have the same text.
 */
function fieldsOf(pipeline: AnyPipeline, page: Page, row: number): string | null {
  const { records } = page;
  if (records.isObject[row] !== 1) return null;
  const fields: Record<string, string> = {};
  for (const [index, column] of Object.keys(pipeline.columns).entries()) {
    const kind = records.fieldKind[row * records.width + index]!;
    if (kind !== FieldKind.missing) fields[column] = (letters[kind] ?? 't') + (readRaw(page, row, index) ?? '');
  }
  return JSON.stringify(fields);
}
