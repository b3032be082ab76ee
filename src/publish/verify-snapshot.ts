/** Checks a snapshot from the outside: what the manifest says = what the DuckDB file holds = what the Parquet files hold. */

import { errorCode } from '../errors.ts';
import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { openDatabase, type Database } from '../database.ts';
import { quoteIdentifier, quoteText } from '../sql-text.ts';
import type { AnyPipeline } from '../pipeline.ts';
import {
  changesTableName,
  databaseFile,
  manifestFile,
  parquetPath,
  type Manifest,
  type ManifestDataset,
  type ManifestFile,
} from '../warehouse.ts';
import { describeFile, fingerprint } from './manifest.ts';

/** Gives everything that is wrong with the snapshot in `folder`, as sentences; none where all agrees. */
export async function verifySnapshot(
  folder: string,
  manifest: Manifest,
  pipelines: readonly AnyPipeline[],
): Promise<string[]> {
  const problems = [...(await verifyFiles(folder, manifest)), ...verifyLedgers(manifest, pipelines)];
  // A file that is gone or altered is named above; reading on would only say so again, less clearly.
  if (problems.length > 0) return problems;
  let database: Database;
  try {
    database = await openDatabase(join(folder, databaseFile), { readOnly: true });
  } catch (error) {
    return [`${databaseFile} cannot be opened: ${firstLine(error)}`];
  }
  try {
    for (const pipeline of pipelines) {
      const dataset = manifest.datasets[pipeline.table]!;
      const path = parquetPath(pipeline.table);
      const parquet = `read_parquet(${quoteText(join(folder, path))})`;
      problems.push(
        ...(await compare(database, quoteIdentifier(pipeline.table), `table ${pipeline.table}`, pipeline, dataset)),
        ...(await compare(database, parquet, path, pipeline, dataset)),
        ...(await compareSchema(database, pipeline.table, dataset)),
        ...(await compareDoubts(database, pipeline.table, dataset)),
        ...(await compareChanges(database, pipeline, dataset, manifest.snapshot)),
      );
    }
    // Where a sum or a count differs already, that says it more plainly.
    if (problems.length > 0) return problems;
    for (const file of manifest.files) problems.push(...(await compareContent(database, folder, file)));
  } catch (error) {
    problems.push(`the tables cannot be read: ${firstLine(error)}`);
  } finally {
    database.close();
  }
  return problems;
}

function verifyLedgers(manifest: Manifest, pipelines: readonly AnyPipeline[]): string[] {
  return pipelines.flatMap(({ table }) => {
    const dataset = manifest.datasets[table];
    if (dataset === undefined) return [`${table}: the manifest does not name the dataset`];
    const { ledger, rows, carried_over } = dataset;
    const balances = ledger.fetched === ledger.published + ledger.quarantined + ledger.duplicates;
    return balances && rows === ledger.published + carried_over
      ? []
      : [`${table}: the ledger in the manifest does not balance`];
  });
}

