/** Copies a snapshot to a bucket: its files first, then in one step the word that it is current. Whoever reads there never sees half. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bucket, transferAll } from '../bucket/bucket.ts';
import {
  type CurrentObject,
  type CurrentThere,
  isSameSnapshot,
  readCurrentObject,
  snapshotPrefix,
  switchCurrentObject,
} from '../bucket/current-object.ts';
import { ExitCode, messageOf, RekapError } from '../errors.ts';
import { appendRun, type RunLine } from '../publish/runs-log.ts';
import { checkManifestFile } from '../publish/verify-snapshot.ts';
import type { Clock } from '../runtime/context.ts';
import { findAltered } from '../warehouse/check-files.ts';
import { isSnapshotId, manifestFile, manifestHashFile } from '../warehouse/snapshot-format.ts';
import { listSnapshotIds, recoveryHint, type Snapshot } from '../warehouse/warehouse.ts';
import { damagedError } from './manage-snapshots.ts';

export interface PushOptions {
  readonly warehouse: string;
  readonly snapshot: Snapshot;
  readonly bucket: Bucket;
  /** Snapshots to keep there. */
  readonly keep: number;
  /** Whether the bucket may change its source. */
  readonly acceptSource: boolean;
  readonly warn: (message: string) => void;
  /** Told after each file. */
  readonly report: (done: number, files: number) => void;
  readonly clock: Pick<Clock, 'now'>;
}

export interface Pushed {
  readonly outcome: 'pushed' | 'unchanged';
  readonly snapshot: string;
  readonly bucket: string;
  /** Files and bytes that were written. */
  readonly files: number;
  readonly bytes: number;
  /** Ids of snapshots that were removed there. */
  readonly removed: readonly string[];
}

/**
 * Pushes, and writes a line of it in runs.jsonl, whatever became of it.
 *
 * @throws `bucket` where the bucket fails, `bucket-conflict` where somebody else's snapshot stands in the way, `source-mismatch` where it
 *   holds figures of another source, `verification` where the snapshot is damaged. What was current there stays then.
 */
export async function pushSnapshot(options: PushOptions): Promise<Pushed> {
  const begunAt = options.clock.now();
  try {
    const pushed = await push(options);
    await record(options, begunAt, {
      outcome: pushed.outcome,
      exit_code: ExitCode.done,
      reason: '',
      bytes: pushed.bytes,
    });
    return pushed;
  } catch (error) {
    const exit_code = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
    await record(options, begunAt, { outcome: 'failed', exit_code, reason: messageOf(error) });
    throw error;
  }
}

/** A push is what it is, also where its line cannot be written, as in a warehouse that only others may write. */
async function record(
  { warehouse, snapshot: { id, manifest }, bucket: { url }, clock }: PushOptions,
  begunAt: Date,
  end: Pick<RunLine, 'outcome' | 'exit_code' | 'reason' | 'bytes'>,
): Promise<void> {
  const [started_at, finished_at] = [begunAt.toISOString(), clock.now().toISOString()];
  const { source } = manifest;
  const whence = { run: null, kind: 'push', started_at, finished_at, source, snapshot: id, bucket: url } as const;
  await appendRun(warehouse, { ...whence, requests: 0, retries: 0, ...end }).catch(() => undefined);
}

async function push(options: PushOptions): Promise<Pushed> {
  const { snapshot, bucket, acceptSource } = options;
  const { id, folder, manifest } = snapshot;
  const damage = [...(await checkManifestFile(folder)), ...(await findDamagedFiles(snapshot))];
  if (damage.length > 0)
    throw damagedError(`Snapshot ${id} is damaged and was not pushed:`, damage, recoveryHint(id, manifest.run));
  const text = await readFile(join(folder, manifestFile), 'utf8');
  const next: CurrentObject = {
    format: 1,
    snapshot: id,
    manifest_sha256: createHash('sha256').update(text).digest('hex'),
    source: manifest.source,
    created_at: manifest.created_at,
  };
  const before = await readCurrentObject(bucket);
  const isCurrent = before !== null && isSameSnapshot(before, next);
  if (before !== null && !isCurrent) await requireSuccessor(options, before, acceptSource);
  const written = await writeFiles(options, text);
  if (!isCurrent) await switchCurrentObject(bucket, next, before);
  const outcome = isCurrent && written.files === 0 ? 'unchanged' : 'pushed';
  const removed = isCurrent ? [] : await removeOld(options, before?.snapshot ?? null);
  return { outcome, snapshot: id, bucket: bucket.url, ...written, removed };
}

