/** Reads and replaces `current.json` of a bucket, which names the current snapshot. Detects concurrent pushes. */

import * as v from 'valibot';
import type { Bucket } from './bucket.ts';
import { snapshotIdShape } from '../warehouse/snapshot-format.ts';
import { RekapError } from '../errors.ts';

const currentObject = 'current.json';

const shape = v.object({
  format: v.literal(1),
  snapshot: snapshotIdShape,
  manifest_sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  source: v.string(),
  created_at: v.string(),
});
export type CurrentObject = Readonly<v.InferOutput<typeof shape>>;

export interface StoredCurrent extends CurrentObject {
  readonly etag: string;
}

export function snapshotPrefix(id: string): string {
  return `snapshots/${id}/`;
}

/** Returns null before the first push. Throws `bucket` if the file isn't from a push. */
export async function readCurrentObject(bucket: Bucket): Promise<StoredCurrent | null> {
  const found = await bucket.read(currentObject);
  if (found === null) return null;
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), shape), found.text);
  if (success && found.etag !== '') return { ...output, etag: found.etag };
  if (success) {
    const what = `The store of ${bucket.url} does not return ETags, which rekap needs to detect concurrent pushes.`;
    throw new RekapError('bucket', what, 'Use a store that supports conditional writes.');
  }
  const next = `If the file is yours, remove it and run "rekap push ${bucket.url}" again; the snapshots in the bucket stay. If not, choose another prefix.`;
  throw new RekapError('bucket', `${bucket.url}/${currentObject} is not a file from a push.`, next);
}

export function isSameSnapshot(a: CurrentObject, b: CurrentObject): boolean {
  return a.snapshot === b.snapshot && a.manifest_sha256 === b.manifest_sha256;
}

/** Makes an uploaded snapshot current. Throws `bucket-conflict` if another push replaced `before`, the object before the upload. */
export async function switchCurrentObject(
  bucket: Bucket,
  next: CurrentObject,
  before: StoredCurrent | null,
): Promise<void> {
  const text = `${JSON.stringify(next, null, 2)}\n`;
  const isWritten = await bucket.write(currentObject, text, before === null ? 'is new' : { etag: before.etag });
  if (isWritten) return;
  // After a lost response, the SDK retries and finds its own write.
  const now = await readCurrentObject(bucket);
  if (now !== null && isSameSnapshot(now, next)) return;
  const what = `Another push changed ${bucket.url} at the same time. Its current snapshot is ${now === null ? 'missing' : now.snapshot}.`;
  throw new RekapError('bucket-conflict', what, 'Run the command again. Find out who else pushes to this bucket.');
}
