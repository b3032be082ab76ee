/** Checks a snapshot from the outside: what the manifest says = what the DuckDB file holds = what the Parquet files hold. */

import { join } from 'node:path';
import { checkFiles, checkManifestFile } from '../check-files.ts';
import { openDatabase, tableColumns, type Database } from '../database.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { databaseFile, type Manifest } from '../snapshot-format.ts';
import { compareContent } from './compare-content.ts';
import { compareDoubts, compareFigures } from './compare-figures.ts';

/** Gives everything that is wrong with the published snapshot in `folder`, as sentences; none where all agrees. */
export async function verifySnapshot(
  folder: string,
  manifest: Manifest,
  pipelines: readonly AnyPipeline[],
): Promise<string[]> {
  return [...(await checkManifestFile(folder)), ...(await verifyBuilt(folder, manifest, pipelines))];
}

/** The same for a snapshot whose manifest is not written yet. A dataset that it has neither in the manifest nor as a table was never read. */
export async function verifyBuilt(
  folder: string,
  manifest: Manifest,
  pipelines: readonly AnyPipeline[],
): Promise<string[]> {
  const named = pipelines.filter(({ table }) => manifest.datasets[table] !== undefined);
  const problems = [...(await checkFiles(folder, manifest)), ...verifyLedgers(manifest, named)];
  // A file that is gone or altered is named above; reading on would only say so again, less clearly.
  if (problems.length > 0) return problems;
  let database: Database;
  try {
    database = await openDatabase(join(folder, databaseFile), { readOnly: true });
  } catch (error) {
    return [`${databaseFile} cannot be opened: ${firstLine(error)}`];
  }
  try {
    for (const { table } of pipelines.filter((pipeline) => !named.includes(pipeline))) {
      if ((await tableColumns(database, null, table)).length > 0)
        problems.push(`${table}: ${databaseFile} holds the table, but the manifest does not name the dataset`);
    }
    problems.push(...(await compareFigures(database, folder, manifest, named)));
    problems.push(...(await compareDoubts(database, manifest, named)));
    // Where a figure differs already, that says it more plainly.
    if (problems.length === 0) problems.push(...(await compareContent(database, folder, manifest)));
  } catch (error) {
    problems.push(`the tables cannot be read: ${firstLine(error)}`);
  } finally {
    database.close();
  }
  return problems;
}

function verifyLedgers(manifest: Manifest, pipelines: readonly AnyPipeline[]): string[] {
  return pipelines.flatMap(({ table }) => {
    const { ledger, rows, carried_over } = manifest.datasets[table]!;
    const balances = ledger.fetched === ledger.published + ledger.quarantined + ledger.duplicates;
    return balances && rows === ledger.published + carried_over
      ? []
      : [`${table}: the ledger in the manifest does not balance`];
  });
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}
