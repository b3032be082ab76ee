/** Checks a snapshot from the outside: what the manifest says = what the DuckDB file holds = what the Parquet files hold. */

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase, type Database } from '../database.ts';
import { quoteIdentifier, quoteText } from '../sql-text.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { databaseFile, errorCode, parquetPath, type Manifest, type ManifestDataset } from '../warehouse.ts';
import { describeFile } from './manifest.ts';

/** Gives everything that is wrong with the snapshot in `folder`, as sentences; none where all agrees. */
export async function verifySnapshot(
  folder: string,
  manifest: Manifest,
  pipelines: readonly AnyPipeline[],
): Promise<string[]> {
  const problems = await verifyFiles(folder, manifest);
  for (const [table, { ledger, rows, carried_over }] of Object.entries(manifest.datasets)) {
    if (
      ledger.fetched !== ledger.published + ledger.quarantined + ledger.duplicates ||
      rows !== ledger.published + carried_over
    ) {
      problems.push(`${table}: the ledger in the manifest does not balance`);
    }
  }
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
      const dataset = manifest.datasets[pipeline.table];
      if (dataset === undefined) continue;
      problems.push(
        ...(await compare(database, quoteIdentifier(pipeline.table), `table ${pipeline.table}`, pipeline, dataset)),
      );
      const path = parquetPath(pipeline.table);
      problems.push(
        ...(await compare(database, `read_parquet(${quoteText(join(folder, path))})`, path, pipeline, dataset)),
      );
    }
  } catch (error) {
    problems.push(`the tables cannot be read: ${firstLine(error)}`);
  } finally {
    database.close();
  }
  return problems;
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
  // A write-ahead log beside the database would be replayed into it by the next reader.
  const wal = `${databaseFile}.wal`;
  if (await exists(join(folder, wal))) problems.push(`${wal} does not belong to the snapshot`);
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

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}
