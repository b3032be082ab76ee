/** Serves the current snapshot of a warehouse and follows it when `current` comes to point to another one. */

import { lstat } from 'node:fs/promises';
import { openDatabase, tableColumns } from '../duckdb/database.ts';
import { isRekapError, messageOf, RekapError } from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { readCurrentId, requireCurrent, requireDatabase } from '../warehouse/warehouse.ts';
import { restoreRecords } from './restore-records.ts';
import { buildRecordSet, fixedSource, type RecordSet, type RecordSource } from './record-source.ts';

export interface FollowOptions {
  /** Told when a new snapshot could not be read; the one before is served on, and the next look tries again. */
  readonly onFailure?: (error: unknown) => void;
}

/** Milliseconds between two looks whether `current` has changed. No request waits for a look. */
const lookInterval = 1_000;
/** After each failure twice as many, up to this, because each look reads much and is told of. */
const longestInterval = 60_000;

/**
 * Reads the snapshot that `current` points to into memory and closes its file. When `current` has come to point elsewhere,
 * it reads the new snapshot in the background and serves the old one until all of the new one is ready.
 * A dataset that the snapshot was made without has no records.
 *
 * @throws `snapshot-not-found` or `warehouse` where there is no usable current snapshot, `served-data` where it does not
 *   hold the pipelines' tables.
 */
export async function openWarehouseSource(
  warehouse: string,
  pipelines: readonly AnyPipeline[],
  { onFailure = () => {} }: FollowOptions = {},
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
): Promise<{ readonly id: string; readonly source: RecordSource }> {
  const snapshot = await requireCurrent(warehouse);
  const { id, manifest } = snapshot;
  // The link's own time, not the snapshot's: after a rollback the older snapshot is what has changed for a client.
  const lastModified = (await lstat(warehousePaths(warehouse).current)).mtime;
  // The time of another link would make the next change look like none.
  if ((await readCurrentId(warehouse)) !== id) return loadCurrent(warehouse, pipelines);
  const sets = new Map<string, RecordSet>();
  const file = await requireDatabase(snapshot);
  try {
    const database = await openDatabase(file, { readOnly: true });
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
      `"rekap snapshots verify" tells whether it is damaged; a new sync writes the tables ${pipelines.map(({ table }) => table).join(' and ')}.`,
      { cause: error },
    );
  }
  return { id, source: fixedSource(sets) };
}
