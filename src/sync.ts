/** The whole way of a sync on one screen: plan, build, publish. */

import { join } from 'node:path';
import { readBaseUrl, warningsOfBaseUrl } from './base-url.ts';
import { messageOf, RekapError } from './errors.ts';
import { findDamage } from './run/find-previous.ts';
import type { Project } from './pipeline.ts';
import { holdsSameTables, writeManifest } from './publish/manifest.ts';
import {
  discardSnapshotFolder,
  latestRunId,
  newSnapshotId,
  pruneSnapshots,
  publishSnapshotFolder,
} from './publish/snapshot-folder.ts';
import { beginsAnew, checkSource, withRun, type Run, type RunPlan } from './run/run.ts';
import type { SyncOptions, SyncResult, SyncContext } from './run/sync-options.ts';
import { warehousePaths, type Manifest } from './warehouse/snapshot-format.ts';
import { listSnapshotIds } from './warehouse/run-ids.ts';
import { readCurrentId, readCurrentOrFirst, type Snapshot } from './warehouse/warehouse.ts';

/**
 * Brings the source's data into the warehouse, whole and in one step.
 *
 * @throws RekapError of the kind that tells what was wrong; the snapshot before then stays as it was.
 */
export async function sync(project: Project, asked: SyncOptions, around: SyncContext): Promise<SyncResult> {
  const baseUrl = readBaseUrl(asked.baseUrl, project.pipelines);
  if (asked.pageSize < 2)
    throw new RekapError(
      'usage',
      'The page size is 1: pages of one record show nothing of each other.',
      'Give 2 or more.',
    );
  const options = { ...asked, baseUrl, source: asked.source === asked.baseUrl ? baseUrl : asked.source };
  // They load while the lock is taken.
  const stages = Promise.all([import('./run/build-snapshot.ts'), import('./run/ask-source.ts')]);
  // Whoever needs them meets the failure, and where the lock is not to be had, nobody does.
  stages.catch(() => undefined);
  return withRun(project, options, around, {
    kind: 'sync',
    plan: (telling) => planSync(project, options, telling),
    async act(run) {
      const [{ buildSnapshot }, { askSource }] = await stages;
      const { manifest, brokenChecks } = await buildSnapshot(run, askSource);
      const published = await publish(run, manifest);
      return {
        ...published,
        snapshot: run.options.dryRun ? null : published.current,
        manifest,
        broken_checks: brokenChecks,
      };
    },
  });
}

async function planSync(
  project: Project,
  options: SyncOptions,
  { clock, random, report }: SyncContext,
): Promise<RunPlan> {
  const { warehouse, baseUrl } = options;
  for (const message of warningsOfBaseUrl(baseUrl, project.pipelines)) report({ kind: 'warning', message });
  const current = await readCurrentOrFirst(warehouse);
  if (current === null && (await listSnapshotIds(warehouse)).length > 0) {
    const message = 'current is missing, and none of the snapshots in the warehouse is whole: its history begins anew.';
    report({ kind: 'warning', message });
  }
  checkSource(options, current);
  const isAnew = beginsAnew(options.source, current);
  const previous = isAnew ? null : current;
  if (isAnew) {
    const message = 'The warehouse held sample figures; its history begins anew with this source.';
    report({ kind: 'warning', message });
  }
  const startedAt = clock.now();
  const id = newSnapshotId(startedAt, random(), await latestRunId(warehouse));
  const landing = join(warehousePaths(warehouse).landing, id);
  return {
    id,
    landing,
    startedAt,
    previous,
  };
}

/** Publishes, unless this is a dry run or nothing has changed at the source. */
async function publish(run: Run, manifest: Manifest): Promise<Pick<SyncResult, 'outcome' | 'current' | 'pruned'>> {
  const { id, options, previous, folder } = run;
  const { warehouse } = options;
  if (options.dryRun) {
    await discardSnapshotFolder(folder);
    return { outcome: 'dry run', current: await readCurrentId(warehouse), pruned: [] };
  }
  if (previous !== null && holdsSameTables(manifest, previous.manifest) && (await isWhole(run, previous))) {
    await discardSnapshotFolder(folder);
    // The run before may have died before it came to this.
    return { outcome: 'unchanged', current: previous.id, pruned: await removeOld(run, previous.id) };
  }
  run.enter('write the manifest');
  const files = await writeManifest(folder, manifest);
  await publishSnapshotFolder(warehouse, { id, folder, files }, run.enter);
  run.enter('remove old snapshots');
  return { outcome: 'published', current: id, pruned: await removeOld(run, id) };
}

/** Whether the snapshot before is as it was published; a damaged one is replaced though its tables are the same. */
async function isWhole({ project, around }: Run, previous: Snapshot): Promise<boolean> {
  const problems = await findDamage(previous, project.pipelines);
  if (problems.length > 0) {
    around.report({
      kind: 'warning',
      message: `Snapshot ${previous.id} is damaged and replaced by a new one: ${problems.join('; ')}.`,
    });
  }
  return problems.length === 0;
}

/** Retention comes after the switch: should it fail, the snapshot is published all the same. */
async function removeOld({ options, around, previous }: Run, current: string): Promise<string[]> {
  const { warehouse, keep } = options;
  try {
    // Whoever has followed `current` a moment ago still reads the snapshot that was replaced.
    return await pruneSnapshots(warehouse, keep, [current, previous?.id ?? null]);
  } catch (error) {
    around.report({
      kind: 'warning',
      message: `old snapshots could not be removed: ${messageOf(error)}`,
    });
    return [];
  }
}
