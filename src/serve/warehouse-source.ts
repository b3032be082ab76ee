/** Serves the current snapshot of a warehouse: turns its tables back into the source's records, and follows `current`. */

import { lstat } from 'node:fs/promises';
import { columnList, type Database, quoteIdentifier, tableColumns } from '../runtime/database.ts';
import { openPublished } from '../warehouse/open-published.ts';
import { isRekapError, messageOf, RekapError } from '../errors.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { fieldPath, writeMember } from '../project/field-path.ts';
import {
  buildRecordSet,
  fixedSource,
  readRecord,
  type RecordSet,
  type RecordSource,
  type ServedRecord,
} from './record-source.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { readCurrentId, requireCurrent, requireDatabase, type Snapshot } from '../warehouse/warehouse.ts';

/** Milliseconds between two looks whether `current` has changed. No request waits for a look. */
const lookInterval = 1_000;
/** After each failure twice as many, up to this, because each look reads much and is told of. */
const longestInterval = 60_000;

/**
 * Reads the snapshot that `current` points to into memory and closes its file. When `current` has come to point elsewhere,
 * it reads the new snapshot in the background and serves the old one until all of the new one is ready.
 * A dataset that the snapshot was made without has no records. `onFailure` is told when a new snapshot could not be read;
 * the one before is served on, and the next look tries again.
 *
 * @throws `snapshot-not-found` or `warehouse` where there is no usable current snapshot, `served-data` where it does not
 *   hold the pipelines' tables.
 */
export async function openWarehouseSource(
  warehouse: string,
  pipelines: readonly AnyPipeline[],
  { onFailure = () => {} }: { readonly onFailure?: (error: unknown) => void } = {},
): Promise<RecordSource> {
  let loaded = await loadCurrent(warehouse, pipelines);
  let interval = lookInterval;
  let looking: Promise<void> | undefined;
  let closed = false;

  async function look(): Promise<void> {
    try {
      if ((await readCurrentId(warehouse)) !== loaded.id) loaded = await loadCurrent(warehouse, pipelines);
      interval = lookInterval;
    } catch (error) {
      interval = Math.min(2 * interval, longestInterval);
      onFailure(error);
    }
    if (!closed) timer = lookLater();
  }

  function lookLater(): NodeJS.Timeout {
    // It keeps no process alive.
    return setTimeout(() => void (looking = look()), interval).unref();
  }

  let timer = lookLater();
  return {
    current: (pipeline) => loaded.source.current(pipeline),
    snapshot: () => loaded.snapshot,
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

/** The current snapshot in memory, all datasets of one moment together, and its id. */
async function loadCurrent(
  warehouse: string,
  pipelines: readonly AnyPipeline[],
): Promise<{ readonly id: string; readonly snapshot: Snapshot; readonly source: RecordSource }> {
  const snapshot = await requireCurrent(warehouse);
  const { id, manifest } = snapshot;
  // The link's own time, not the snapshot's: after a rollback the older snapshot is what has changed for a client.
  const lastModified = (await lstat(warehousePaths(warehouse).current)).mtime;
  // The time of another link would make the next change look like none.
  if ((await readCurrentId(warehouse)) !== id) return loadCurrent(warehouse, pipelines);
  const sets = new Map<string, RecordSet>();
  const file = await requireDatabase(snapshot);
  try {
    const database = await openPublished(file);
    try {
      for (const pipeline of pipelines) {
        const { table } = pipeline;
        // A snapshot from before the dataset was declared has no records of it. Where the manifest names it, a missing table is damage.
        const wasNeverRead =
          manifest.datasets[table] === undefined && (await tableColumns(database, null, table)).length === 0;
        const records = wasNeverRead ? [] : await restoreRecords(database, pipeline);
        sets.set(table, buildRecordSet(records, lastModified));
      }
    } finally {
      database.close();
    }
  } catch (error) {
    if (isRekapError(error, 'database-held')) throw error;
    throw new RekapError(
      'served-data',
      `${file} cannot be served: ${messageOf(error)}`,
      `To check the snapshot for damage, run "rekap snapshots verify". A new sync creates the tables ${pipelines.map(({ table }) => table).join(' and ')} again.`,
      { cause: error },
    );
  }
  return { id, snapshot, source: fixedSource(sets) };
}

/** A value of the tables as DuckDB's client gives it: INTEGER as a number, text as a string, NULL as null. */
type Row = Readonly<Record<string, number | bigint | string | null>>;

/**
 * The records of one dataset, from which a sync gives the same tables: the table's rows in the order of its key, then what is
 * in quarantine, as it was received.
 * It restores every field under the source's name, every value as a string, and for each NULL what `violations` says of it.
 * The tables do not keep leading zeros of a count, nor whether a malformed value was a string; neither changes what a sync
 * makes of the record.
 */
async function restoreRecords(database: Database, pipeline: AnyPipeline): Promise<ServedRecord[]> {
  const lost = await readLostValues(database, pipeline);
  const columns = Object.entries(pipeline.columns);
  const rows = await database.rows<Row>(
    `SELECT ${columnList(Object.keys(pipeline.columns))} FROM ${quoteIdentifier(pipeline.table)} ORDER BY ${columnList(pipeline.key)}`,
  );
  const texts = rows.map((row) => {
    const key = keyOf(row, pipeline);
    const record = {};
    for (const [name, { field }] of columns) {
      const value = row[name] ?? null;
      const restored = value === null ? lost.get(`${key} ${name}`) : String(value);
      if (restored !== undefined) writeMember(record, fieldPath(field), restored);
    }
    return JSON.stringify(record);
  });
  // In the list of a partition, records without a place in the table come after the rows they may repeat.
  const quarantined = await database.rows<{ record: string }>(
    'SELECT record FROM quarantine WHERE dataset = $1 ORDER BY rowid',
    [pipeline.table],
  );
  return [...texts, ...quarantined.map(({ record }) => record)].map((text) => readRecord(text, pipeline));
}

/** What stood where the table has NULL, by the row's key and the column. A field without an entry was left out. */
async function readLostValues(database: Database, pipeline: AnyPipeline): Promise<Map<string, Row[string]>> {
  const rows = await database.rows<Row>(
    `SELECT ${columnList(pipeline.key)}, column_name AS lost_column,
            CASE check_name WHEN 'malformed' THEN raw_value WHEN 'empty' THEN '' END AS lost_value
     FROM violations WHERE dataset = $1 AND check_name IN ('null', 'empty', 'malformed')`,
    [pipeline.table],
  );
  return new Map(rows.map((row) => [`${keyOf(row, pipeline)} ${row['lost_column']}`, row['lost_value'] ?? null]));
}

function keyOf(row: Row, { key }: AnyPipeline): string {
  return JSON.stringify(key.map((name) => String(row[name] ?? null)));
}
