/** Decides from the accepted records whether a run would build the tables of the previous snapshot again. */

import { join } from 'node:path';
import { type BrokenCheck, readBrokenChecks } from '../load/load-report.ts';
import type { CarryOver } from '../load/previous-tables.ts';
import type { Run } from '../run-options.ts';
import { readVersion } from '../runtime/version.ts';
import type { Verdict } from '../stages.ts';
import { openPublished } from '../warehouse/open-published.ts';
import { databaseFile, type Manifest, type ManifestDataset } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';
import { definitionFingerprint, type Staged } from './describe-snapshot.ts';

/**
 * Returns the previous snapshot if every partition has the same records with the same values as then. False negatives are harmless: then the
 * tables are built and compared. So only plain cases count, without quarantined records, and without options that refuse a snapshot.
 */
export function findUnchanged(run: Run, staged: Staged, carryOver: CarryOver | null): Snapshot | null {
  const { previous, pinned, options, project, requested } = run;
  if (previous === null || pinned !== null || carryOver !== null) return null;
  if (options.dryRun || options.strict || options.refuse !== null || options.requireProof !== null) return null;
  const { manifest } = previous;
  const isSame =
    manifest.tool.version === readVersion() &&
    manifest.definition === definitionFingerprint(project) &&
    manifest.source === options.source &&
    Object.keys(manifest.datasets).length === requested.length &&
    requested.every(({ table }) => {
      const before = manifest.datasets[table];
      return before !== undefined && hasSameRecords(before, table, staged);
    });
  return isSame ? previous : null;
}

function hasSameRecords(before: ManifestDataset, table: string, { verdicts, totals }: Staged): boolean {
  const { ledger } = totals.get(table)!;
  // With duplicates, the order of arrival decides which record counts.
  if (ledger.quarantined > 0 || ledger.duplicates > 0 || before.quarantined > 0 || before.carried_over > 0)
    return false;
  const contents = contentsOf(verdicts.filter(({ dataset }) => dataset === table));
  return ledger.published === before.rows && contents !== null && contents === contentsOf(before.partitions);
}

/** Returns the fingerprints of all partitions with records; null if one is missing. */
function contentsOf(verdicts: readonly Pick<Verdict, 'partition' | 'received' | 'content'>[]): string | null {
  const received = verdicts.filter((verdict) => verdict.received > 0);
  if (received.some(({ content }) => typeof content !== 'string')) return null;
  return JSON.stringify(received.map(({ partition, content }) => [partition, content]));
}

/** Describes what the run found, as if it had built the tables. */
export function describeUnchanged({ project, warnings }: Run, { manifest }: Snapshot, staged: Staged): Manifest {
  const datasets = project.pipelines.map((pipeline) => {
    const { table } = pipeline;
    const before = manifest.datasets[table]!;
    return [
      table,
      {
        ...before,
        ledger: staged.totals.get(table)!.ledger,
        changes: { added: 0, removed: 0, changed: 0 },
        partitions: staged.verdicts.filter(({ dataset }) => dataset === table),
      },
    ] as const;
  });
  const ages = Object.entries(manifest.violation_ages ?? {}).map(
    ([severity, { new: fresh, standing }]) => [severity, { new: 0, resolved: 0, standing: fresh + standing }] as const,
  );
  return {
    ...manifest,
    datasets: Object.fromEntries(datasets),
    violation_ages: Object.fromEntries(ages),
    warnings: [...warnings],
  };
}

/** Returns the failed checks of an unchanged snapshot, none of which is new. */
export async function readStandingChecks(run: Run, { folder }: Snapshot): Promise<BrokenCheck[]> {
  const database = await openPublished(join(folder, databaseFile), { signal: run.signal });
  try {
    return await readBrokenChecks(database, run.project.pipelines, { snapshot: run.id, hasPrevious: true });
  } finally {
    database.close();
  }
}