async function findDamagedFiles({ folder, manifest }: Snapshot): Promise<string[]> {
  return (await findAltered(folder, manifest.files)).map(({ path, why }) => `${path}: ${why}`);
}

/** A snapshot that this warehouse made earlier may follow a later one of its own, as after a rollback, but never somebody else's. */
async function requireSuccessor(
  { warehouse, snapshot, bucket }: PushOptions,
  before: CurrentThere,
  acceptSource: boolean,
): Promise<void> {
  if (before.source !== snapshot.manifest.source && !acceptSource)
    throw new RekapError(
      'source-mismatch',
      `${bucket.url} holds figures of ${before.source}, not of ${snapshot.manifest.source}.`,
      'Name another prefix, or add --accept-source if the source has moved.',
    );
  if (before.snapshot < snapshot.id || (await listSnapshotIds(warehouse)).includes(before.snapshot)) return;
  throw new RekapError(
    'bucket-conflict',
    `${bucket.url} holds snapshot ${before.snapshot}, which is newer than ${snapshot.id} and not of this warehouse.`,
    'See who else pushes there, or name another prefix.',
  );
}

/** The manifest comes last: where it is, all files are. */
async function writeFiles(options: PushOptions, manifest: string): Promise<Pick<Pushed, 'files' | 'bytes'>> {
  const { bucket, snapshot, report } = options;
  const below = snapshotPrefix(snapshot.id);
  const there = await bucket.read(below + manifestFile);
  if (there !== null && there.text !== manifest)
    throw new RekapError(
      'bucket-conflict',
      `${bucket.url} holds another snapshot of the name ${snapshot.id}, which was built at another place.`,
      'Nothing there was changed. Push the next snapshot, or name another prefix.',
    );
  const paths = [...snapshot.manifest.files.map(({ path }) => path), manifestHashFile];
  const bytes = snapshot.manifest.files.reduce((sum, file) => sum + file.bytes, Buffer.byteLength(manifest));
  if (there === null)
    await transferAll(paths, (path) => bucket.upload(below + path, join(snapshot.folder, path)), report);
  await bucket.write(below + manifestFile, manifest, 'is new');
  // A store that writes it once more has not looked at the condition.
  if (await bucket.write(below + manifestFile, manifest, 'is new'))
    throw new RekapError(
      'bucket',
      `The store of ${bucket.url} ignores conditions (If-None-Match), so that two pushes could overwrite each other.`,
      'Nothing became current there. Use a store that knows conditional writes.',
    );
  return there === null ? { files: paths.length + 1, bytes } : { files: 0, bytes: 0 };
}

/** Those that are newer may be under way. The one that was replaced stays until the next push: somebody may be reading it. */
async function removeOld({ bucket, snapshot, keep, warn }: PushOptions, before: string | null): Promise<string[]> {
  try {
    const ids = (await bucket.folders('snapshots/')).filter(isSnapshotId).toSorted();
    const older = ids.filter((id) => id < snapshot.id && id !== before);
    const room = Math.max(0, keep - 1 - (before !== null && before < snapshot.id ? 1 : 0));
    const doomed = older.slice(0, Math.max(0, older.length - room));
    for (const id of doomed) await bucket.remove(snapshotPrefix(id));
    return doomed;
  } catch (error) {
    warn(`old snapshots could not be removed from ${bucket.url}: ${messageOf(error)}`);
    return [];
  }
}
