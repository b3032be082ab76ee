/** Describes the files of a snapshot, and checks them by themselves, without opening a table: the manifest's own hash, and the bytes that it names. */

import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { findLogs } from '../duckdb/database.ts';
import { systemCode, systemReason } from '../errors.ts';
import { forbidden, isForbidden } from './file-errors.ts';
import { databaseFile, type Manifest, manifestFile, type ManifestFile, manifestHashFile } from './snapshot-format.ts';
import { withFile } from './with-file.ts';

/** The line that holds a manifest's hash, as sha256sum writes it and checks it. */
export function manifestHashLine(manifest: Buffer): string {
  return `${createHash('sha256').update(manifest).digest('hex')}  ${manifestFile}\n`;
}

/** Gives what is wrong with the manifest's file or that of its hash, as sentences. */
export async function checkManifestFile(folder: string): Promise<string[]> {
  const problems: string[] = [];
  const read = (path: string): Promise<Buffer | null> =>
    readFile(join(folder, path)).catch((error: unknown) => {
      problems.push(`${path}: ${whyUnread(join(folder, path), error)}`);
      return null;
    });
  const [manifest, hash] = [await read(manifestFile), await read(manifestHashFile)];
  if (manifest !== null && hash !== null && hash.toString('latin1') !== manifestHashLine(manifest))
    problems.push(`${manifestFile}: its SHA-256 is not that in ${manifestHashFile}`);
  return problems;
}

/** Looks whether every file that a manifest names is there with its size, and reads none of them; gives those that are not, as sentences. */
export async function checkSizes(folder: string, { files }: Pick<Manifest, 'files'>): Promise<string[]> {
  const problems = await Promise.all(
    files.map(async ({ path, bytes }) => {
      try {
        const { size } = await stat(join(folder, path));
        return size === bytes ? [] : [otherSize(path, size, bytes)];
      } catch (error) {
        return [`${path}: ${whyUnread(join(folder, path), error)}`];
      }
    }),
  );
  return problems.flat();
}

/** Reads every byte of the files that a manifest names; gives what is not as it says, and files that it does not name, as sentences. */
export async function checkFiles(folder: string, manifest: Pick<Manifest, 'files'>): Promise<string[]> {
  const problems = await Promise.all(
    manifest.files.map(async ({ path, bytes, rows, sha256 }) => {
      try {
        const found = await describeFile(folder, path, rows);
        if (found.bytes !== bytes) return [otherSize(path, found.bytes, bytes)];
        return found.sha256 === sha256 ? [] : [`${path}: its SHA-256 is not the manifest's`];
      } catch (error) {
        return [`${path}: ${whyUnread(join(folder, path), error)}`];
      }
    }),
  );
  return [...problems.flat(), ...(await unnamedFiles(folder, manifest))];
}

/** A write-ahead log beside the database would be replayed into it; a second Parquet file would be read as more rows of its table. */
export async function unnamedFiles(folder: string, { files }: Pick<Manifest, 'files'>): Promise<string[]> {
  const listed = new Set([manifestFile, manifestHashFile, ...files.map(({ path }) => path)]);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
    .filter((path) => !listed.has(path))
    .map((path) => `${path}: the manifest does not name this file`);
}

function otherSize(path: string, found: number, expected: number): string {
  return `${path}: ${found} bytes, the manifest says ${expected}`;
}

/** @throws `warehouse-forbidden` where this user may not read the file: that is no damage. */
function whyUnread(path: string, error: unknown): string {
  if (isForbidden(error)) throw forbidden(path, error);
  return systemCode(error) === 'ENOENT' ? 'is missing' : `cannot be read: ${systemReason(error)}`;
}

/** A file that is not what it was. */
export interface AlteredFile {
  readonly path: string;
  readonly why: string;
  /** Whether it could be read at all. */
  readonly isRead: boolean;
}

/** The files of a folder that are not what a manifest says. Throws RekapError where this user may not read one. */
export async function findAltered(folder: string, files: readonly ManifestFile[]): Promise<AlteredFile[]> {
  const altered: AlteredFile[] = [];
  for (const { path, sha256 } of files) {
    try {
      const [log] = path === databaseFile ? await findLogs(join(folder, path)) : [];
      if ((await describeFile(folder, path, null)).sha256 !== sha256)
        altered.push({ path, why: 'the SHA-256 differs', isRead: true });
      else if (log !== undefined) altered.push({ path, why: `${log} lies beside it`, isRead: true });
    } catch (error) {
      if (isForbidden(error)) throw forbidden(join(folder, path), error);
      altered.push({ path, why: `it cannot be read: ${systemReason(error)}`, isRead: false });
    }
  }
  return altered;
}

/** Bytes that are read at a time. */
const step = 1 << 20;

/** Describes a file below `folder`. The file must not be open in DuckDB: reading it would drop DuckDB's lock. */
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
