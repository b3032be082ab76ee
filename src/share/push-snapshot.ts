/** Uploads a snapshot to a bucket: its files first, then `current.json`, so that readers never see an incomplete snapshot. */

import { join } from 'node:path';
import type { Bucket } from './bucket.ts';
import { transferAll } from './transfer-all.ts';
import {
  type CurrentObject,
  isSameSnapshot,
  readCurrentObject,
  snapshotPrefix,
  switchCurrentObject,
} from './current-object.ts';
import { messageOf, RekapError } from '../errors.ts';
import { computeSha256 } from '../publish/manifest.ts';
import { recordTransfer } from '../publish/record-run.ts';
import type { Clock } from '../runtime/context.ts';
import { describeFile } from '../warehouse/check-files.ts';
import { explainFileError } from '../warehouse/file-errors.ts';
import { isSnapshotId, manifestFile, manifestHashFile } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';
import { knownIn, readIntactManifest, requireSuccessor } from './refusals.ts';

export interface PushOptions {
  readonly warehouse: string;
  readonly snapshot: Snapshot;
  readonly bucket: Bucket;
  readonly keep: number;
  readonly acceptSource: boolean;
  readonly warn: (message: string) => void;
  readonly report: (done: number, files: number) => void;
  readonly clock: Pick<Clock, 'now'>;
}

export interface Pushed {
  readonly outcome: 'pushed' | 'unchanged';
  readonly snapshot: string;
  readonly bucket: string;
  readonly files: number;
  readonly bytes: number;
  readonly removed: readonly string[];
}

/**
 * Pushes a snapshot, and records the outcome in runs.jsonl. A failure leaves the bucket's current snapshot unchanged.
 * @throws `bucket` if the bucket fails, `bucket-conflict` if it contains another warehouse's snapshot, `source-mismatch` if the sources
 *   differ, `verification` if the snapshot is damaged.
 */
export async function pushSnapshot(options: PushOptions): Promise<Pushed> {
  const { warehouse, clock, snapshot, bucket } = options;
  return recordTransfer(
    { kind: 'push', warehouse, clock, bucket: bucket.url, isQuiet: false },
    async () => {
      try {
        return await push(options);
      } catch (error) {
        throw explainFileError(error, warehouse);
      }
    },
    () => snapshot.manifest,
  );
}

async function push(options: PushOptions): Promise<Pushed> {
  const { warehouse, snapshot, bucket, acceptSource } = options;
  const { id, manifest } = snapshot;
  const text = await readIntactManifest(snapshot, 'pushed');
  const next: CurrentObject = {
    format: 1,
    snapshot: id,
    manifest_sha256: computeSha256(text),
    source: manifest.source,
    created_at: manifest.created_at,
  };
  const before = await readCurrentObject(bucket);
  const isCurrent = before !== null && isSameSnapshot(before, next);
  if (before !== null && !isCurrent) {
    const target = { place: bucket.url, alternative: 'another prefix', acceptSource };
    const advice = 'Find out who else pushes to this bucket';
    await requireSuccessor(target, { next, before }, { code: 'bucket-conflict', advice, ...knownIn(warehouse) });
  }
  const written = await writeFiles(options, text);
  if (!isCurrent) await switchCurrentObject(bucket, next, before);
  const outcome = isCurrent && written.files === 0 ? 'unchanged' : 'pushed';
  const removed = await removeOld(options, isCurrent ? null : (before?.snapshot ?? null));
  return { outcome, snapshot: id, bucket: bucket.url, ...written, removed };
}

/** Uploads missing files. The manifest comes last, to show that all files exist. */
async function writeFiles(options: PushOptions, manifest: string): Promise<Pick<Pushed, 'files' | 'bytes'>> {
  const { bucket, snapshot, report } = options;
  const below = snapshotPrefix(snapshot.id);
  const sizes = await bucket.sizes(below);
  const uploaded = sizes.has(manifestFile) ? await bucket.read(below + manifestFile) : null;
  if (uploaded !== null && uploaded.text !== manifest) {
    const what = `${bucket.url} already contains a snapshot ${snapshot.id} with different files, from another warehouse.`;
    const next = 'The bucket is unchanged. Push the next snapshot, or choose another prefix.';
    throw new RekapError('bucket-conflict', what, next);
  }
  const hash = await describeFile(snapshot.folder, manifestHashFile, null);
  const missing = [...snapshot.manifest.files, hash].filter(({ path, bytes }) => sizes.get(path) !== bytes);
  await transferAll(missing, ({ path }) => bucket.upload(below + path, join(snapshot.folder, path)), report);
  const written = { files: missing.length, bytes: missing.reduce((sum, { bytes }) => sum + bytes, 0) };
  if (uploaded !== null) return written;
  await bucket.write(below + manifestFile, manifest, 'is new');
  // A store that overwrites the manifest despite these conditions ignores them.
  const path = below + manifestFile;
  if ((await bucket.write(path, manifest, 'is new')) || (await bucket.write(path, manifest, { etag: '"none"' }))) {
    const what = `The store of ${bucket.url} ignores If-None-Match and If-Match, so two pushes could overwrite each other.`;
    const next = 'The current snapshot of the bucket is unchanged. Use a store that supports conditional writes.';
    throw new RekapError('bucket', what, next);
  }
  return { files: written.files + 1, bytes: written.bytes + Buffer.byteLength(manifest) };
}

/** Removes older snapshots. Newer ones may be incomplete uploads, and clients may still read the replaced one. */
async function removeOld({ bucket, snapshot, keep, warn }: PushOptions, before: string | null): Promise<string[]> {
  try {
    if ((await readCurrentObject(bucket))?.snapshot !== snapshot.id) return [];
    const ids = (await bucket.folders('snapshots/')).filter(isSnapshotId).toSorted();
    const older = ids.filter((id) => id < snapshot.id && id !== before);
    const room = Math.max(0, keep - 1 - (before !== null && before < snapshot.id ? 1 : 0));
    const removed = older.slice(0, Math.max(0, older.length - room));
    for (const id of removed) await bucket.remove(snapshotPrefix(id));
    return removed;
  } catch (error) {
    warn(`Old snapshots could not be removed from ${bucket.url}: ${messageOf(error)}`);
    return [];
  }
}