async function verifyFiles(folder: string, manifest: Manifest): Promise<string[]> {
  const problems: string[] = [];
  for (const file of manifest.files) {
    try {
      const found = await describeFile(folder, file.path, file.rows);
      if (found.bytes !== file.bytes)
        problems.push(`${file.path}: ${found.bytes} bytes, the manifest says ${file.bytes}`);
      else if (found.sha256 !== file.sha256) problems.push(`${file.path}: its SHA-256 is not the manifest's`);
    } catch (error) {
      problems.push(
        `${file.path}: ${errorCode(error) === 'ENOENT' ? 'is missing' : `cannot be read (${errorCode(error)})`}`,
      );
    }
  }
  // A write-ahead log beside the database would be replayed into it; a second Parquet file would be read as more rows of its table.
  const listed = new Set([manifestFile, ...manifest.files.map(({ path }) => path)]);
  for (const path of await filesBelow(folder)) {
    if (!listed.has(path)) problems.push(`${path}: the manifest does not name this file`);
  }
  return problems;
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** Compares a table with its Parquet file: columns, their types, and every value of every row. */
async function compareContent(database: Database, folder: string, { path, rows }: ManifestFile): Promise<string[]> {
  if (!path.endsWith('.parquet')) return [];
  const table = basename(path, '.parquet');
  const [inDatabase, inParquet] = [quoteIdentifier(table), `read_parquet(${quoteText(join(folder, path))})`];
  const [columns, parquetColumns] = [await columnsOf(database, inDatabase), await columnsOf(database, inParquet)];
  if (columns !== parquetColumns)
    return [`${path}: its columns are ${parquetColumns}, those of the table ${table} are ${columns}`];
  const [content, parquetContent] = [await contentOf(database, inDatabase), await contentOf(database, inParquet)];
  const counted = content.split(' ')[0]!;
  const problems: string[] = [];
  if (content !== parquetContent) problems.push(`${path}: its rows are not those of the table ${table}`);
  if (rows !== null && counted !== String(rows))
    problems.push(`table ${table}: the number of rows is ${counted}, the manifest says ${rows}`);
  return problems;
}

async function columnsOf(database: Database, relation: string): Promise<string> {
  return (await schemaOf(database, relation)).map((column) => column.join(' ')).join(', ');
}

async function schemaOf(database: Database, relation: string): Promise<[name: string, type: string][]> {
  const columns = await database.rows<{ column_name: string; column_type: string }>(`DESCRIBE FROM ${relation}`);
  return columns.map(({ column_name, column_type }) => [column_name, column_type]);
}

async function compareSchema(database: Database, table: string, dataset: ManifestDataset): Promise<string[]> {
  const columns = await schemaOf(database, quoteIdentifier(table));
  return fingerprint(columns) === dataset.schema_fingerprint
    ? []
    : [`table ${table}: its columns are not those that the manifest was made for`];
}

/** Compares the records that the snapshot's history says it changed. */
async function compareChanges(
  database: Database,
  { table, key }: AnyPipeline,
  { changes }: ManifestDataset,
  snapshot: string,
): Promise<string[]> {
  const names = key.map(quoteIdentifier).join(', ');
  const rows = await database.rows<{ kind: string; records: bigint }>(
    `SELECT kind, count(DISTINCT (${names})) AS records FROM ${quoteIdentifier(changesTableName)}
     WHERE dataset = ${quoteText(table)} AND snapshot_id = ${quoteText(snapshot)} GROUP BY kind`,
  );
  const found = new Map(rows.map(({ kind, records }) => [kind, Number(records)]));
  return Object.entries(changes)
    .filter(([kind, count]) => (found.get(kind) ?? 0) !== count)
    .map(([kind, count]) => `table changes: ${table} has ${found.get(kind) ?? 0} ${kind}, the manifest says ${count}`);
}

/** Number of rows and two sums over the rows' hashes: equal rows in any order give the same. */
async function contentOf(database: Database, relation: string): Promise<string> {
  const [row] = await database.rows<{ content: string }>(
    `SELECT concat_ws(' ', count(*), sum(hash(t)), bit_xor(hash(t))) AS content FROM ${relation} t`,
  );
  return row!.content;
}

/** Compares the counts of violations and of quarantined records. */
async function compareDoubts(database: Database, table: string, dataset: ManifestDataset): Promise<string[]> {
  const problems: string[] = [];
  const condition = `WHERE dataset = ${quoteText(table)}`;
  const violations = await database.rows<{ check_name: string; row_count: bigint }>(
    `SELECT check_name, count(*) AS row_count FROM violations ${condition} GROUP BY ALL ORDER BY ALL`,
  );
  const found = violations.map(({ check_name, row_count }) => `${check_name} ${row_count}`).join(', ');
  const expected = Object.entries(dataset.violations)
    .map(([check, count]) => `${check} ${count}`)
    .toSorted()
    .join(', ');
  if (found !== expected) {
    problems.push(`table violations: ${table} has ${found || 'none'}, the manifest says ${expected || 'none'}`);
  }
  const [quarantine] = await database.rows<{ row_count: bigint }>(
    `SELECT count(*) AS row_count FROM quarantine ${condition}`,
  );
  if (Number(quarantine!.row_count) !== dataset.quarantined) {
    problems.push(
      `table quarantine: ${table} has ${quarantine!.row_count} records, the manifest says ${dataset.quarantined}`,
    );
  }
  return problems;
}

/** Compares rows, sums and NULLs of one relation with the manifest. */
async function compare(
  database: Database,
  relation: string,
  name: string,
  pipeline: AnyPipeline,
  dataset: ManifestDataset,
): Promise<string[]> {
  const counts = Object.entries(pipeline.columns)
    .filter(([, { kind }]) => kind === 'count')
    .map(([column]) => column);
  const figures = counts.flatMap((column) => [
    `coalesce(sum(${quoteIdentifier(column)}), 0)::VARCHAR AS ${quoteIdentifier(`sum ${column}`)}`,
    `count(*) FILTER (${quoteIdentifier(column)} IS NULL)::VARCHAR AS ${quoteIdentifier(`nulls ${column}`)}`,
  ]);
  const [found] = await database.rows<Record<string, string>>(
    `SELECT count(*)::VARCHAR AS row_count, ${figures.join(', ')} FROM ${relation}`,
  );
  const problems: string[] = [];
  const expect = (what: string, actual: string | undefined, expected: string): void => {
    if (actual !== expected) problems.push(`${name}: ${what} is ${actual ?? 'unknown'}, the manifest says ${expected}`);
  };
  expect('the number of rows', found?.['row_count'], String(dataset.rows));
  for (const column of counts) {
    expect(`the sum of ${column}`, found?.[`sum ${column}`], String(dataset.sums[column]));
    expect(`the number of NULLs in ${column}`, found?.[`nulls ${column}`], String(dataset.nulls[column]));
  }
  return problems;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}
