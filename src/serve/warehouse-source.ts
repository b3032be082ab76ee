/** Serves the current snapshot of a warehouse and follows it when `current` comes to point to another one. */

import { lstat } from 'node:fs/promises';
import { openDatabase, tableColumns, type Database } from '../duckdb/database.ts';
import { isRekapError, messageOf, RekapError } from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { warehousePaths, type Manifest } from '../warehouse/snapshot-format.ts';
import { readCurrentId, requireCurrent, requireDatabase } from '../warehouse/warehouse.ts';
import { restoreRecords } from './restore-records.ts';
import { buildRecordSet, fixedSource, type RecordSet, type RecordSource } from './record-source.ts';

export interface FollowOptions {
  /** Milliseconds from a clock that never goes back. */
  readonly monotonic?: () => number;
  /** Told when a new snapshot could not be read; the one before is served on, and the next look tries again. */
  readonly onFailure?: (error: unknown) => void;
}

/** Milliseconds between two looks whether `current` has changed. No request waits for one, and none has to come for it. */
const lookInterval = 1_000;
/** After failures in a row ever less often, for each look reads much and is told of; this often at least. */
const longestInterval = 60_000;

/** A snapshot in memory, all datasets of one moment together. */
interface Loaded {
  readonly id: string;
  readonly source: RecordSource;
}

/**
 * Reads the snapshot that `current` points to into memory and closes its file. When `current` has come to point elsewhere, the new
 * snapshot is read in the background; the old one is served until all of the new one is ready.
 * A dataset that the snapshot was made without has no records.
 *
 * @throws `snapshot-not-found` or RekapError where there is no usable current snapshot, RekapError where it
 *   does not hold the pipelines' tables.
 */
export async function openWarehouseSource(
  warehouse: string,
  pipelines: readonly AnyPipeline[],
  { monotonic = () => performance.now(), onFailure = () => {} }: FollowOptions = {},
): Promise<RecordSource> {
  let loaded = await loadCurrent(warehouse, pipelines);
  let lookedAt = monotonic();
  let interval = lookInterval;
  let closed = false;
  let looking: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    try {
      if ((await readCurrentId(warehouse)) !== loaded.id) {
        const next = await loadCurrent(warehouse, pipelines);
        if (!closed) loaded = next;
      }
      interval = lookInterval;
    } catch (error) {
      interval = Math.min(2 * interval, longestInterval);
      onFailure(error);
    } finally {
      looking = null;
    }
  };

  const lookIfDue = (): void => {
    const now = monotonic();
    // A beat that comes a little early is the one that is meant.
    if (looking !== null || now - lookedAt < interval - lookInterval / 2) return;
    lookedAt = now;
    looking = look();
  };
  // It keeps no process alive.
  const beat = setInterval(lookIfDue, lookInterval).unref();

  return {
    current: (pipeline) => loaded.source.current(pipeline),
    async close() {
      closed = true;
      clearInterval(beat);
      await looking;
    },
  };
}

async function loadCurrent(warehouse: string, pipelines: readonly AnyPipeline[]): Promise<Loaded> {
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
        const records = (await wasNeverRead(database, manifest, pipeline))
          ? []
          : await restoreRecords(database, pipeline);
        sets.set(pipeline.table, buildRecordSet(records, lastModified));
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

/** Whether a snapshot is from before the dataset was declared: it is served without records then. A table that is merely missing is damage. */
async function wasNeverRead(database: Database, { datasets }: Manifest, { table }: AnyPipeline): Promise<boolean> {
  return datasets[table] === undefined && (await tableColumns(database, null, table)).length === 0;
}
