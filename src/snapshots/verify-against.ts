/** Verifies a snapshot against the project at hand: its files, tables and views. */

import { declaredRelations } from '../load/schema.ts';
import type { Project } from '../pipeline.ts';
import { verifySnapshot } from '../publish/verify-snapshot.ts';
import { definitionFingerprint } from '../run/describe-snapshot.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** Returns everything that is wrong, as sentences. Throws as `verifySnapshot` does. */
export async function verifyAgainst(
  project: Project,
  { folder, manifest }: Pick<Snapshot, 'folder' | 'manifest'>,
): Promise<string[]> {
  // The views of another release are not known here. They are read in a sealed database, so that they reach nothing but their tables.
  const isOwn = manifest.definition === definitionFingerprint(project);
  return verifySnapshot(folder, manifest, project.pipelines, isOwn ? await declaredRelations(project) : undefined);
}
