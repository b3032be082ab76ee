/** Downloads the current snapshot of a bucket to a warehouse, verifies it, and makes it current in one step. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import type { Bucket } from './bucket.ts';
import { transferAll } from './transfer-all.ts';
import { type StoredCurrent, readCurrentObject, snapshotPrefix } from './current-object.ts';
import { RekapError } from '../errors.ts';
import { computeSha256, manifestHashLine } from '../publish/manifest.ts';
import { lockWarehouse } from '../publish/lock.ts';
import {
  beginSnapshotFolder,
  clearLeftovers,
  discardSnapshotFolder,
  makeWarehouse,
  newSnapshotId,
  pruneSnapshots,
} from '../publish/snapshot-folder.ts';
import { recordTransfer } from '../publish/record-run.ts';
import { pointCurrent, publishSnapshotFolder } from '../publish/switch-current.ts';
import { findAltered } from '../warehouse/check-files.ts';
import { explainFileError } from '../warehouse/file-errors.ts';
import {
  databaseFile,
  type Manifest,
  type ManifestFile,
  manifestFile,
  manifestHashFile,
} from '../warehouse/snapshot-format.ts';
import { readManifest } from '../warehouse/read-manifest.ts';
import type { Pushed, PushOptions } from './push-snapshot.ts';
import { requireSource, requireSuccessor } from './refusals.ts';
import {
  listSnapshotIds,
  readCurrent,
  readCurrentId,
  readCurrentOrFirst,
  readPinnedId,
  readSnapshot,
  type Snapshot,
} from '../warehouse/warehouse.ts';

export interface PullOptions extends Omit<PushOptions, 'snapshot'> {
  /** Returns problems of a downloaded snapshot. It becomes current only if there are none. */
  readonly verify: (snapshot: Pick<Snapshot, 'folder' | 'manifest'>, signal?: AbortSignal) => Promise<string[]>;
  /** True if only pulls write to the warehouse, so that it follows every change of the bucket. */
  readonly isCopy: boolean;
  /** Aborts the verification. The bucket has its own. */
  readonly signal?: AbortSignal | undefined;
}

export interface Pulled extends Omit<Pushed, 'outcome'> {
  readonly outcome: 'pulled' | 'unchanged';
  readonly warehouse: string;
  /** The bucket's snapshot that wasn't downloaded because another one is pinned here, or null. */
  readonly held: string | null;
}

/** Milliseconds by which the clock that created a snapshot may be ahead of this one. */
const maxAhead = 24 * 3_600_000;

const mismatch = 'does not have the recorded length or SHA-256.';

/** Retention removed the snapshot between two requests, so the bucket has a newer one. */
class SnapshotRemoved extends Error {}

/**
 * Pulls the current snapshot, and records the outcome in runs.jsonl. A failure leaves the warehouse unchanged.
 * @throws `bucket` if the bucket fails or a hash differs, `bucket-conflict` if the warehouse is ahead, `source-mismatch` if the sources
 *   differ.
 */
export async function pullSnapshot(options: PullOptions): Promise<Pulled> {
  const { bucket, warehouse, clock, isCopy } = options;
  return recordTransfer(
    { kind: 'pull', warehouse, clock, bucket: bucket.url, isQuiet: isCopy },
    () => pull(options),
    async ({ snapshot }) => (await readSnapshot(warehouse, snapshot)).manifest,
  );
}

async function pull(options: PullOptions): Promise<Pulled> {
  const { bucket, warehouse } = options;
  for (let retries = 2; ; retries -= 1) {
    const remote = await readCurrentObject(bucket);
    if (remote === null) {
      const what = `${bucket.url} does not contain a snapshot.`;
      throw new RekapError('bucket', what, `Push one first with "rekap push ${bucket.url}", or correct the address.`);
    }
    refuseFuture(options, remote);
    const local = await readLocal(options, remote);
    if (local !== null && (await isCopyOf(local, remote))) return unchanged(options, remote.snapshot);
    try {
      return await replaceCurrent(options, remote);
    } catch (error) {
      if (!(error instanceof SnapshotRemoved)) throw explainFileError(error, warehouse);
      if (retries === 0) {
        const what = `A file of the current snapshot ${remote.snapshot} is missing in ${bucket.url}: ${error.message}.`;
        throw new RekapError('bucket', what, 'Push the snapshot again.');
      }
    }
  }
}

/** Refuses a snapshot from the future, because all correct snapshots would be refused as older. */
function refuseFuture({ bucket, clock }: PullOptions, { snapshot }: StoredCurrent): void {
  const latest = newSnapshotId(new Date(clock.now().getTime() + maxAhead), 0, null);
  if (snapshot < latest) return;
  const what = `The current snapshot ${snapshot} of ${bucket.url} has an ID with a time in the future.`;
  const next =
    'Check the clock of this machine. If it is correct, push a snapshot from a machine with a correct clock.';
  throw new RekapError('bucket', what, next);
}

function unchanged({ bucket, warehouse }: PullOptions, snapshot: string): Pulled {
  const nothing = { files: 0, bytes: 0, held: null, removed: [] };
  return { outcome: 'unchanged', snapshot, bucket: bucket.url, warehouse, ...nothing };
}

/** Returns the current snapshot of the warehouse, or null. Ignores damage if the bucket has the same snapshot. */
async function readLocal({ warehouse, isCopy }: PullOptions, remote: StoredCurrent): Promise<Snapshot | null> {
  const ignoresDamage = isCopy || (await readCurrentId(warehouse).catch(() => null)) === remote.snapshot;
  return ignoresDamage ? readCurrent(warehouse).catch(() => null) : readCurrentOrFirst(warehouse);
}

