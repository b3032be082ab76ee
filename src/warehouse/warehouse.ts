/** Finds and reads the contents of a warehouse: its snapshots, the current one, and runs with stored responses. */

import { access, constants, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemCode, RekapError, systemReason } from '../errors.ts';
import { findLogs } from '../runtime/database.ts';
import { describeReadError } from './check-files.ts';
import { readManifest as parseManifest } from './read-manifest.ts';
import { failedFile, forbidden, isForbidden } from './file-errors.ts';
import {
  currentTarget,
  databaseFile,
  isSnapshotId,
  type Manifest,
  manifestFile,
  warehousePaths,
} from './snapshot-format.ts';
import { countOf } from '../runtime/text.ts';

/** A published snapshot: its ID, its folder and its manifest. */
export interface Snapshot {
  readonly id: string;
  readonly folder: string;
  readonly manifest: Manifest;
}

export const fillFirst =
  'Run a sync first, such as "rekap sync --base-url URL", or choose another folder with --warehouse.';

const currentHint =
  'To choose a snapshot, run "rekap snapshots", then "rekap snapshots rollback ID". If no snapshots exist, remove current and snapshots, and run the sync again.';

const pinnedHint = 'Remove it, or add --unpin to the next sync. To pin a snapshot, run "rekap snapshots rollback ID".';

/** Returns the hint for a damaged snapshot. Reads no files, so it can't fail. */
export function recoveryHint(damaged: string): string {
  return `To choose another snapshot, run "rekap snapshots", then "rekap snapshots rollback ID". Without another one, move the folder of ${damaged} away, and run the sync again.`;
}

export function listSnapshotIds(warehouse: string): Promise<string[]> {
  return listIds(warehousePaths(warehouse).snapshots);
}

export function listLandedIds(warehouse: string): Promise<string[]> {
  return listIds(warehousePaths(warehouse).landing);
}

/** Ignores other files. IDs sort by time. */
async function listIds(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(isSnapshotId).toSorted();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error))) return [];
    const what = `${folder} cannot be read: ${systemReason(error)}.`;
    throw new RekapError(
      'warehouse',
      what,
      'Check the permissions of the folder and the disk, or choose another folder with --warehouse.',
      { cause: error },
    );
  }
}

export function readCurrentId(warehouse: string): Promise<string | null> {
  return readLinkedId(warehouse, warehousePaths(warehouse).current, currentHint);
}

/** Returns the ID of the pinned snapshot, which stays current while syncs build newer ones. Null if no snapshot is pinned. */
export function readPinnedId(warehouse: string): Promise<string | null> {
  return readLinkedId(warehouse, warehousePaths(warehouse).pinned, pinnedHint);
}

async function readLinkedId(warehouse: string, link: string, next: string): Promise<string | null> {
  let target: string;
  try {
    target = await readlink(link);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return null;
    if (code === 'ENOTDIR') throw noFolder(warehouse);
    if (isForbidden(error)) throw forbidden(warehouse, error);
    if (code !== 'EINVAL') throw failedFile(error) ?? error;
    throw new RekapError('warehouse', `${link} is not a symbolic link.`, next, { cause: error });
  }
  const id = basename(target);
  if (target === currentTarget(id) && isSnapshotId(id)) return id;
  const what = `${link} points to ${JSON.stringify(target)}, which is not a snapshot.`;
  throw new RekapError('warehouse', what, next);
}

/** Returns the current snapshot of a warehouse, or null if nothing is published. @throws `warehouse` if it is damaged. */
export async function readCurrent(warehouse: string): Promise<Snapshot | null> {
  const id = await readCurrentId(warehouse);
  return id === null ? null : readSnapshot(warehouse, id);
}

/** Returns the current snapshot. Throws `snapshot-not-found` if there is none. */
export async function requireCurrent(warehouse: string): Promise<Snapshot> {
  const snapshot = await readCurrent(warehouse);
  if (snapshot !== null) return snapshot;
  const ids = await listSnapshotIds(warehouse).catch(() => []);
  throw ids.length > 0
    ? new RekapError('snapshot-not-found', missingLinkMessage(warehouse, ids), currentHint)
    : new RekapError(
        'snapshot-not-found',
        `The warehouse ${warehouse} does not contain a published snapshot.`,
        fillFirst,
      );
}

export function chooseSnapshot(warehouse: string, id: string | undefined): Promise<Snapshot> {
  return id === undefined ? requireCurrent(warehouse) : readSnapshot(warehouse, id);
}

