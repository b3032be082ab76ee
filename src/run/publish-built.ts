/** Writes what a snapshot contains beside its tables, and publishes it. */

import { writeManifest } from '../publish/manifest.ts';
import type { Run } from '../publish/run.ts';
import { nameSnapshotFolder, publishSnapshotFolder, unpinSnapshot } from '../publish/switch-current.ts';
import { addReport } from '../publish/write-report.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';

/** Publishes a verified snapshot. If another one is pinned, readers don't see it yet. */
export async function publishBuilt(run: Run, manifest: Manifest) {
  const { id, folder, enter, options, current, pinned } = run;
  enter('write the report');
  const withReport = await addReport(run, manifest);
  enter('write the manifest');
  const finished = { id, folder, files: await writeManifest(folder, withReport) };
  if (pinned !== null) {
    await nameSnapshotFolder(options.warehouse, finished, enter);
    return { outcome: 'held', current, snapshot: id, manifest: withReport } as const;
  }
  if (options.unpin) await unpinSnapshot(options.warehouse);
  await publishSnapshotFolder(options.warehouse, finished, enter);
  return { outcome: 'published', current: id, snapshot: id, manifest: withReport } as const;
}
