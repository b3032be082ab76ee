/** Length and SHA-256 of a file, as manifests name them. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline as pipeStreams } from 'node:stream/promises';
import type { ManifestFile } from './snapshot-format.ts';

/** Describes a file below `folder`. The file must not be open in DuckDB: reading it would drop DuckDB's lock. */
export async function describeFile(folder: string, path: string, rows: number | null): Promise<ManifestFile> {
  const file = join(folder, path);
  const hash = createHash('sha256');
  await pipeStreams(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return { path, bytes: (await stat(file)).size, rows, sha256: hash.digest('hex') };
}
