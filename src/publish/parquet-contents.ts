/** Hashes the rows of Parquet files. */

import { basename, join } from 'node:path';
import { contentSql, type Database, openDatabase, readParquetSql } from '../runtime/database.ts';
import { withoutHistory } from '../warehouse/snapshot-format.ts';

/** Hashes from `contentSql`. */
export interface ParquetContent {
  readonly rows: number;
  readonly all: string;
  /** Undefined if the file has no history. */
  readonly withoutHistory?: string;
}

/** Opens a database that can read Parquet files. */
export function openForParquet(signal?: AbortSignal): Promise<Database> {
  return openDatabase(':memory:', { settings: { temp_directory: '', enable_external_file_cache: 'false' }, signal });
}

/** Returns the contents by path. One statement, because planning several takes longer than running them. */
export async function readContents(
  database: Database,
  folder: string,
  paths: readonly string[],
): Promise<Map<string, ParquetContent>> {
  const rows = await database.rows<{ rows: bigint; content: string; part: string | null }>(
    paths
      .map((path) => {
        const file = readParquetSql(join(folder, path));
        const part = withoutHistory(basename(path, '.parquet'), file);
        return `SELECT (SELECT count(*) FROM ${file}) AS rows, ${contentSql(file)} AS content,
          ${part === file ? 'NULL' : contentSql(part)} AS part`;
      })
      .join(' UNION ALL '),
  );
  return new Map(
    paths.map((path, index) => {
      const { rows: count, content, part } = rows[index]!;
      return [path, { rows: Number(count), all: content, ...(part !== null && { withoutHistory: part }) }];
    }),
  );
}
