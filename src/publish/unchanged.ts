/** Decides from the accepted records whether a run would build the tables of a snapshot again. */

import { join } from 'node:path';
import type { Load } from '../load/load.ts';
import { type BrokenCheck, type LoadReport, readBrokenChecks, readQuarantine } from '../load/load-report.ts';
import type { Run } from './run.ts';
import { readVersion } from '../runtime/version.ts';
import type { TransformTotals, Verdict } from '../stages.ts';
import { openPublished } from '../warehouse/open-published.ts';
import { databaseFile, type Manifest, type ManifestDataset } from '../warehouse/snapshot-format.ts';
import { listSnapshotIds, readSnapshot, type Snapshot } from '../warehouse/warehouse.ts';
import { isWholeDue, readingAfter, verdictsAfter } from './carry-over.ts';
import { passGate, warnOfQuarantine } from './check-built.ts';
import { definitionFingerprint, type Staged } from './describe-snapshot.ts';
import { emptyLedger } from './manifest.ts';
import { findDamage } from './previous.ts';

/** A snapshot that already has the tables of a run, and what the run found. */
export interface Unchanged {
  readonly snapshot: Snapshot;
  readonly manifest: Manifest;
  readonly brokenChecks: readonly BrokenCheck[];
}

/**
 * Returns the snapshot that has the same records with the same values: the previous one, or the newest one if another is pinned. Without it, an
 * unchanged source would fill the warehouse with copies, and retention would remove older snapshots. A damaged snapshot is replaced.
 *
 * @throws `gate` if the snapshot must not be published with the options of this run.
 */
export async function findUnchanged(run: Run, load: Load, staged: Staged): Promise<Unchanged | null> {
  const { options, previous, signal, warn } = run;
  if (options.dryRun) return null;
  for (const snapshot of staged.kept.size === 0 ? [previous, await readNewest(run)] : [previous]) {
    if (snapshot === null || !hasSameContents(run, snapshot, staged)) continue;
    const windows = [...staged.kept].flatMap(([table, kept]) => ('otherKeys' in kept ? [table] : []));
    if (windows.length > 0 && !(await load.equalsPrevious(windows, join(snapshot.folder, databaseFile)))) continue;
    run.enter('verify');
    const problems = await findDamage(snapshot, signal);
    if (problems.length === 0) return describeUnchanged(run, snapshot, staged);
    warn(`Snapshot ${snapshot.id} is damaged, and a new snapshot replaces it: ${problems.join('; ')}.`);
  }
  return null;
}

async function readNewest({ pinned, options: { warehouse } }: Run): Promise<Snapshot | null> {
  const newest = pinned === null ? undefined : (await listSnapshotIds(warehouse)).at(-1);
  return newest === undefined ? null : readSnapshot(warehouse, newest).catch(() => null);
}

function hasSameContents(run: Run, { manifest }: Snapshot, staged: Staged): boolean {
  const { verdicts, totals, kept } = staged;
  const { project, options } = run;
  return (
    manifest.tool.version === readVersion() &&
    manifest.definition === definitionFingerprint(project) &&
    manifest.source === options.source &&
    project.pipelines.every(({ table, incremental }) => {
      const before = manifest.datasets[table];
      const rows = kept.get(table);
      if (before === undefined) return false;
      // The rows of a window are compared with those of the snapshot.
      if (rows !== undefined && 'otherKeys' in rows) return true;
      // A new proof of the whole list is published when it is due, because windows lean on it.
      if (rows === undefined && incremental !== undefined && isWholeDue(incremental, before, run.startedAt))
        return false;
      if (!hasSameQuarantine(staged, table, before, totals.get(table))) return false;
      return contentsOf(verdictsAfter(run, kept, table, verdicts)) === contentsOf(before.partitions);
    })
  );
}

/** Among records with the same key, the first one that arrives is published. So those in quarantine must be the same, too. */
function hasSameQuarantine(
  { kept }: Staged,
  table: string,
  before: ManifestDataset,
  totals: TransformTotals | undefined,
): boolean {
  if (totals === undefined) return true;
  return !kept.has(table)
    ? totals.quarantine === before.quarantine_content
    : totals.ledger.quarantined === 0 && before.quarantined === 0;
}

/** Returns the fingerprints of all partitions with records. One without a fingerprint equals only itself. */
function contentsOf(verdicts: readonly Verdict[]): string {
  const received = verdicts.filter((verdict) => verdict.received > 0);
  return JSON.stringify(received.map(({ partition, content, read_at }) => [partition, content ?? read_at]));
}

/** Describes what the run found, as if it had built the tables. No violation is new. */
async function describeUnchanged(run: Run, snapshot: Snapshot, staged: Staged): Promise<Unchanged> {
  const { pipelines } = run.project;
  const database = await openPublished(join(snapshot.folder, databaseFile), { signal: run.signal });
  try {
    const reports = new Map<string, Pick<LoadReport, 'quarantine' | 'shrunken'>>();
    for (const pipeline of pipelines)
      reports.set(pipeline.table, { quarantine: await readQuarantine(database, pipeline), shrunken: [] });
    warnOfQuarantine(run, reports);
    const brokenChecks = await readBrokenChecks(database, pipelines, { snapshot: run.id, hasPrevious: true });
    const manifest = describe(run, snapshot.manifest, staged);
    passGate(run, manifest, { reports, brokenChecks });
    return { snapshot, manifest, brokenChecks };
  } finally {
    database.close();
  }
}

function describe(run: Run, manifest: Manifest, { totals, verdicts, kept }: Staged): Manifest {
  const datasets = run.project.pipelines.map(({ table }) => {
    const before = manifest.datasets[table]!;
    const ledger = totals.get(table)?.ledger ?? emptyLedger;
    const partitions = verdictsAfter(run, kept, table, verdicts);
    return [
      table,
      {
        ...before,
        ledger,
        carried_over: before.rows - ledger.published,
        changes: { added: 0, removed: 0, changed: 0 },
        partitions,
        reading: readingAfter(run, kept, table, partitions),
      },
    ] as const;
  });
  const ages = Object.entries(manifest.violation_ages).map(
    ([severity, { new: fresh, standing }]) => [severity, { new: 0, resolved: 0, standing: fresh + standing }] as const,
  );
  return {
    ...manifest,
    datasets: Object.fromEntries(datasets),
    violation_ages: Object.fromEntries(ages),
    warnings: [...run.warnings],
  };
}