async function isCopyOf({ folder, manifest }: Snapshot, remote: StoredCurrent): Promise<boolean> {
  const text = await readFile(join(folder, manifestFile), 'utf8').catch(() => '');
  return computeSha256(text) === remote.manifest_sha256 && (await findAltered(folder, manifest.files)).length === 0;
}

async function replaceCurrent(options: PullOptions, remote: StoredCurrent): Promise<Pulled> {
  const { warehouse, keep, warn, isCopy } = options;
  await makeWarehouse(warehouse, warn);
  const unlock = await lockWarehouse(warehouse);
  try {
    await clearLeftovers(warehouse);
    const before = await readLocal(options, remote);
    if (before !== null) await requireFollows(options, remote, before);
    // A pull waits until the pin is removed, because the snapshot stays in the bucket. Copies are never pinned.
    const pinned = isCopy ? null : await readPinnedId(warehouse);
    if (pinned !== null && before !== null && before.id !== remote.snapshot)
      return { ...unchanged(options, before.id), held: remote.snapshot };
    const ids = await listSnapshotIds(warehouse);
    const copy = ids.includes(remote.snapshot)
      ? await readSnapshot(warehouse, remote.snapshot).catch(() => null)
      : null;
    let fetched = { files: 0, bytes: 0 };
    if (copy !== null && (await isCopyOf(copy, remote))) await pointCurrent(warehouse, remote.snapshot);
    else fetched = await fetchSnapshot(options, remote, ids);
    const removed = await pruneSnapshots(warehouse, keep, [remote.snapshot, before?.id ?? null, pinned]);
    return { ...unchanged(options, remote.snapshot), outcome: 'pulled', ...fetched, removed };
  } finally {
    unlock();
  }
}

/** A copy follows every change of the bucket, also to an older snapshot. */
async function requireFollows(
  { bucket, warehouse, acceptSource, isCopy }: PullOptions,
  remote: StoredCurrent,
  { id, manifest: { source } }: Snapshot,
): Promise<void> {
  const target = { place: `The warehouse ${warehouse}`, alternative: 'another folder with --warehouse', acceptSource };
  if (isCopy) return requireSource(target, remote.source, source);
  const origin = { known: () => bucket.folders('snapshots/'), unknown: `not in ${bucket.url}` };
  const conflict = { code: 'bucket-conflict', advice: 'Push this snapshot to the bucket', ...origin } as const;
  await requireSuccessor(target, { next: remote, before: { snapshot: id, source } }, conflict);
}

async function fetchSnapshot(
  options: PullOptions,
  remote: StoredCurrent,
  ids: readonly string[],
): Promise<Pick<Pulled, 'files' | 'bytes'>> {
  const { warehouse, bucket, report } = options;
  const id = remote.snapshot;
  const below = snapshotPrefix(id);
  const text = await bucket.read(below + manifestFile);
  if (text === null) throw new SnapshotRemoved(manifestFile);
  const manifest = await requireManifest(text.text, remote, bucket);
  const folder = await beginSnapshotFolder(warehouse, id);
  try {
    const fetchFile = async ({ path, bytes, sha256: expected }: ManifestFile): Promise<void> => {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true });
      const got = await bucket.download(below + path, target, bytes);
      if (got === null) throw new SnapshotRemoved(path);
      if (got.bytes !== bytes || got.sha256 !== expected) throw refusal(bucket, remote, `${path} ${mismatch}`);
    };
    await transferAll(manifest.files, fetchFile, report);
    await writeFile(join(folder, manifestFile), text.text, { flag: 'wx' });
    await writeFile(join(folder, manifestHashFile), manifestHashLine(Buffer.from(text.text)), { flag: 'wx' });
    const problems = await options.verify({ folder, manifest }, options.signal);
    if (problems.length > 0)
      throw refusal(bucket, remote, [' is not a valid snapshot:', ...problems.map((one) => `  - ${one}`)].join('\n'));
    const files = [...manifest.files.map(({ path }) => path), manifestFile, manifestHashFile];
    const others = ids.filter((other) => other !== id);
    // Removes a damaged snapshot with the same ID only at the end.
    const makeRoom = async (): Promise<void> => {
      if (ids.includes(id)) await pruneSnapshots(warehouse, 0, others);
    };
    await publishSnapshotFolder(warehouse, { id, folder, files }, () => undefined, makeRoom);
    return { files: files.length, bytes: manifest.files.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    await discardSnapshotFolder(folder).catch(() => undefined);
    throw error;
  }
}

const json = v.pipe(v.string(), v.parseJson());

/** Checks a manifest from an untrusted bucket. The hash proves its content, and its shape keeps paths below their folder. */
async function requireManifest(text: string, remote: StoredCurrent, bucket: Bucket): Promise<Manifest> {
  const parsed = computeSha256(text) === remote.manifest_sha256 ? v.safeParse(json, text).output : null;
  const read = readManifest(parsed, remote.snapshot);
  if ('manifest' in read && read.manifest.source === remote.source && isUsable(read.manifest)) return read.manifest;
  throw refusal(bucket, remote, `${manifestFile} ${mismatch}`);
}

function isUsable({ files }: Manifest): boolean {
  const paths = new Set(files.map(({ path }) => path));
  return paths.size === files.length && paths.has(databaseFile);
}

/** @param what What is wrong with the snapshot in the bucket, after its address. */
function refusal({ url }: Bucket, { snapshot }: StoredCurrent, what: string): RekapError {
  const folder = snapshotPrefix(snapshot);
  const next = `The warehouse is unchanged. Find out who wrote it, remove ${folder} from the bucket, and push the snapshot again.`;
  return new RekapError('bucket', `${url}/${folder}${what}`, next);
}
