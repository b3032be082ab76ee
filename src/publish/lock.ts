/** Allows one sync at a time per warehouse, with a lock that the operating system releases when the process ends. */

import { randomUUID } from 'node:crypto';
import { link, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Database, holderOf, openDatabase } from '../runtime/database.ts';
import { explainFileError } from '../warehouse/file-errors.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { isRekapError, messageOf, RekapError, systemCode } from '../errors.ts';

const unfinishedPrefix = 'lock-';
/** Matches unfinished lock files and their logs, which killed processes may leave. */
export const unfinishedLock = new RegExp(`^${unfinishedPrefix}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\\.wal)?$`);

/** Milliseconds after which rekap tries a held lock again. */
const lockRetryDelay = 100;

/** Warehouses locked by this process, because the system's lock doesn't exclude the same process. */
const heldByProcess = new Set<string>();

/** The last checks of locks by this process. When a process closes a file, the system releases its locks on the file. */
let checking: Promise<unknown> = Promise.resolve();

/**
 * Locks the warehouse until the returned function is called.
 * Uses DuckDB's lock on an empty database, because Node has no file locks and a plain file would outlive a killed process.
 * @throws `warehouse-busy` if another sync holds the lock.
 */
export async function lockWarehouse(warehouse: string): Promise<() => void> {
  const place = await realpath(warehouse);
  // DuckDB reads the text after a question mark as settings.
  if (place.includes('?')) {
    throw new RekapError(
      'warehouse',
      `The path of the warehouse ${warehouse} contains a question mark, which DuckDB does not support.`,
      'Choose another folder with --warehouse.',
    );
  }
  if (heldByProcess.has(place)) throw busy(warehouse, 'this process');
  heldByProcess.add(place);
  await checking;
  try {
    const database = await openLock(warehousePaths(place).lock);
    return () => {
      database.close();
      heldByProcess.delete(place);
    };
  } catch (error) {
    heldByProcess.delete(place);
    throw explain(error, warehouse);
  }
}

/** Returns whether a sync or replay holds the lock. Throws as `lockWarehouse` does for a lock file that can't be used. */
export async function isLocked(warehouse: string): Promise<boolean> {
  const place = await realpath(warehouse);
  if (heldByProcess.has(place)) return true;
  const check = checkLock(place);
  checking = Promise.allSettled([checking, check]);
  return check;
}

async function checkLock(warehouse: string): Promise<boolean> {
  const { lock } = warehousePaths(warehouse);
  try {
    if (await exists(lock)) (await openDatabase(lock, { readOnly: true, settings: { threads: '1' } })).close();
    return false;
  } catch (error) {
    if (isRekapError(error, 'database-held')) return true;
    throw explain(error, warehouse);
  }
}

/** Opens the lock file. A new one is created and locked under a temporary name, so that no process sees an unlocked lock file. */
async function openLock(lock: string): Promise<Database> {
  const open = (path: string): Promise<Database> => openDatabase(path, { settings: { threads: '1' } });
  if (await exists(lock))
    return open(lock).catch(async (error: unknown) => {
      if (!isRekapError(error, 'database-held')) throw error;
      // `isLocked` of another process may hold it for a moment.
      await wait(lockRetryDelay);
      return open(lock);
    });
  const own = join(dirname(lock), `${unfinishedPrefix}${randomUUID()}`);
  const database = await open(own);
  try {
    await link(own, lock);
    return database;
  } catch {
    // Another process was faster, or the file system has no hard links.
    database.close();
    return await open(lock);
  } finally {
    await rm(own, { force: true }).catch(() => undefined);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function explain(error: unknown, warehouse: string): unknown {
  if (isRekapError(error, 'database-held')) return busy(warehouse, holderOf(error.cause) ?? 'another process');
  const explained = explainFileError(error, warehouse);
  if (explained !== error) return explained;
  const { lock } = warehousePaths(warehouse);
  return new RekapError(
    'warehouse',
    `The lock file ${lock} cannot be used: ${messageOf(error).split('\n')[0]}`,
    'Check that the folder is writable. If no sync is running, you can delete the lock file.',
    { cause: error },
  );
}

function busy(warehouse: string, holder: string): RekapError {
  return new RekapError(
    'warehouse-busy',
    `Another sync or replay is using the warehouse ${warehouse} (${holder}).`,
    'Wait until it finishes, or choose another folder with --warehouse.',
  );
}
