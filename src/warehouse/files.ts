/** Reads, writes, flushes and hashes files, so that every failure names its file: of an open file, the system says only what failed. */

import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { findLogs } from '../duckdb/database.ts';
import { systemCode, systemReason } from '../errors.ts';
import { forbidden, isForbidden } from './file-errors.ts';
import { databaseFile, type ManifestFile } from './snapshot-format.ts';

/** Opens a file, lets it be used, and closes it. */
export async function withFile<Value>(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<Value>,
): Promise<Value> {
  return nameFile(path, async () => {
    const file = await open(path, flags);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  });
}

/** Does something with a file that is open; a failure of the system names the file then. */
export async function nameFile<Value>(path: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    const isUnnamed = error instanceof Error && 'syscall' in error && error.syscall !== undefined && !('path' in error);
    throw isUnnamed ? Object.assign(error, { path }) : error;
  }
}

/** Makes a new file of a text. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  await withFile(path, 'wx', (file) => file.writeFile(text));
}

/**
 * Flushes a file or a folder to the disk: a power cut may take what is only written. A new name is on the disk only when the folder that
 * holds it was flushed.
 */
export async function flush(path: string): Promise<void> {
  await withFile(path, 'r', (file) => file.sync());
}

/** Bytes that are read at a time. */
const step = 1 << 20;

/** Length and SHA-256 of a file below `folder`. DuckDB must not have it open: reading it would drop DuckDB's lock. */
export async function describeFile(folder: string, path: string, rows: number | null): Promise<ManifestFile> {
  return withFile(join(folder, path), 'r', async (file) => {
    const hash = createHash('sha256');
    // One piece of memory for the whole file: a stream would take a new one for each step.
    const buffer = Buffer.allocUnsafe(step);
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, step, null);
      if (bytesRead === 0) return { path, bytes, rows, sha256: hash.digest('hex') };
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  });
}

/** A file that is not what a manifest says. */
export interface AlteredFile {
  readonly path: string;
  readonly why: string;
  /** Whether it could be read at all. */
  readonly isRead: boolean;
}

/**
 * Reads every byte of the files that a manifest names, and gives those that are not what it says.
 *
 * @throws `warehouse-forbidden` where this user may not read one.
 */
export async function findAltered(folder: string, files: readonly ManifestFile[]): Promise<AlteredFile[]> {
  const found = await Promise.all(
    files.map(async ({ path, bytes, sha256 }): Promise<AlteredFile[]> => {
      try {
        const now = await describeFile(folder, path, null);
        const [log] = path === databaseFile ? await findLogs(join(folder, path)) : [];
        const why =
          now.bytes !== bytes
            ? otherSize(now.bytes, bytes)
            : now.sha256 !== sha256
              ? "its SHA-256 is not the manifest's"
              : log !== undefined
                ? `${log} lies beside it`
                : null;
        return why === null ? [] : [{ path, why, isRead: true }];
      } catch (error) {
        return [{ path, why: whyUnread(join(folder, path), error), isRead: false }];
      }
    }),
  );
  return found.flat();
}

export function otherSize(found: number, expected: number): string {
  return `${found} bytes, the manifest says ${expected}`;
}

/** @throws `warehouse-forbidden` where this user may not read the file: that is no damage. */
export function whyUnread(path: string, error: unknown): string {
  if (isForbidden(error)) throw forbidden(path, error);
  return systemCode(error) === 'ENOENT' ? 'is missing' : `cannot be read: ${systemReason(error)}`;
}
