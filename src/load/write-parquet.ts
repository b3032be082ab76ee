/** Writes each table and view to a Parquet file, with its comments as metadata. */

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { columnList, type Database, quoteIdentifier, quoteText, readParquetSql } from '../runtime/database.ts';
import { parquetPath } from '../warehouse/snapshot-format.ts';
import type { SqlFile } from '../project/sql-file.ts';
import type { Relation } from '../warehouse/read-dictionary.ts';

export const rowsOfOneGroup = 122_880;

export interface ParquetOptions {
  readonly folder: string;
  readonly origin: Readonly<Record<string, string>>;
  readonly models: readonly SqlFile[];
  /** Rows per group for tables with long rows, because a group is built in memory. */
  readonly smallGroups: Readonly<Record<string, number>>;
}

/**
 * Writes the files, and returns their numbers of rows by path.
 *
 * Uses version 1 of the format, the only one that fastparquet and Velox read. The files are a tenth larger.
 */
export async function writeParquet(
  database: Database,
  relations: readonly Relation[],
  { folder, origin, models, smallGroups }: ParquetOptions,
): Promise<Map<string, number>> {
  const written = new Map<string, number>();
  const views = await readViewNames(database);
  const placeOf = ({ name }: Relation): number => views.indexOf(name);
  for (const relation of relations.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const { name } = relation;
    const path = parquetPath(name);
    const file = join(folder, path);
    // One folder at a time: on a full disk, Node's recursive mkdir reports a missing folder.
    if (written.size === 0) await mkdir(dirname(dirname(file)));
    await mkdir(dirname(file));
    const metadata = Object.entries({ ...origin, ...describe(relation) })
      .map(([key, value]) => `${quoteIdentifier(key)}: ${quoteText(value)}`)
      .join(', ');
    const table = quoteIdentifier(name);
    const isView = placeOf(relation) !== -1;
    // Tables are already sorted.
    const order = isView ? orderSql(models.find((model) => model.name === name)) : '';
    const rows = await database.run(
      `COPY (FROM ${table}${order}) TO ${quoteText(file)}
       (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ROW_GROUP_SIZE ${smallGroups[name] ?? rowsOfOneGroup}, KV_METADATA {${metadata}})`,
    );
    // DuckDB prefers temporary views, so dependent views read the file instead of computing the view again.
    if (isView) await database.run(`CREATE TEMP VIEW ${table} AS FROM ${readParquetSql(file)}`);
    written.set(path, rows);
  }
  return written;
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
