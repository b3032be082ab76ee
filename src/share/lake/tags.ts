/** Names snapshots by tags, which all tables of a commit get. */

import type { Catalog } from './catalog.ts';
import { isSame, type SnapshotId, type TableChange, type TableMetadata, type TableUpdate } from './iceberg.ts';

/** Returns the tag of a snapshot, which every table has. SQL names can't have a hyphen without quotes. */
export function tagOf(snapshot: string): string {
  return `snap_${snapshot.replaceAll('-', '_')}`;
}

/** Returns the ID of the snapshot that a tag names; null for a tag of someone else. */
export function snapshotOf(tag: string): string | null {
  const [, id] = /^snap_(\d{8}T\d{6}Z_[0-9a-f]{6})$/.exec(tag) ?? [];
  return id?.replace('_', '-') ?? null;
}

/** Adds the tag to the new snapshot of each table of a commit. */
export function withTag(changes: readonly TableChange[], tag: string): TableChange[] {
  return changes.map((change) => {
    const main = change.updates.findLast((update) => update.action === 'set-snapshot-ref')!;
    return { ...change, updates: [...change.updates, tagUpdate(tag, main['snapshot-id'])] };
  });
}

/** Returns changes that tag the tables that a commit doesn't change, and are refused if one of them has changed by now. */
export function tagOthers(
  catalog: Catalog,
  metadata: ReadonlyMap<string, TableMetadata>,
  tag: string,
  changes: readonly TableChange[],
): TableChange[] {
  const done = new Set(changes.map(({ identifier }) => identifier.name));
  return [...metadata].flatMap(([name, table]) => {
    const main = table.refs?.['main']?.['snapshot-id'];
    if (main === undefined || done.has(name)) return [];
    const isTagged = isSame(table.refs?.[tag]?.['snapshot-id'], main);
    return catalog.change(name, {
      requirements: [
        { type: 'assert-table-uuid', uuid: table['table-uuid'] },
        { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': main },
      ],
      updates: isTagged ? [] : [tagUpdate(tag, main)],
    });
  });
}

function tagUpdate(tag: string, snapshot: SnapshotId): TableUpdate {
  return { action: 'set-snapshot-ref', 'ref-name': tag, type: 'tag', 'snapshot-id': snapshot };
}