/**
 * Returns the current snapshot, or null before the first publication.
 * @throws `warehouse` if only the link is missing, because the history would silently restart.
 */
export async function readCurrentOrFirst(warehouse: string): Promise<Snapshot | null> {
  const snapshot = await readCurrent(warehouse);
  const ids = snapshot === null ? await listSnapshotIds(warehouse) : [];
  if (ids.length === 0) return snapshot;
  throw new RekapError('warehouse', missingLinkMessage(warehouse, ids), currentHint);
}

function missingLinkMessage(warehouse: string, { length }: readonly string[]): string {
  const { current } = warehousePaths(warehouse);
  return `${current} is missing, so no snapshot is current. The warehouse contains ${countOf(length, 'snapshot')}.`;
}

/** Reads a snapshot by ID. Throws `snapshot-not-found` if it doesn't exist, RekapError if its manifest can't be read. */
export async function readSnapshot(warehouse: string, id: string): Promise<Snapshot> {
  if (!isSnapshotId(id)) {
    throw new RekapError(
      'snapshot-not-found',
      `${JSON.stringify(id)} is not a snapshot ID such as 20261120T030002Z-1f3a9c.`,
      'To list the IDs, run "rekap snapshots".',
    );
  }
  const folder = join(warehousePaths(warehouse).snapshots, id);
  if (!(await isFolder(folder))) {
    const isCurrent = (await readCurrentId(warehouse).catch(() => null)) === id;
    throw new RekapError(
      'snapshot-not-found',
      isCurrent
        ? `${warehousePaths(warehouse).current} points to snapshot ${id}, which is not in the warehouse.`
        : `The warehouse ${warehouse} does not contain snapshot ${id}.`,
      isCurrent ? currentHint : 'To list the snapshots, run "rekap snapshots".',
    );
  }
  return { id, folder, manifest: await readManifest(id, folder) };
}

/** Returns the path of a snapshot's DuckDB file. Checks first that it is readable and has no log, because DuckDB's error has no next step. */
export async function requireDatabase(snapshot: Snapshot): Promise<string> {
  const file = join(snapshot.folder, databaseFile);
  try {
    await access(file, constants.R_OK);
  } catch (error) {
    throw new RekapError('warehouse', `${file} ${describeReadError(file, error)}.`, recoveryHint(snapshot.id), {
      cause: error,
    });
  }
  await requireNoLog(snapshot);
  return file;
}

/** Refuses a snapshot with a log beside its DuckDB file. DuckDB would apply the log and show unpublished figures. */
export async function requireNoLog({ id, folder }: Snapshot): Promise<void> {
  const [log] = await findLogs(join(folder, databaseFile));
  if (log === undefined) return;
  throw new RekapError(
    'warehouse',
    `${join(folder, log)} does not belong to snapshot ${id}, and DuckDB would apply it to the published figures.`,
    `Close any program that writes to ${databaseFile}. To list all files that do not belong to the snapshot, run "rekap snapshots verify ${id}". ${recoveryHint(id)}`,
  );
}

export async function requireWarehouse(warehouse: string): Promise<void> {
  if (await isFolder(warehousePaths(warehouse).snapshots)) return;
  if ((await stat(warehouse).catch(() => null))?.isFile() === true) throw noFolder(warehouse);
  throw new RekapError(
    'warehouse',
    `${warehouse} is not a warehouse: it does not contain a folder "snapshots".`,
    fillFirst,
  );
}

function noFolder(warehouse: string): RekapError {
  return new RekapError('warehouse', `${warehouse} is not a folder.`, 'Choose a folder with --warehouse.');
}

async function readManifest(id: string, folder: string): Promise<Manifest> {
  const file = join(folder, manifestFile);
  const damaged = (what: string, cause: unknown): RekapError =>
    new RekapError('warehouse', `${file} ${what}.`, recoveryHint(id), { cause });
  let manifest: unknown;
  try {
    manifest = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw damaged('is not valid JSON', error);
    if (isForbidden(error)) throw forbidden(file, error);
    throw damaged(`cannot be read: ${systemReason(error)}`, error);
  }
  const read = parseManifest(manifest, id);
  if ('manifest' in read) return read.manifest;
  throw damaged(read.why, null);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return false;
    throw isForbidden(error) ? forbidden(path, error) : (failedFile(error) ?? error);
  }
}
