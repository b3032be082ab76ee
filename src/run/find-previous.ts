/** Finds what has become of the snapshot before, and where its tables can be read: a run goes on from them, whoever holds its DuckDB file. */

import { basename, dirname, join } from 'node:path';
import { findAltered } from '../warehouse/check-files.ts';
import { openDatabase } from '../duckdb/database.ts';
import { isRekapError, RekapError } from '../errors.ts';
import type { PreviousTables } from '../load/previous-tables.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { verifySnapshot } from '../publish/verify-snapshot.ts';
import { databaseFile, type Manifest } from '../warehouse/snapshot-format.ts';
import { readSnapshot, type Snapshot } from '../warehouse/warehouse.ts';

/** What is wrong with it, as sentences; none where every byte is as it was published, and its tables agree as far as they can be read. */
export async function findDamage(
  { folder, manifest }: Snapshot,
  pipelines: readonly AnyPipeline[],
): Promise<readonly string[]> {
  try {
    return await verifySnapshot(folder, manifest, pipelines);
  } catch (error) {
    if (isRekapError(error, 'database-held')) return [];
    throw error;
  }
}

/** What was found. */
export interface FoundPrevious {
  /** Null where neither the DuckDB file nor the Parquet files are what was published. */
  readonly tables: PreviousTables | null;
  /** Why the DuckDB file is of no use, as sentences; null where it is. */
  readonly why: string | null;
}

/**
 * The Parquet files hold the same but for the log of snapshots, which the manifest and the snapshot before that one know. They take longer to
 * read, and are looked at only where the DuckDB file cannot be used.
 *
 * @throws `database-held` where another program writes to the DuckDB file, and not all of it can be had elsewhere.
 */
export async function findPrevious({ folder, manifest }: Snapshot): Promise<FoundPrevious> {
  const file = join(folder, databaseFile);
  const altered = await alteredDatabase(folder, manifest);
  const held = altered === null ? await findHolder(file) : null;
  if (altered === null && held === null) return { tables: { kind: 'database', file }, why: null };
  const parquet = manifest.files.filter(({ path }) => path.endsWith('.parquet'));
  const isWhole = (await findAltered(folder, parquet)).length === 0;
  const earlier = manifest.previous === null ? null : await findLog(dirname(dirname(folder)), manifest.previous);
  const lacksLog = manifest.previous !== null && earlier === null;
  // What is merely held can be had whole later on.
  if (held !== null && (!isWhole || lacksLog)) throw held;
  const why = held?.message ?? `Its DuckDB file is not the one that was published: ${altered}.`;
  if (!isWhole) return { tables: null, why };
  const files = new Map(parquet.map(({ path }) => [basename(path, '.parquet'), join(folder, path)]));
  return {
    tables: { kind: 'parquet', manifest, files, earlier },
    why: lacksLog ? `${why} The log of snapshots begins with it, for the one before it cannot be read.` : why,
  };
}

/** Why the DuckDB file is not what was published; null where it is. */
async function alteredDatabase(folder: string, { files }: Manifest): Promise<string | null> {
  const [altered] = await findAltered(
    folder,
    files.filter(({ path }) => path === databaseFile),
  );
  return altered?.why ?? null;
}

/** What keeps the file from being read; null where nothing does. That it is damaged, though its hash is right, shows when it is read. */
async function findHolder(file: string): Promise<RekapError | null> {
  try {
    (await openDatabase(file, { readOnly: true })).close();
    return null;
  } catch (error) {
    return isRekapError(error, 'database-held') ? error : null;
  }
}

/** The DuckDB file of snapshot `id`, where it is there, as it was published, and can be read. */
async function findLog(warehouse: string, id: string): Promise<string | null> {
  try {
    const { folder, manifest } = await readSnapshot(warehouse, id);
    const file = join(folder, databaseFile);
    const isUsable = (await alteredDatabase(folder, manifest)) === null && (await findHolder(file)) === null;
    return isUsable ? file : null;
  } catch (error) {
    if (error instanceof RekapError) return null;
    throw error;
  }
}
