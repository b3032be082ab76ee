/** Writes each table and view to a Parquet file, with its comments as metadata. */

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { columnList, type Database, quoteIdentifier, quoteText, readParquetSql } from '../runtime/database.ts';
import { namesIn } from '../project/sql-files.ts';
import { inLanes } from '../runtime/lanes.ts';
import { parquetPath } from '../warehouse/snapshot-format.ts';
import type { SqlFile } from '../project/sql-file.ts';
import type { Relation } from '../warehouse/read-dictionary.ts';

const rowsOfOneGroup = 122_880;

export interface ParquetOptions {
  readonly folder: string;
  readonly origin: Readonly<Record<string, string>>;
  readonly models: readonly SqlFile[];
  /** Rows per group for tables with long rows, because a group is built in memory. */
  readonly smallGroups: Readonly<Record<string, number>>;
}

/**
 * Writes the files on several connections, and returns their numbers of rows by path.
 *
 * Uses version 1 of the format, the only one that fastparquet and Velox read. The files are a tenth larger.
 */
export async function writeParquet(
  lanes: readonly Database[],
  relations: readonly Relation[],
  { folder, origin, models, smallGroups }: ParquetOptions,
): Promise<Map<string, number>> {
  const views = await readViewNames(lanes[0]!);
  const modelOf = new Map(models.map((model) => [model.name, model]));
  // One folder at a time: on a full disk, Node's recursive mkdir reports a missing folder.
  await mkdir(join(folder, dirname(dirname(parquetPath('table')))));
  const written = new Map<string, number>();
  for (const layer of inLayers(relations, views, modelOf)) {
    await inLanes(lanes, layer, async (lane, relation) => {
      const { name } = relation;
      const path = parquetPath(name);
      await mkdir(dirname(join(folder, path)));
      const metadata = Object.entries({ ...origin, ...describe(relation) })
        .map(([key, value]) => `${quoteIdentifier(key)}: ${quoteText(value)}`)
        .join(', ');
      // Tables are already sorted.
      const order = views.includes(name) ? orderSql(modelOf.get(name)) : '';
      const rows = await lane.run(
        `COPY (FROM ${quoteIdentifier(name)}${order}) TO ${quoteText(join(folder, path))}
         (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ROW_GROUP_SIZE ${smallGroups[name] ?? rowsOfOneGroup}, KV_METADATA {${metadata}})`,
      );
      written.set(path, rows);
    });
    await readFromFiles(
      lanes,
      layer.map(({ name }) => name).filter((name) => views.includes(name)),
      folder,
    );
  }
  return new Map(relations.map(({ name }) => [parquetPath(name), written.get(parquetPath(name))!]));
}

/** Divides the relations so that each view is in a later layer than the views that it reads. */
function inLayers(
  relations: readonly Relation[],
  views: readonly string[],
  models: ReadonlyMap<string, SqlFile>,
): Relation[][] {
  const places = new Map<string, number>();
  // Each view was created after those that it reads.
  for (const view of views) {
    const below = namesIn(models.get(view)?.sql ?? '').map((name) => places.get(name) ?? -1);
    places.set(view, Math.max(-1, ...below) + 1);
  }
  const layers: Relation[][] = [];
  // Views first, because they take longer.
  for (const relation of relations.toSorted((a, b) => views.indexOf(b.name) - views.indexOf(a.name)))
    (layers[places.get(relation.name) ?? 0] ??= []).push(relation);
  return layers;
}

/** Lets later views read the files instead of computing the views again: DuckDB prefers temporary views, which each connection has for itself. */
async function readFromFiles(lanes: readonly Database[], views: readonly string[], folder: string): Promise<void> {
  const sql = views.map((name) => {
    const file = readParquetSql(join(folder, parquetPath(name)));
    return `CREATE TEMP VIEW ${quoteIdentifier(name)} AS FROM ${file}`;
  });
  if (sql.length > 0) for (const lane of lanes) await lane.run(sql.join('; '));
}

/** Returns how to sort a view, so that the same rows give the same bytes. */
function orderSql(model: SqlFile | undefined): string {
  // Sorting a large view takes longer than computing it.
  if (model?.order === 'kept') return '';
  return ` ORDER BY ${model?.keys === undefined ? 'ALL' : columnList(model.keys.primaryKey)}`;
}

/** Returns the views in order of creation, so that each view follows those it reads. */
async function readViewNames(database: Database): Promise<string[]> {
  const views = await database.rows<{ view_name: string }>(
    'SELECT view_name FROM duckdb_views() WHERE database_name = current_database() AND NOT internal ORDER BY view_oid',
  );
  return views.map(({ view_name: name }) => name);
}

function describe({ name, meaning, columns }: Relation): Record<string, string> {
  const meanings = columns.map((column) => [`rekap.column.${column.name}`, column.meaning]);
  return { 'rekap.table': name, 'rekap.comment': meaning, ...Object.fromEntries(meanings) };
}
