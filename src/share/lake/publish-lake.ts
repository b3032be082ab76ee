/** Publishes a snapshot to the tables of an Iceberg catalog: all of them change in one commit, or none. */

import { RekapError } from '../../errors.ts';
import { computeSha256 } from '../../publish/manifest.ts';
import { recordTransfer } from '../../publish/record-run.ts';
import type { Clock } from '../../runtime/context.ts';
import type { Database } from '../../runtime/database.ts';
import type { Snapshot } from '../../warehouse/warehouse.ts';
import { knownIn, readIntactManifest, requireSuccessor, type Target } from '../refusals.ts';
import type { Catalog } from './catalog.ts';
import { compare, type Difference, writeDifference } from './compare.ts';
import type { TableMetadata } from './iceberg.ts';
import { createTables, tablesOf } from './lake-tables.ts';
import type { LakePlace } from './lake-database.ts';
import { commitLake, withLake } from './open-lake.ts';
import { addPublication, lastPublication, type Publication, publicationsName } from './publications.ts';
import { tagOf, tagOthers, withTag } from './tags.ts';
import type { LakeTable } from './table-schema.ts';

export interface PublishLakeOptions extends LakePlace {
  readonly warehouse: string;
  readonly snapshot: Snapshot;
  readonly acceptSource: boolean;
  readonly clock: Pick<Clock, 'now'>;
}

export interface PublishedLake {
  readonly outcome: 'published' | 'unchanged';
  readonly snapshot: string;
  readonly catalog: string;
  readonly namespace: string;
  /** The tag that all tables have; null if the catalog doesn't keep tags. */
  readonly tag: string | null;
  /** Only tables that changed. */
  readonly tables: readonly Difference[];
}

/**
 * Publishes a snapshot, and records the outcome in runs.jsonl. A failure changes nothing that readers see.
 *
 * @throws `lake` if the catalog fails, `lake-conflict` if another publisher was faster, `lake-uncertain` if the end of the commit isn't known,
 *   `source-mismatch` if the catalog has figures of another source, `configuration` if DuckDB's extensions are missing, `verification` if the
 *   snapshot is damaged.
 */
export async function publishToLake(options: PublishLakeOptions): Promise<PublishedLake> {
  const { warehouse, clock, snapshot, catalog } = options;
  return recordTransfer(
    { kind: 'lake', warehouse, clock, bucket: catalog.url, isQuiet: false },
    () => publish(options),
    () => snapshot.manifest,
  );
}

async function publish(options: PublishLakeOptions): Promise<PublishedLake> {
  const { snapshot, catalog: settings } = options;
  const manifest = await readIntactManifest(snapshot, 'published');
  // Before tables or columns are created for a snapshot that is refused.
  await beginPublications(options);
  const tables = await tablesOf(snapshot);
  const tag = tagOf(snapshot.id);
  return withLake(
    options,
    {
      prepare: (catalog) => createTables(catalog, tables),
      tables: tables.map(({ name }) => name),
      files: tables.map(({ file }) => file),
      complete: (changes, { catalog, metadata }) => [
        ...withTag(changes, tag),
        ...tagOthers(catalog, metadata, tag, changes),
      ],
    },
    async (lake) => {
      const { database, catalog, metadata } = lake;
      const { namespace } = settings;
      // First, so that the commit is refused if someone else publishes from here on.
      await database.run('BEGIN');
      const last = await lastPublication(database, namespace);
      await requireReplaces(options, last);
      const changed: Difference[] = [];
      for (const table of tables) {
        const difference = await writeDifference(database, namespace, table, !hasSnapshot(metadata.get(table.name)!));
        if (difference.added + difference.removed > 0) changed.push(difference);
      }
      await requireEqual(database, namespace, tables);
      const named = { catalog: settings.url, namespace, snapshot: snapshot.id } as const;
      if (changed.length === 0 && last?.snapshot_id === snapshot.id) {
        await database.run('ROLLBACK');
        const missing = tagOthers(catalog, metadata, tag, []).filter(({ updates }) => updates.length > 0);
        if (missing.length > 0) await catalog.commitOnce(missing, 'add the missing tags');
        return { outcome: 'unchanged', ...named, tag: await keptTag(catalog, tag), tables: [] };
      }
      const { run: run_id, source } = snapshot.manifest;
      const sequence = (last?.sequence ?? 0) + 1;
      const row = { sequence, snapshot_id: snapshot.id, run_id, source, manifest_sha256: computeSha256(manifest) };
      await addPublication(database, namespace, row, options.clock.now());
      await commitLake(lake);
      return { outcome: 'published', ...named, tag: await keptTag(catalog, tag), tables: changed };
    },
  );
}

/**
 * Checks the last publication, or writes row 0 of a new table of publications. Without it, Nessie would accept two first publications at the same
 * time, because it doesn't refuse the second commit to a table that has no version yet.
 */
async function beginPublications(options: PublishLakeOptions): Promise<void> {
  const { namespace } = options.catalog;
  const prepare = (catalog: Catalog): Promise<void> => createTables(catalog, []);
  await withLake(options, { prepare, tables: [], files: [] }, async (lake) => {
    if (hasSnapshot(lake.metadata.get(publicationsName)!))
      return requireReplaces(options, await lastPublication(lake.database, namespace));
    await lake.database.run('BEGIN');
    const { source } = options.snapshot.manifest;
    const row = { sequence: 0, snapshot_id: '', run_id: '', source, manifest_sha256: '' };
    await addPublication(lake.database, namespace, row, options.clock.now());
    await commitLake(lake);
  });
}

/** Returns the tag if the catalog has kept it. Nessie accepts tags of tables, but doesn't keep them. */
async function keptTag(catalog: Catalog, tag: string): Promise<string | null> {
  return (await catalog.loadTable(publicationsName))?.refs?.[tag] === undefined ? null : tag;
}

export function targetOf({ catalog, acceptSource }: Pick<PublishLakeOptions, 'catalog' | 'acceptSource'>): Target {
  const place = `The namespace ${catalog.namespace} of ${catalog.url}`;
  return { place, alternative: 'another --namespace', acceptSource };
}

/** Refuses other figures than those of this source, and figures that another warehouse has replaced since. */
async function requireReplaces(options: PublishLakeOptions, last: Publication | null): Promise<void> {
  if (last === null) return;
  const { snapshot, warehouse } = options;
  const target = targetOf(options);
  const next = { snapshot: snapshot.id, source: snapshot.manifest.source };
  if (last.manifest_sha256 === '') {
    const what = `${target.place} contains the released run ${last.run_id}. A publication would not replace its table ledger.`;
    throw new RekapError('lake-conflict', what, `Choose ${target.alternative}.`);
  }
  const before = { snapshot: last.snapshot_id, source: last.source };
  const advice = 'Find out who else publishes there';
  await requireSuccessor(target, { next, before }, { code: 'lake-conflict', advice, ...knownIn(warehouse) });
}

/** Compares every row within the transaction, before anyone else can see it. */
async function requireEqual(database: Database, namespace: string, tables: readonly LakeTable[]): Promise<void> {
  for (const table of tables) {
    const { added, removed } = await compare(database, namespace, table);
    if (added + removed > 0) {
      const what = `${table.name}: ${added + removed} rows in the catalog differ from the snapshot.`;
      throw new RekapError('verification', what, 'Nothing was changed in the catalog. Please report this problem.');
    }
  }
}

function hasSnapshot({ refs }: TableMetadata): boolean {
  return refs?.['main'] !== undefined;
}
