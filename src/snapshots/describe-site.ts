/** What the service shows of a warehouse beside its records: report, dictionary and whole tables, of the snapshot that is served. */

import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { once } from 'node:events';
import pLimit from 'p-limit';
import { openDatabase, quoteIdentifier } from '../duckdb/database.ts';
import { readDictionary } from '../duckdb/dictionary.ts';
import { systemCode } from '../errors.ts';
import { runQuery } from '../query/run-query.ts';
import { writeArrow } from '../query/write-arrow.ts';
import { writeCsv } from '../query/write-result.ts';
import { followRuns } from '../publish/runs-log.ts';
import { renderMetrics } from './metrics.ts';
import { addRun, noRuns } from './runs-summary.ts';
import type { ServedSite, ServedTable } from '../serve/served-site.ts';
import { parquetPath, reportFile } from '../warehouse/snapshot-format.ts';
import { requireDatabase, type Snapshot } from '../warehouse/warehouse.ts';

/** Bytes that making one table may take, and how many are made at once: the service has other work. */
const memoryOfTable = 256_000_000;
const most = pLimit(2);

const types = {
  parquet: 'application/vnd.apache.parquet',
  csv: 'text/csv; charset=utf-8',
  arrow: 'application/vnd.apache.arrow.file',
} as const;

/**
 * @param warehouse Whose log of runs the metrics are made from.
 * @param served Gives the snapshot whose records are served now.
 */
export function describeSite(warehouse: string, served: () => Snapshot): ServedSite {
  const readSummary = followRuns(warehouse, noRuns, addRun);
  return {
    snapshot() {
      const { id, manifest } = served();
      return { id, readAt: new Date(manifest.created_at), source: manifest.source };
    },
    // Asked for without a key: whoever asks often must not make work, nor copies.
    report: oncePerSnapshot(served, ({ folder }) => readFile(join(folder, reportFile)).catch(nullIfMissing)),
    dictionary: oncePerSnapshot(served, async (snapshot) => {
      const database = await openDatabase(await requireDatabase(snapshot), { readOnly: true });
      try {
        return await readDictionary(database);
      } finally {
        database.close();
      }
    }),
    metrics: async () => renderMetrics(await readSummary()),
    async table(name, format) {
      const snapshot = served();
      const { folder, manifest } = snapshot;
      const file = manifest.files.find(({ path }) => path === parquetPath(name));
      if (file === undefined) return null;
      const open: ServedTable['open'] =
        format === 'parquet'
          ? async () => createReadStream(join(folder, file.path))
          : async () => makeTable(await requireDatabase(snapshot), name, format);
      return { type: types[format], etag: `${file.sha256.slice(0, 22)}-${format}`, open };
    },
  };
}

/** Makes something of a snapshot when it is first asked for, and keeps it until another snapshot is served. */
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
      // What failed once may succeed the next time.
      value.catch(() => (kept = null));
    }
    return kept.value;
  };
}

function nullIfMissing(error: unknown): null {
  if (systemCode(error) === 'ENOENT') return null;
  throw error;
}

/** The table as a stream; it is made as fast as the client takes it. */
function makeTable(database: string, name: string, format: 'csv' | 'arrow'): Readable {
  const stream = new PassThrough();
  const write = async (piece: string | Uint8Array): Promise<void> => {
    if (stream.destroyed) throw new Error('the client has gone');
    if (!stream.write(piece)) await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
  };
  const making = most(() =>
    runQuery(
      database,
      `FROM ${quoteIdentifier(name)}`,
      (result) => (format === 'csv' ? writeCsv : writeArrow)(result, write),
      {
        memory: memoryOfTable,
      },
    ),
  );
  making.then(
    () => stream.end(),
    (error: unknown) => stream.destroy(error as Error),
  );
  return stream;
}
