/** The snapshot before: whether it is damaged, what a run carries over from it, and where its tables can be read. */

import { basename, dirname, join } from 'node:path';
import { openDatabase } from '../duckdb/database.ts';
import { verifySnapshot } from '../publish/verify-snapshot.ts';
import { findAltered } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest } from '../warehouse/snapshot-format.ts';
import { readSnapshot, recoveryHint, type Snapshot } from '../warehouse/warehouse.ts';
import { isRekapError, RekapError } from '../errors.ts';
import { adviseWholeSync, type CarryOver, type PreviousTables } from '../load/previous-tables.ts';
import { definitionFingerprint, schemaFingerprint } from './describe-snapshot.ts';
import type { Run } from './options.ts';

/** What is wrong with it, as sentences; none where every byte is as it was published, and its tables agree as far as they can be read. */
export async function findDamage({ folder, manifest }: Snapshot): Promise<readonly string[]> {
  try {
    return await verifySnapshot(folder, manifest);
  } catch (error) {
    if (isRekapError(error, 'database-held')) return [];
    throw error;
  }
}

/** What this run does not ask for is taken over from the snapshot before. */
export async function planCarryOver({ asked, options, previous, project, warn }: Run): Promise<CarryOver | null> {
  const isPartial = options.partitions !== null || asked.length < project.pipelines.length;
  if (!isPartial) return null;
  if (previous === null) {
    warn('There is no previous snapshot. The new snapshot will contain only the requested partitions and datasets.');
    return null;
  }
  if (previous.manifest.source !== options.source) {
    throw new RekapError(
      'source-mismatch',
      `Snapshot ${previous.id} contains figures from ${previous.manifest.source}. Carrying them over would mix them with figures from ${options.source}.`,
      adviseWholeSync(project),
    );
  }
  const problems = await findDamage(previous);
  if (problems.length > 0) {
    throw new RekapError(
      'warehouse',
      `Nothing can be carried over from snapshot ${previous.id}, because it is damaged: ${problems.join('; ')}.`,
      `${adviseWholeSync(project)} ${recoveryHint(previous.id, previous.manifest.run)}`,
    );
  }
  const replaced = new Map<string, readonly string[] | null>();
  for (const pipeline of project.pipelines) {
    const before = previous.manifest.datasets[pipeline.table];
    if (before !== undefined && before.schema_fingerprint !== schemaFingerprint(pipeline)) {
      throw new RekapError(
        'usage',
        `The columns of the table ${pipeline.table} differ from the previous snapshot, so nothing can be carried over.`,
        adviseWholeSync(project),
      );
    }
    replaced.set(pipeline.table, before === undefined ? null : asked.includes(pipeline) ? options.partitions : []);
  }
  if (previous.manifest.definition !== definitionFingerprint(project)) {
    warn(
      `Snapshot ${previous.id} was built with other definitions of tables and checks, such as by another release. Rows carried over from it keep the results of the old row checks. To check all rows again: ${adviseWholeSync(project)}`,
    );
  }
  return { replaced };
}

/**
 * The tables of the snapshot before, whose history goes on in the new ones. One that is damaged as a whole must not keep a sync from making a
 * new one, unless rows are carried over from it.
 */
export async function readPrevious(
  { previous, project, warn }: Run,
  isCarriedOver: boolean,
): Promise<PreviousTables | null> {
  if (previous === null) return null;
  const { tables, why } = await findPrevious(previous);
  if (tables === null && isCarriedOver)
    throw new RekapError(
      'warehouse',
      `Nothing can be carried over from snapshot ${previous.id}. ${why}`,
      adviseWholeSync(project),
    );
  if (why !== null) {
    const message =
      tables === null
        ? `Snapshot ${previous.id} is damaged. ${why} A new history of snapshots and changes starts.`
        : `Snapshot ${previous.id} is read from its Parquet files. ${why}`;
    warn(message);
  }
  return tables;
}

/** A database that is damaged though its hash is the manifest's shows only when it is read. */
export async function blamePrevious({ previous }: Run, error: unknown): Promise<unknown> {
  if (previous === null || error instanceof RekapError) return error;
  const problems = await verifySnapshot(previous.folder, previous.manifest);
  if (problems.length === 0) return error;
  return new RekapError(
    'warehouse',
    `The history cannot continue from snapshot ${previous.id}, because it is damaged: ${problems.join('; ')}.`,
    recoveryHint(previous.id, previous.manifest.run),
    { cause: error },
  );
}

interface FoundPrevious {
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
async function findPrevious({ folder, manifest }: Snapshot): Promise<FoundPrevious> {
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
  const why = held?.message ?? `Its DuckDB file is not the published one: ${altered}.`;
  if (!isWhole) return { tables: null, why };
  const files = new Map(parquet.map(({ path }) => [basename(path, '.parquet'), join(folder, path)]));
  return {
    tables: { kind: 'parquet', manifest, files, earlier },
    why: lacksLog
      ? `${why} The table snapshots_log now starts with this snapshot, because the earlier log cannot be read.`
      : why,
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
