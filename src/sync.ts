/** Composes the stages of a sync: extract and land, build, check, publish. */

import { join } from 'node:path';
import { messageOf, RekapError } from './errors.ts';
import type { Project } from './project/declaration.ts';
import type { LoadedProject } from './project/load-project.ts';
import type { Built } from './publish/describe-snapshot.ts';
import type { Run, SyncContext, SyncOptions, SyncResult } from './publish/run.ts';
import { discardSnapshotFolder, latestRunId, newSnapshotId, pruneSnapshots } from './publish/snapshot-folder.ts';
import { publishBuilt, unpinSnapshot } from './publish/switch-current.ts';
import { findUnchanged, type Unchanged } from './publish/unchanged.ts';
import { loadReport } from './publish/write-report.ts';
import { openSource } from './run/open-source.ts';
import { type Begun, checkSource, startsNewHistory, withRun } from './run/with-run.ts';
import { closeAll, orClose } from './runtime/bound-signal.ts';
import { readBaseUrl, warningsOfBaseUrl } from './source/base-url.ts';
import { warehousePaths } from './warehouse/snapshot-format.ts';
import { readCurrentOrFirst, readPinnedId } from './warehouse/warehouse.ts';

/**
 * Copies the data of the source into the warehouse and publishes it as a snapshot.
 *
 * @throws RekapError. The previous snapshot then stays unchanged.
 */
export async function sync(
  project: Project & Partial<Pick<LoadedProject, 'reportModule' | 'files'>>,
  requested: SyncOptions,
  context: SyncContext,
): Promise<SyncResult> {
  const options = requireUsable(project, requested);
  const { reportModule = null, files } = project;
  return withRun({ kind: 'sync', project, reportModule, files, options, context }, planSync, async (run) => {
    const { beginLoad, build, stage } = await import('./run/build.ts');
    // The first requests are sent while the empty tables are created.
    const loading = beginLoad(run);
    // Its error is thrown where it is awaited.
    loading.catch(() => undefined);
    const closeLoad = { close: () => loading.then((load) => load.abandon()) };
    const source = await orClose([closeLoad], () => openSource(run));
    const readings = startEarly(source.readings);
    const [load, staged] = await orClose([source], async () => {
      // Preloads the report module during the requests. If that fails, the error is thrown when the report is drawn.
      loadReport(reportModule).catch(() => undefined);
      const begun = await loading;
      return [begun, await stage(run, begun, readings)] as const;
    });
    const same = await orClose([source, closeLoad], () => findUnchanged(run, load, staged));
    if (same !== null) {
      await closeAll([closeLoad, source]);
      return keepUnchanged(run, same);
    }
    const built = await orClose([source], () => build(run, load, staged));
    await source.close();
    return { ...(await publish(run, built)), broken_checks: built.brokenChecks };
  });
}

function requireUsable(project: Project, requested: SyncOptions): SyncOptions {
  const baseUrl = readBaseUrl(requested.baseUrl, project.pipelines);
  if (requested.pageSize >= 2)
    return { ...requested, baseUrl, source: requested.source === requested.baseUrl ? baseUrl : requested.source };
  throw new RekapError(
    'usage',
    'The page size is 1. Pages of one record cannot prove that a pass is complete.',
    'Use a page size of 2 or more.',
  );
}

async function planSync({ project, options, context, warn }: Begun) {
  const { warehouse, baseUrl, source } = options;
  for (const message of warningsOfBaseUrl(baseUrl, project.pipelines)) warn(message);
  const current = await readCurrentOrFirst(warehouse);
  checkSource(options, current);
  const startsHistory = startsNewHistory(source, current);
  if (startsHistory) warn('The warehouse contains sample figures. If this sync publishes, a new history starts.');
  const startedAt = context.clock.now();
  const id = newSnapshotId(startedAt, context.random(), await latestRunId(warehouse));
  return {
    id,
    landing: join(warehousePaths(warehouse).landing, id),
    startedAt,
    // Also with a pin, a sync is compared with the snapshot that readers see. Snapshots since then may include the one that was rolled back.
    previous: startsHistory ? null : current,
    current: current?.id ?? null,
    pinned: current === null || options.unpin ? null : await readPinnedId(warehouse),
  };
}

/** Publishes the snapshot, unless this is a dry run. */
async function publish(run: Run, built: Built) {
  const { checkBuilt } = await import('./publish/check-built.ts');
  const manifest = await checkBuilt(run, built);
  if (run.options.dryRun) {
    await discardSnapshotFolder(run.folder);
    return { outcome: 'dry run', current: run.current, snapshot: null, pruned: [], manifest } as const;
  }
  const published = await publishBuilt(run, manifest);
  run.enter('remove old snapshots');
  return { ...published, pruned: await removeOld(run, published.current) };
}

async function keepUnchanged(run: Run, { snapshot, manifest, brokenChecks }: Unchanged) {
  const { folder, options, current } = run;
  await discardSnapshotFolder(folder);
  if (options.unpin) await unpinSnapshot(options.warehouse);
  const pruned = await removeOld(run, current);
  const outcome = 'unchanged' as const;
  return { outcome, snapshot: snapshot.id, current, pruned, manifest, broken_checks: brokenChecks };
}

/** Removes old snapshots. If that fails, the new snapshot is still published. */
async function removeOld({ options, warn, previous, pinned }: Run, current: string | null): Promise<string[]> {
  const { warehouse, keep } = options;
  try {
    // Processes that opened `current` a moment ago still read the replaced snapshot.
    return await pruneSnapshots(warehouse, keep, [current, previous?.id ?? null, pinned]);
  } catch (error) {
    warn(`Old snapshots could not be removed: ${messageOf(error)}`);
    return [];
  }
}

/** Requests the first item at once. Iterate over the result once. */
function startEarly<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let first: Promise<IteratorResult<Item>> | null = iterator.next();
  // The consumer gets the error when it starts to read.
  first.catch(() => undefined);
  return {
    [Symbol.asyncIterator]: () => ({
      next() {
        const item = first ?? iterator.next();
        first = null;
        return item;
      },
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    }),
  };
}
