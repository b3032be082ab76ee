/** Checks the previous snapshot for damage. */

import { join } from 'node:path';
import { verifySnapshot } from './verify-snapshot.ts';
import { findAltered } from '../warehouse/check-files.ts';
import { databaseFile } from '../warehouse/snapshot-format.ts';
import { recoveryHint, type Snapshot } from '../warehouse/warehouse.ts';
import { isRekapError, RekapError } from '../errors.ts';
import type { Run } from './run.ts';

/** Returns what is damaged, as sentences. A database that another program holds doesn't count as damaged. */
export async function findDamage({ folder, manifest }: Snapshot, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return await verifySnapshot(folder, manifest, { signal });
  } catch (error) {
    if (isRekapError(error, 'database-held')) return [];
    throw error;
  }
}

/**
 * Returns the path of the previous snapshot's DuckDB file, or null to start a new history.
 * @throws `warehouse` if the file was changed and the user doesn't accept losing the history.
 */
export async function findPrevious({ previous, options, warn }: Run): Promise<string | null> {
  if (previous === null) return null;
  const { folder, manifest, id } = previous;
  const [altered] = await findAltered(
    folder,
    manifest.files.filter(({ path }) => path === databaseFile),
  );
  if (altered === undefined) return join(folder, databaseFile);
  const message = `Snapshot ${id} is damaged. Its DuckDB file is not the published one: ${altered.why}.`;
  if (!options.acceptChanges)
    throw new RekapError(
      'warehouse',
      message,
      `${recoveryHint(id)} To start a new history of snapshots and changes, add --accept-changes.`,
    );
  warn(`${message} A new history of snapshots and changes starts.`);
  return null;
}

/** Returns a new error if the previous snapshot is damaged although its hashes match. Such damage shows only when reading. */
export async function explainByPrevious({ previous, signal }: Run, error: unknown): Promise<unknown> {
  if (previous === null || error instanceof RekapError) return error;
  const problems = await verifySnapshot(previous.folder, previous.manifest, { signal });
  if (problems.length === 0) return error;
  return new RekapError(
    'warehouse',
    `The history cannot continue from snapshot ${previous.id}, because it is damaged: ${problems.join('; ')}.`,
    recoveryHint(previous.id),
    { cause: error },
  );
}
