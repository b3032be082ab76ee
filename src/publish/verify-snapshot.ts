/** Checks a snapshot from the outside: what the manifest says = what the DuckDB file holds = what the Parquet files hold. */

import { join } from 'node:path';
import { type Database, openDatabase, tableColumns } from '../duckdb/database.ts';
import { isRekapError, messageOf } from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { compareContent, compareDoubts, compareFigures } from './compare-figures.ts';
import { ledgerComplaints } from './gate.ts';
import { checkFiles, checkManifestFile, checkSizes, unnamedFiles } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest } from '../warehouse/snapshot-format.ts';

/**
 * Gives everything that is wrong with the published snapshot in `folder`, as sentences; none where all agrees.
 *
 * @throws `database-held` where every byte is as it was, but another program keeps the tables from being read.
 */
export async function verifySnapshot(
  folder: string,
  manifest: Manifest,
  pipelines: readonly AnyPipeline[],
): Promise<string[]> {
  const damage = await checkFiles(folder, manifest);
  return [...(await checkManifestFile(folder)), ...(await verifyContent(folder, manifest, pipelines, damage))];
}

/**
 * The same for a snapshot whose manifest is not written yet, but for the hashes: its files were hashed a moment ago, to be named in it, and
 * are not hashed again.
 */
export async function verifyBuilt(
  folder: string,
  manifest: Manifest,
  pipelines: readonly AnyPipeline[],
): Promise<string[]> {
  const damage = [...(await checkSizes(folder, manifest)), ...(await unnamedFiles(folder, manifest))];
  return verifyContent(folder, manifest, pipelines, damage);
}

/** A dataset that is neither in the manifest nor there as a table was never read. */
async function verifyContent(
  folder: string,
  manifest: Manifest,
  pipelines: readonly AnyPipeline[],
  damage: readonly string[],
): Promise<string[]> {
  const named = pipelines.filter(({ table }) => manifest.datasets[table] !== undefined);
  const problems = [...damage, ...verifyLedgers(manifest, named)];
  // A file that is gone or altered is named above; reading on would only say so again, less clearly.
  if (problems.length > 0) return problems;
  let database: Database;
  try {
    database = await openDatabase(join(folder, databaseFile), { readOnly: true });
  } catch (error) {
    // That somebody writes to it is no damage, at least none yet.
    if (isRekapError(error, 'database-held')) throw error;
    return [`${databaseFile} cannot be opened: ${firstLine(error)}`];
  }
  try {
    for (const { table } of pipelines.filter((pipeline) => !named.includes(pipeline))) {
      if ((await tableColumns(database, null, table)).length > 0)
        problems.push(`${table}: ${databaseFile} holds the table, but the manifest does not name the dataset`);
    }
    const rowByRow = (beside: Database): Promise<string[]> => compareContent(beside, folder, manifest);
    const comparisons = [
      ...named.map((pipeline) => (beside: Database) => compareFigures(beside, folder, manifest, pipeline)),
      (beside: Database) => compareDoubts(beside, manifest, named),
      rowByRow,
    ];
    // At the same time, for each takes longer to plan than to carry out; what they say is read as if one had followed the other.
    const ended = await Promise.allSettled(comparisons.map(async (compare) => compare(await database.beside())));
    for (const [index, end] of ended.entries()) {
      // Where a figure differs already, that says it more plainly than the rows do.
      if (problems.length > 0 && comparisons[index] === rowByRow) break;
      if (end.status === 'rejected') throw end.reason;
      problems.push(...end.value);
    }
  } catch (error) {
    problems.push(`the tables cannot be read: ${firstLine(error)}`);
  } finally {
    database.close();
  }
  return problems;
}

function verifyLedgers(manifest: Manifest, pipelines: readonly AnyPipeline[]): string[] {
  return pipelines.flatMap(({ table }) => [...ledgerComplaints(table, manifest.datasets[table]!)]);
}

function firstLine(error: unknown): string {
  return messageOf(error).split('\n')[0]!;
}
