/** Reads the newest rows of the previous snapshot, where the windows of an incremental sync begin. */

import { join } from 'node:path';
import {
  type KnownRows,
  type RequestedWindow,
  type Window,
  windowsOfRows,
  windowsOfTimes,
} from '../extract/windows.ts';
import { cursorSql, inUnits, keySql, precisionOf, writeCursor } from '../kinds/cursor.ts';
import type { WindowBound } from '../load/changes.ts';
import type { CarryOver } from '../load/previous-tables.ts';
import type { AnyPipeline, Incremental } from '../project/declaration.ts';
import { durationOf } from '../project/duration.ts';
import { datasetFingerprint } from '../publish/manifest.ts';
import type { Run } from '../publish/run.ts';
import { quoteIdentifier } from '../runtime/database.ts';
import { openPublished } from '../warehouse/open-published.ts';
import { databaseFile } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** Rows that are kept in memory to compare a window with. A window that must have more of them reads the whole list. */
const maxKnown = 20_000;

/** Returns the windows to try, by table, each earlier than the one before. */
export async function readWindows(run: Run): Promise<ReadonlyMap<string, readonly RequestedWindow[]>> {
  const windows = new Map<string, readonly RequestedWindow[]>();
  for (const pipeline of run.requested) {
    const scope = run.scopes.get(pipeline.table);
    if (scope === undefined || !('window' in scope)) continue;
    const { cursor, parameter } = pipeline.incremental!;
    const name = parameter ?? (pipeline.paging.by === 'after' ? pipeline.paging.parameter : '');
    const known = await readKnownWindows(run, run.previous!, pipeline);
    windows.set(
      pipeline.table,
      known.map((window) => ({ ...window, name, since: writeCursor(pipeline.columns[cursor]!, window.above) })),
    );
  }
  return windows;
}

/** Returns, by table, where a window would begin, if this run read the whole list. */
export async function readWindowBounds(run: Run, kept: CarryOver): Promise<Map<string, WindowBound>> {
  const bounds = new Map<string, WindowBound>();
  const { previous } = run;
  for (const pipeline of previous === null ? [] : run.requested) {
    const { incremental, table } = pipeline;
    const before = previous!.manifest.datasets[table];
    if (incremental === undefined || before === undefined || kept.has(table)) continue;
    // Rows of another declaration can't be compared.
    if (before.rows === 0 || before.definition !== datasetFingerprint(pipeline)) continue;
    const [first] = await readKnownWindows(run, previous!, pipeline);
    if (first !== undefined) bounds.set(table, { cursor: incremental.cursor, from: first.from });
  }
  return bounds;
}

async function readKnownWindows({ signal }: Run, snapshot: Snapshot, pipeline: AnyPipeline): Promise<Window[]> {
  const incremental = pipeline.incremental!;
  const { manifest, folder } = snapshot;
  const { lookback } = incremental;
  const column = pipeline.columns[incremental.cursor]!;
  const known = await readKnownRows(join(folder, databaseFile), pipeline, incremental, signal);
  if (lookback === undefined) return [...windowsOfRows(known)];
  const readAt = manifest.datasets[pipeline.table]!.partitions.map(({ read_at }) => Date.parse(read_at));
  const latest = inUnits(column, Math.max(...readAt));
  return [
    ...windowsOfTimes(known, {
      latest,
      lookback: inUnits(column, durationOf(lookback)),
      precision: precisionOf(column),
    }),
  ];
}

async function readKnownRows(
  file: string,
  pipeline: AnyPipeline,
  { cursor }: Incremental,
  signal: AbortSignal,
): Promise<KnownRows> {
  const database = await openPublished(file, { signal });
  try {
    const value = cursorSql(pipeline.columns[cursor]!, cursor, 't');
    const rows = await database.rows<{ key: string; cursor: bigint }>(
      `SELECT ${keySql(pipeline)} AS key, ${value} AS cursor FROM ${quoteIdentifier(pipeline.table)} t WHERE ${quoteIdentifier(cursor)} IS NOT NULL ORDER BY cursor DESC LIMIT ${maxKnown + 1}`,
    );
    return { newest: rows.slice(0, maxKnown), areAll: rows.length <= maxKnown };
  } finally {
    database.close();
  }
}
