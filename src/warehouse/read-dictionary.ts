/** Reads the meaning of every table, view and column from the comments in a DuckDB file. */

import { type Database, quoteText } from '../runtime/database.ts';
import { openPublished } from './open-published.ts';

export interface RelationColumn {
  readonly name: string;
  readonly type: string;
  /** What a number counts or measures, such as percent. Empty if it has no unit. */
  readonly unit: string;
  readonly meaning: string;
  /** The source field, or null if the column is computed. */
  readonly field: string | null;
}

export interface Relation {
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly meaning: string;
  readonly columns: readonly RelationColumn[];
}

const sourceField = / Source field: (\S+)\.$/;
const unitNote = / Unit: ([^.]+)\.(?= Source field: \S+\.$|$)/;

/**
 * Returns tables first, then views, each sorted by name.
 * @param attached Name of the attached database to read, or null for the open file.
 */
export async function readDictionary(database: Database, attached: string | null = null): Promise<Relation[]> {
  const file = attached === null ? 'current_database()' : quoteText(attached);
  const relations = await database.rows<{ name: string; comment: string | null; kind: Relation['kind'] }>(
    `SELECT table_name AS name, comment, 'table' AS kind FROM duckdb_tables() WHERE database_name = ${file} AND NOT internal
     UNION ALL SELECT view_name, comment, 'view' FROM duckdb_views() WHERE database_name = ${file} AND NOT internal
     ORDER BY kind, name`,
  );
  const columns = await database.rows<{ relation: string; name: string; type: string; comment: string | null }>(
    `SELECT table_name AS relation, column_name AS name, data_type AS type, comment FROM duckdb_columns()
     WHERE database_name = ${file} AND NOT internal ORDER BY table_name, column_index`,
  );
  return relations.map(({ name, comment, kind }) => ({
    name,
    kind,
    meaning: comment ?? '',
    columns: columns
      .filter(({ relation }) => relation === name)
      .map((column) => ({
        name: column.name,
        type: column.type,
        unit: unitNote.exec(column.comment ?? '')?.[1] ?? unitOf(column.name, column.type),
        meaning: (column.comment ?? '').replace(unitNote, '').replace(sourceField, ''),
        field: sourceField.exec(column.comment ?? '')?.[1] ?? null,
      })),
  }));
}

export async function readPublishedDictionary(file: string): Promise<Relation[]> {
  const database = await openPublished(file);
  try {
    return await readDictionary(database);
  } finally {
    database.close();
  }
}

function unitOf(name: string, type: string): string {
  if (name.endsWith('_pct')) return 'percent';
  if (type === 'TIMESTAMP') return 'UTC';
  return name.endsWith('_count') && type === 'BIGINT' ? 'rows' : '';
}
