/** Decides from the accepted records whether a run would build the tables of a snapshot again. */

import { join } from 'node:path';
import { type BrokenCheck, type LoadReport, readBrokenChecks, readQuarantine } from '../load/load-report.ts';
import type { CarryOver } from '../load/previous-tables.ts';
import type { Run } from './run.ts';
import { readVersion } from '../runtime/version.ts';
import type { Verdict } from '../stages.ts';
import { openPublished } from '../warehouse/open-published.ts';
import { databaseFile, type Manifest, type ManifestDataset } from '../warehouse/snapshot-format.ts';
import { listSnapshotIds, readSnapshot, type Snapshot } from '../warehouse/warehouse.ts';
import { passGate, warnOfQuarantine } from './check-built.ts';
import { definitionFingerprint, type Staged } from './describe-snapshot.ts';
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
export async function findUnchanged(run: Run, staged: Staged, carryOver: CarryOver | null): Promise<Unchanged | null> {
  const { options, previous, signal, warn } = run;
  if (options.dryRun) return null;
  for (const snapshot of [previous, await readNewest(run)]) {
    if (snapshot === null || !hasSameContents(run, snapshot, staged, snapshot === previous ? carryOver : null))
      continue;
    run.enter('verify');
    const problems = await findDamage(snapshot, signal);
    if (problems.length === 0) return describeUnchanged(run, snapshot, staged, carryOver);
    warn(`Snapshot ${snapshot.id} is damaged, and a new snapshot replaces it: ${problems.join('; ')}.`);
  }
  return null;
}

async function readNewest({ pinned, options: { warehouse } }: Run): Promise<Snapshot | null> {
  const newest = pinned === null ? undefined : (await listSnapshotIds(warehouse)).at(-1);
  return newest === undefined ? null : readSnapshot(warehouse, newest).catch(() => null);
}

function hasSameContents(
  { project, options, requested }: Run,
  { manifest }: Snapshot,
  staged: Staged,
  carryOver: CarryOver | null,
): boolean {
  return (
    manifest.tool.version === readVersion() &&
    manifest.definition === definitionFingerprint(project) &&
    manifest.source === options.source &&
    Object.keys(manifest.datasets).length === project.pipelines.length &&
    project.pipelines.every((pipeline) => {
      const { table } = pipeline;
      const before = manifest.datasets[table];
      if (before === undefined) return false;
      if (!requested.includes(pipeline)) return carryOver !== null;
      return hasSameRecords(before, table, staged, carryOver?.replaced.get(table) ?? null);
    })
  );
}

/** @param replaced Partitions that were read; null for all. */
function hasSameRecords(
  before: ManifestDataset,
  table: string,
  { verdicts, totals }: Staged,
  replaced: readonly string[] | null,
): boolean {
  const { quarantine, ledger } = totals.get(table)!;
  // Among records with the same key, the first one that arrives is published. So those in quarantine must be the same, too.
  const hasSameQuarantine =
    replaced === null ? quarantine === before.quarantine_content : ledger.quarantined === 0 && before.quarantined === 0;
  const isRead = ({ partition }: Pick<Verdict, 'partition'>) =>
    replaced === null || (partition !== null && replaced.includes(partition));
  const contents = contentsOf(verdicts.filter(({ dataset }) => dataset === table));
  return hasSameQuarantine && contents !== null && contents === contentsOf(before.partitions.filter(isRead));
}

/** Returns the fingerprints of all partitions with records; null if one is missing. */
function contentsOf(verdicts: readonly Pick<Verdict, 'partition' | 'received' | 'content'>[]): string | null {
  const received = verdicts.filter((verdict) => verdict.received > 0);
  if (received.some(({ content }) => typeof content !== 'string')) return null;
  return JSON.stringify(received.map(({ partition, content }) => [partition, content]));
}

/** Describes what the run found, as if it had built the tables. No violation is new. */
async function describeUnchanged(
  run: Run,
  snapshot: Snapshot,
  staged: Staged,
  carryOver: CarryOver | null,
): Promise<Unchanged> {
  const { pipelines } = run.project;
  const database = await openPublished(join(snapshot.folder, databaseFile), { signal: run.signal });
  try {
    const reports = new Map<string, Pick<LoadReport, 'quarantine' | 'shrunken'>>();
    for (const pipeline of pipelines)
      reports.set(pipeline.table, { quarantine: await readQuarantine(database, pipeline), shrunken: [] });
    warnOfQuarantine(run, reports);
    const brokenChecks = await readBrokenChecks(database, pipelines, { snapshot: run.id, hasPrevious: true });
    const manifest = describe(run, snapshot.manifest, staged, carryOver);
    passGate(run, manifest, { reports, brokenChecks });
    return { snapshot, manifest, brokenChecks };
  } finally {
    database.close();
  }
}

function describe(
  { project, warnings }: Run,
  manifest: Manifest,
  { totals, verdicts }: Staged,
  carryOver: CarryOver | null,
): Manifest {
  const datasets = project.pipelines.map(({ table }) => {
    const before = manifest.datasets[table]!;
    const ledger = totals.get(table)?.ledger ?? { fetched: 0, published: 0, quarantined: 0, duplicates: 0 };
    const read = verdicts.filter(({ dataset }) => dataset === table);
    return [
      table,
      {
        ...before,
        ledger,
        carried_over: carryOver === null ? 0 : before.rows - ledger.published,
        changes: { added: 0, removed: 0, changed: 0 },
        partitions: carryOver === null ? read : before.partitions,
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
