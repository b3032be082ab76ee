/** Puts a manifest together and writes it; hashes the files it names. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline as pipeStreams } from 'node:stream/promises';
import { manifestFile, type Manifest, type ManifestFile } from '../warehouse.ts';

/** Length and SHA-256 of a file below `folder`. The file must not be open in DuckDB: reading it would drop DuckDB's lock. */
export async function describeFile(folder: string, path: string, rows: number | null): Promise<ManifestFile> {
  const file = join(folder, path);
  const hash = createHash('sha256');
  await pipeStreams(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return { path, bytes: (await stat(file)).size, rows, sha256: hash.digest('hex') };
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeFile(join(folder, manifestFile), `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx' });
}

/** SHA-256 of anything that JSON can hold, as a fingerprint to compare. */
export function fingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Whether two snapshots hold the same tables: the Parquet files are the same bytes wherever their rows are. */
export function holdsSameTables(now: Manifest, before: Manifest): boolean {
  return (
    now.definition === before.definition && now.source === before.source && parquetHashes(now) === parquetHashes(before)
  );
}

function parquetHashes(manifest: Manifest): string {
  return JSON.stringify(
    manifest.files
      .filter(({ path }) => path.endsWith('.parquet'))
      .map(({ path, sha256 }) => [path, sha256])
      .toSorted(([a], [b]) => (a! < b! ? -1 : 1)),
  );
}
