/** Length and SHA-256 of a file, as manifests name them. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ManifestFile } from './snapshot-format.ts';
import { withFile } from './with-file.ts';

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
