/** Compares files with their length and SHA-256 in a manifest. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { findLogs } from '../runtime/database.ts';
import { forbidden, isForbidden } from './file-errors.ts';
import { databaseFile, type ManifestFile } from './snapshot-format.ts';
import { withFile } from '../runtime/with-file.ts';
import { systemCode, systemReason } from '../errors.ts';

const step = 1 << 20;

/** Returns the length and SHA-256 of a file below `folder`. DuckDB must not have it open, because reading it would drop DuckDB's lock. */
export async function describeFile(
  folder: string,
  path: string,
  rows: number | null,
  signal?: AbortSignal,
): Promise<ManifestFile> {
  return withFile(join(folder, path), 'r', async (file) => {
    const hash = createHash('sha256');
    // One buffer for the whole file. A stream would allocate one per read.
    const buffer = Buffer.allocUnsafe(step);
    let bytes = 0;
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, step, null);
      if (bytesRead === 0) return { path, bytes, rows, sha256: hash.digest('hex') };
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  });
}

export interface AlteredFile {
  readonly path: string;
  readonly why: string;
  readonly isRead: boolean;
}

/** Returns the files that don't match the manifest in any byte. Throws `warehouse-forbidden` if this user can't read a file. */
export async function findAltered(
  folder: string,
  files: readonly ManifestFile[],
  signal?: AbortSignal,
): Promise<AlteredFile[]> {
  const found = await Promise.all(
    files.map(async ({ path, bytes, sha256 }): Promise<AlteredFile[]> => {
      try {
        const now = await describeFile(folder, path, null, signal);
        const [log] = path === databaseFile ? await findLogs(join(folder, path)) : [];
        const why =
          now.bytes !== bytes
            ? sizeMismatch(now.bytes, bytes)
            : now.sha256 !== sha256
              ? 'its SHA-256 does not match the manifest'
              : log !== undefined
                ? `the file ${log} exists next to it`
                : null;
        return why === null ? [] : [{ path, why, isRead: true }];
      } catch (error) {
        signal?.throwIfAborted();
        return [{ path, why: describeReadError(join(folder, path), error), isRead: false }];
      }
    }),
  );
  return found.flat();
}

export function sizeMismatch(found: number, expected: number): string {
  return `${found} bytes, but ${expected} in the manifest`;
}

/** Returns why a file can't be read, as the rest of a sentence. Throws `warehouse-forbidden` for a denied access, which isn't damage. */
export function describeReadError(path: string, error: unknown): string {
  if (isForbidden(error)) throw forbidden(path, error);
  return systemCode(error) === 'ENOENT' ? 'is missing' : `cannot be read: ${systemReason(error)}`;
}
