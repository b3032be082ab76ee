/** Provides the report, dictionary, tables and metrics of the snapshot that is served. */

import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quoteIdentifier } from '../runtime/database.ts';
import { readPublishedDictionary } from '../warehouse/read-dictionary.ts';
import { systemCode } from '../errors.ts';
import { displayText } from '../snapshots/query/query-result.ts';
import { runQuery } from '../snapshots/query/run-query.ts';
import { writeArrow } from '../snapshots/query/write-arrow.ts';
import { writeCsv } from '../snapshots/query/write-result.ts';
import { createRunsReader } from '../warehouse/runs-log.ts';
import type { Clock } from '../runtime/context.ts';
import { renderMetrics } from '../notify/metrics.ts';
import { summarizeRuns } from '../snapshots/freshness.ts';
import { previewRows, tablesAtOnce } from './limits.ts';
import { pacedStream } from './paced-stream.ts';
import type { ServedSite, TablePreview } from './served-site.ts';
import { parquetPath, reportFile, sampleNotice } from '../warehouse/snapshot-format.ts';
import { requireDatabase, type Snapshot } from '../warehouse/warehouse.ts';

const tableMemory = 256_000_000;

const types = {
  parquet: 'application/vnd.apache.parquet',
  csv: 'text/csv; charset=utf-8',
  arrow: 'application/vnd.apache.arrow.file',
} as const;

export function describeSite(warehouse: string, served: () => Snapshot, clock: Clock): ServedSite {
  let inProgress = 0;
  const readLines = createRunsReader(warehouse);
  return {
    snapshot() {
      const { id, manifest } = served();
      return {
        id,
        readAt: new Date(manifest.created_at),
        source: manifest.source,
        sampleNotice: sampleNotice(manifest),
      };
    },
    // These need no key, so repeated requests must not cause work or copies.
    report: oncePerSnapshot(served, ({ folder }) => readFile(join(folder, reportFile)).catch(nullIfMissing)),
    dictionary: oncePerSnapshot(served, async (snapshot) => readPublishedDictionary(await requireDatabase(snapshot))),
    previews: oncePerSnapshot(served, previewTables),
    metrics: async () => renderMetrics(summarizeRuns(await readLines())),
    async table(name, format) {
      const snapshot = served();
      const { folder, manifest } = snapshot;
      const file = manifest.files.find(({ path }) => path === parquetPath(name));
      if (file === undefined) return null;
      const etag = `${file.sha256.slice(0, 22)}-${format}`;
      if (format === 'parquet')
        return {
          type: types.parquet,
          etag,
          bytes: file.bytes,
          open: async () => createReadStream(join(folder, file.path), { end: file.bytes - 1 }),
        };
      const writeTable = format === 'csv' ? writeCsv : writeArrow;
      return {
        type: types[format],
        etag,
        bytes: null,
        async open() {
          const database = await requireDatabase(snapshot);
          if (inProgress >= tablesAtOnce) return null;
          inProgress += 1;
          return pacedStream(
            clock,
            (write) =>
              runQuery(database, `FROM ${quoteIdentifier(name)}`, (result) => writeTable(result, write), {
                memory: tableMemory,
                rows: file.rows ?? undefined,
              }),
            () => (inProgress -= 1),
          );
        },
      };
    },
  };
}

/** Reads the first rows of each table, then each view, sorted by name. Row counts come from the manifest. */
async function previewTables(snapshot: Snapshot): Promise<TablePreview[]> {
  const file = await requireDatabase(snapshot);
  const previews: TablePreview[] = [];
  for (const { name, kind, meaning } of await readPublishedDictionary(file)) {
    const rows = snapshot.manifest.files.find(({ path }) => path === parquetPath(name))?.rows;
    if (rows === undefined || rows === null) continue;
    const sql = `FROM ${quoteIdentifier(name)} LIMIT ${previewRows}`;
    const read = await runQuery(
      file,
      sql,
      async ({ columns, groups }) => {
        const first: string[][] = [];
        for await (const group of groups()) first.push(...group.map((row) => row.map(displayText)));
        return { columns, first };
      },
      { memory: tableMemory },
    );
    previews.push({ name, kind, meaning, rows, ...read });
  }
  return previews;
}

function oncePerSnapshot<Value>(
  served: () => Snapshot,
  make: (snapshot: Snapshot) => Promise<Value>,
): () => Promise<Value> {
  let kept: { readonly id: string; readonly value: Promise<Value> } | null = null;
  return () => {
    const snapshot = served();
    if (kept?.id !== snapshot.id) {
      const value = make(snapshot);
      kept = { id: snapshot.id, value };
      value.catch(() => (kept = null));
    }
    return kept.value;
  };
}

function nullIfMissing(error: unknown): null {
  if (systemCode(error) === 'ENOENT') return null;
  throw error;
}
