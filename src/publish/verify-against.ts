/** Verifies a snapshot against its own declaration: its files, tables and views. */

import { declaredRelations } from '../load/schema.ts';
import { verifySnapshot } from './verify-snapshot.ts';
import { definitionFingerprint } from './describe-snapshot.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** Returns all problems as sentences. Throws the errors of `verifySnapshot`. */
export async function verifyAgainst({ folder, manifest }: Pick<Snapshot, 'folder' | 'manifest'>): Promise<string[]> {
  // Another release may create other tables from the same declaration.
  const isOurs = manifest.definition === definitionFingerprint(manifest.project);
  return verifySnapshot(folder, manifest, isOurs ? await declaredRelations(manifest.project) : undefined);
}
