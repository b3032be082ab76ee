/** Compares files with what a manifest says of them: their length and SHA-256. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { findLogs } from '../runtime/database.ts';
import { forbidden, isForbidden } from './file-errors.ts';
import { databaseFile, type ManifestFile } from './snapshot-format.ts';
import { withFile } from '../runtime/with-file.ts';
import { systemCode, systemReason } from '../errors.ts';

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
              ? 'its SHA-256 does not match the manifest'
              : log !== undefined
                ? `the file ${log} exists next to it`
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
  return `${found} bytes, but ${expected} in the manifest`;
}

/** @throws `warehouse-forbidden` where this user may not read the file: that is no damage. */
export function whyUnread(path: string, error: unknown): string {
  if (isForbidden(error)) throw forbidden(path, error);
  return systemCode(error) === 'ENOENT' ? 'is missing' : `cannot be read: ${systemReason(error)}`;
}
