/** Refuses to share a damaged snapshot, and to replace figures of another source or newer figures. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ErrorCode, RekapError } from '../errors.ts';
import { checkManifestFile, hashesAgree } from '../publish/verify-snapshot.ts';
import { damagedError } from '../snapshots/manage-snapshots.ts';
import { manifestFile } from '../warehouse/snapshot-format.ts';
import { listSnapshotIds, recoveryHint, type Snapshot } from '../warehouse/warehouse.ts';

/**
 * Returns the text of a snapshot's manifest.
 * @param done What doesn't happen to a damaged snapshot, such as "pushed".
 * @throws `verification` if a file doesn't have its recorded SHA-256.
 */
export async function readIntactManifest(snapshot: Snapshot, done: string): Promise<string> {
  const { id, folder } = snapshot;
  const damage = [...(await checkManifestFile(folder)), ...(await hashesAgree(snapshot))];
  if (damage.length > 0) throw damagedError(`Snapshot ${id} is damaged and was not ${done}:`, damage, recoveryHint(id));
  return readFile(join(folder, manifestFile), 'utf8');
}

/** Where a snapshot goes. */
export interface Target {
  /** Names the place at the beginning of a sentence, such as "The warehouse data". */
  readonly place: string;
  /** What else to choose, such as "another prefix". */
  readonly alternative: string;
  readonly acceptSource: boolean;
}

/** A snapshot by its ID, and where its figures come from. */
export interface Figures {
  readonly snapshot: string;
  readonly source: string;
}

/** @throws `source-mismatch` if the target has figures of another source. */
export function requireSource({ place, alternative, acceptSource }: Target, source: string, before: string): void {
  if (before === source || acceptSource) return;
  const next = `Choose ${alternative}, or add --accept-source if the source has a new URL.`;
  throw new RekapError('source-mismatch', `${place} contains figures from ${before}, not from ${source}.`, next);
}

/** Returns what a conflict says about the snapshots of a warehouse. */
export function knownIn(warehouse: string) {
  return { known: () => listSnapshotIds(warehouse), unknown: 'not from this warehouse' };
}

/**
 * Allows a rollback, but doesn't replace a newer snapshot that the origin never had.
 * @param before What the target has now.
 * @throws `source-mismatch`, and `conflict.code` for a newer snapshot.
 */
export async function requireSuccessor(
  target: Target,
  { next, before }: { readonly next: Figures; readonly before: Figures },
  conflict: {
    readonly code: ErrorCode;
    /** IDs of the snapshots of the origin. */
    readonly known: () => Promise<readonly string[]>;
    /** Ends the message, such as "not from this warehouse". */
    readonly unknown: string;
    readonly advice: string;
  },
): Promise<void> {
  requireSource(target, next.source, before.source);
  if (before.snapshot <= next.snapshot || (await conflict.known()).includes(before.snapshot)) return;
  const what = `${target.place} contains snapshot ${before.snapshot}, which is newer than ${next.snapshot} and ${conflict.unknown}.`;
  throw new RekapError(conflict.code, what, `${conflict.advice}, or choose ${target.alternative}.`);
}
