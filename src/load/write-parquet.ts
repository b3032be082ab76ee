/** Writes tables and views as Parquet that every reader opens: one file each, and in it what it is and what its columns mean. */

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { contentSql, type Database, quoteIdentifier, quoteText, readParquetSql } from '../runtime/database.ts';
import { parquetPath, withoutHistory } from '../warehouse/snapshot-format.ts';
import type { Relation } from '../warehouse/read-dictionary.ts';

/** Rows of one group: as many as in one of DuckDB's own files. */
const rowsOfOneGroup = 122_880;

export interface ParquetOptions {
  /** Folder of the snapshot. */
  readonly folder: string;
  /** What a file says of the snapshot that it belongs to, by keys such as rekap.snapshot. */
  readonly origin: Readonly<Record<string, string>>;
  /** Rows of a group, by table, where they are long: a group is put together in memory. */
  readonly smallGroups: Readonly<Record<string, number>>;
}

/** What was written. */
export interface WrittenParquet {
  readonly rows: number;
  /** As `contentSql` gives it, without history. */
  readonly content: string;
}

/**
 * Gives what was written by the path of the file.
 *
 * Version 1 of the format: fastparquet and Velox read no other encodings, and the files are a tenth larger.
 */
export async function writeParquet(
  database: Database,
  relations: readonly Relation[],
  { folder, origin, smallGroups }: ParquetOptions,
): Promise<Map<string, WrittenParquet>> {
  const written = new Map<string, WrittenParquet>();
  const views = await readViewNames(database);
  const placeOf = ({ name }: Relation): number => views.indexOf(name);
  for (const relation of relations.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const { name } = relation;
    const path = parquetPath(name);
    const file = join(folder, path);
    // One by one: on a full disk Node's recursive mkdir says that a folder is missing.
    if (written.size === 0) await mkdir(dirname(dirname(file)));
    await mkdir(dirname(file));
    const metadata = Object.entries({ ...origin, ...describe(relation) })
      .map(([key, value]) => `${quoteIdentifier(key)}: ${quoteText(value)}`)
      .join(', ');
    const table = quoteIdentifier(name);
    const isView = placeOf(relation) !== -1;
    // A view gives its rows in any order; tables are sorted already.
    const rows = await database.run(
      `COPY (FROM ${table}${isView ? ' ORDER BY ALL' : ''}) TO ${quoteText(file)}
       (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, ROW_GROUP_SIZE ${smallGroups[name] ?? rowsOfOneGroup}, KV_METADATA {${metadata}})`,
    );
    // The hash below and the views that read this one take its rows from the file: DuckDB looks for a name among temporary views first.
    if (isView) await database.run(`CREATE TEMP VIEW ${table} AS FROM ${readParquetSql(file)}`);
    const content = contentSql(withoutHistory(name, table));
    const [found] = await database.rows<{ content: string }>(`SELECT ${content} AS content`);
    written.set(path, { rows, content: found!.content });
  }
  return written;
}

/** The views in the order in which they were created, so that each comes after those it reads. */
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
