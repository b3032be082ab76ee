/** The snapshot before, as far as the new one goes on from it: which rows are carried over, and where its tables can be read. */

import {
  attachReadOnly,
  columnList,
  type Database,
  quoteIdentifier,
  quoteText,
  readParquetSql,
  tableColumns,
} from '../duckdb/database.ts';
import { verifyHint } from '../duckdb/open-published.ts';
import { RekapError } from '../errors.ts';
import { quarantineTable, snapshotsLogTable } from './tables.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';

/** Where they are read from. */
export type PreviousTables =
  | { readonly kind: 'database'; readonly file: string }
  | {
      readonly kind: 'parquet';
      readonly manifest: Manifest;
      /** By table. The log of snapshots has none. */
      readonly files: ReadonlyMap<string, string>;
      /** DuckDB file of the snapshot before that one, whose log its own went on from; null where the log begins with it. */
      readonly earlier: string | null;
    };

/** @throws `database-held` where another program has come to write to a DuckDB file. */
export async function attachPrevious(
  database: Database,
  previous: PreviousTables,
  pipelines: readonly AnyPipeline[],
): Promise<void> {
  if (previous.kind === 'database') {
    await attachReadOnly(database, previous.file, 'previous');
    return requireTables(database, previous.file);
  }
  await database.run("ATTACH ':memory:' AS previous");
  for (const [table, file] of previous.files)
    await database.run(`CREATE TABLE previous.${quoteIdentifier(table)} AS FROM ${readParquetSql(file)}`);
  const columns = columnList(snapshotsLogTable.columns.map(({ name }) => name));
  const log = `INSERT INTO previous.${snapshotsLogTable.name} (${columns})`;
  await database.run(`CREATE TABLE previous.${snapshotsLogTable.name} AS FROM ${snapshotsLogTable.name} LIMIT 0`);
  if (previous.earlier !== null) {
    await attachReadOnly(database, previous.earlier, 'earlier');
    await database.run(`${log} SELECT ${columns} FROM earlier.${snapshotsLogTable.name}; DETACH earlier`);
  }
  for (const entry of logEntries(previous.manifest, pipelines)) await database.run(`${log} VALUES (${entry})`);
}

/** Refuses a view in the place of a table: it would read whatever it names, and this database may open files. */
async function requireTables(database: Database, file: string): Promise<void> {
  for (const { name } of [quarantineTable, snapshotsLogTable])
    if ((await tableColumns(database, 'previous', name)).length === 0)
      throw new RekapError('warehouse', `${file} has no table ${name}.`, verifyHint);
}

/** What a snapshot says of itself in the log, as SQL; its manifest holds the same. */
function logEntries({ snapshot, created_at, source, datasets }: Manifest, pipelines: readonly AnyPipeline[]): string[] {
  return pipelines.flatMap(({ table, watch: [total] }) => {
    const dataset = datasets[table];
    if (dataset === undefined) return [];
    const violations = Object.values(dataset.violations).reduce((sum, count) => sum + count, 0);
    const published = `${quoteText(created_at.slice(0, 19))}::TIMESTAMP`;
    const figures = [
      dataset.rows,
      total === undefined ? 'NULL' : `${quoteText(dataset.sums[total] ?? '0')}::DECIMAL(38,0)::BIGINT`,
      violations,
    ];
    return [quoteText(snapshot), published, quoteText(source), quoteText(table), ...figures].join(', ');
  });
}

/** What is taken over from the snapshot before instead of being read anew. */
export interface CarryOver {
  /** By table: the partitions that were read anew, all others being carried over; null where the whole dataset was. */
  readonly replaced: ReadonlyMap<string, readonly string[] | null>;
}

/** What to do where nothing can be carried over. */
export function adviseWholeSync({ partitionOption }: Pick<Project, 'partitionOption'>): string {
  return `Run one sync without --${partitionOption} and --dataset.`;
}

/** The error for a table of the previous snapshot that lacks a column. */
export function otherColumns(table: string, project: Pick<Project, 'partitionOption'>): RekapError {
  return new RekapError(
    'usage',
    `The columns of the table ${table} differ from those in the previous snapshot, so nothing can be carried over.`,
    adviseWholeSync(project),
  );
}

/** Whether any of a dataset's rows are carried over. */
export function isCarried(carryOver: CarryOver | null, pipeline: AnyPipeline): carryOver is CarryOver {
  return carryOver !== null && (carryOver.replaced.get(pipeline.table) ?? null) !== null;
}

/**
 * SQL condition on the rows of the snapshot before that are carried over.
 *
 * @param partition The column that holds the partition's value; that of the pipeline, unless said otherwise.
 */
export function carriedCondition(
  carryOver: CarryOver,
  { table, partition: declared }: AnyPipeline,
  partition = declared === undefined ? '' : quoteIdentifier(declared.column),
): string {
  const replaced = carryOver.replaced.get(table) ?? null;
  if (replaced === null) return 'false';
  if (replaced.length === 0) return 'true';
  return `${partition}::VARCHAR NOT IN (${replaced.map(quoteText).join(', ')})`;
}
