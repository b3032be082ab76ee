/** Describes what a catalog contains: the last publication, the tags, and what grows. */

import { Catalog } from './catalog.ts';
import { isSame, type TableMetadata } from './iceberg.ts';
import type { LakePlace } from './lake-database.ts';
import { withLake } from './open-lake.ts';
import { lastPublication, type Publication } from './publications.ts';
import { snapshotOf } from './tags.ts';

/** A tag of the tables in a catalog. */
export interface LakeTag {
  readonly tag: string;
  readonly snapshot: string;
  /** The snapshot ID of Iceberg by table, for engines that can't read by tag. A text, because numbers in JSON lose digits. */
  readonly tables: Readonly<Record<string, string>>;
}

export interface LakeStatus {
  readonly catalog: string;
  readonly namespace: string;
  /** Null if nothing was published. */
  readonly last: Publication | null;
  readonly tags: readonly LakeTag[];
  readonly tables: readonly ReturnType<typeof statusOf>[];
}

export async function readLakeStatus(where: LakePlace): Promise<LakeStatus> {
  const { url, namespace } = where.catalog;
  const tables = await loadTables(await Catalog.connect(where.catalog));
  const last = tables.size === 0 ? null : await readLastPublication(where);
  return {
    catalog: url,
    namespace,
    last,
    tags: tagsOf(tables),
    tables: [...tables].map(([table, metadata]) => statusOf(table, metadata)),
  };
}

/** Returns the last publication, or null. */
export async function readLastPublication(where: LakePlace): Promise<Publication | null> {
  return withLake(where, { tables: [], files: [] }, ({ database, metadata }) =>
    metadata.size === 0 ? Promise.resolve(null) : lastPublication(database, where.catalog.namespace),
  );
}

/** Removes the tags of all but the newest snapshots, in one commit. The engine then removes the data that only they used. */
export async function expireTags(where: Pick<LakePlace, 'catalog'>, keep: number): Promise<LakeTag[]> {
  const catalog = await Catalog.connect(where.catalog);
  const removed = tagsOf(await loadTables(catalog)).slice(0, -keep);
  const names = [...new Set(removed.flatMap(({ tables }) => Object.keys(tables)))];
  const changes = names.map((name) =>
    catalog.change(name, {
      requirements: [],
      updates: removed
        .filter(({ tables }) => Object.hasOwn(tables, name))
        .map(({ tag }) => ({ action: 'remove-snapshot-ref' as const, 'ref-name': tag })),
    }),
  );
  if (changes.length > 0) await catalog.commitOnce(changes, 'remove tags');
  return removed;
}

async function loadTables(catalog: Catalog): Promise<Map<string, TableMetadata>> {
  const tables = new Map<string, TableMetadata>();
  for (const name of await catalog.listTables()) {
    const metadata = await catalog.loadTable(name);
    if (metadata !== null) tables.set(name, metadata);
  }
  return tables;
}

/** Returns the tags of snapshots, oldest first. */
function tagsOf(tables: ReadonlyMap<string, TableMetadata>): LakeTag[] {
  const tags = new Map<string, Record<string, string>>();
  for (const [name, { refs = {} }] of tables)
    for (const [tag, ref] of Object.entries(refs))
      if (snapshotOf(tag) !== null) tags.set(tag, { ...tags.get(tag), [name]: String(ref['snapshot-id']) });
  return [...tags]
    .map(([tag, ids]) => ({ tag, snapshot: snapshotOf(tag)!, tables: ids }))
    .toSorted((a, b) => (a.snapshot < b.snapshot ? -1 : 1));
}

/** Returns what a table occupies in the catalog. Its engine removes old snapshots and delete files. */
function statusOf(table: string, { snapshots = [], refs }: TableMetadata) {
  const main = refs?.['main'];
  const current = main && snapshots.find((one) => isSame(one['snapshot-id'], main['snapshot-id']));
  const summary = current?.summary ?? {};
  const figure = (name: string): number => Number(summary[name] ?? 0);
  return {
    table,
    // Delete files mark rows as removed, which total-records still counts.
    rows: figure('total-records') - figure('total-position-deletes'),
    snapshots: snapshots.length,
    deleteFiles: figure('total-delete-files'),
    dataFiles: figure('total-data-files'),
  };
}
