/** Verifies a snapshot against its own declaration: its files, tables and views. */

import { declaredDefinitions } from '../load/try-sql.ts';
import { verifySnapshot } from './verify-snapshot.ts';
import { definitionFingerprint } from './describe-snapshot.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** Returns all problems as sentences. Throws the errors of `verifySnapshot`. */
export async function verifyAgainst(
  { folder, manifest }: Pick<Snapshot, 'folder' | 'manifest'>,
  signal?: AbortSignal,
): Promise<string[]> {
  // Another release may create other tables from the same declaration.
  const isOurs = manifest.definition === definitionFingerprint(manifest.project);
  const declared = isOurs ? await declaredDefinitions(manifest.project, signal) : undefined;
  return verifySnapshot(folder, manifest, { declared, signal });
}
