/** Verifies a snapshot against its own declaration: its files, tables and views. */

import { declaredRelations } from '../load/schema.ts';
import { verifySnapshot } from './verify-snapshot.ts';
import { definitionFingerprint } from './describe-snapshot.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** Returns everything that is wrong, as sentences. Throws as `verifySnapshot` does. */
export async function verifyAgainst({ folder, manifest }: Pick<Snapshot, 'folder' | 'manifest'>): Promise<string[]> {
  // Another release may make other tables of the same declaration. Its views are read in a sealed database, so that they reach nothing else.
  const isOurs = manifest.definition === definitionFingerprint(manifest.project);
  return verifySnapshot(folder, manifest, isOurs ? await declaredRelations(manifest.project) : undefined);
}
