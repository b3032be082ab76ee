/** The schema of rekap.duckdb: all tables and views of a project, with a comment on each column. */

import { type Database, openDatabase, quoteIdentifier, quoteText, readDefinitions } from '../duckdb/database.ts';
import { reconciliationModel } from './reconciliation.ts';
import { allTables, createTableSql, datasetTable, type TableDefinition } from './tables.ts';
import type { Project, SqlFile } from '../pipeline.ts';

/** Everything that decides what a snapshot's tables and views hold, as a value to fingerprint. */
export function projectDefinition(project: Project): unknown {
  const { pipelines, checks } = project;
  return {
    tables: allTables(pipelines),
    rowChecks: pipelines.map((pipeline) => [pipeline.table, pipeline.checks]),
    models: allModels(project).map(({ name, sql, comment, columns }) => [name, sql, comment, columns]),
    checks: checks.map(({ name, sql }) => [name, sql]),
  };
}

export async function makeSchema(database: Database, project: Project): Promise<void> {
  // One transaction: each statement by itself would wait for the disk.
  await database.run('BEGIN');
  await database.run(allTables(project.pipelines).map(createTableSql).join(';\n'));
  await makeViews(database, project, project.pipelines.map(datasetTable));
  await database.run('COMMIT');
}

/** The CREATE statement and the comments of each table and view by name. */
export async function declaredRelations(project: Project): Promise<ReadonlyMap<string, string>> {
  const database = await openDatabase(':memory:');
  try {
    await makeSchema(database, project);
    return new Map((await readDefinitions(database)).map(({ name, definition }) => [name, definition]));
  } finally {
    database.close();
  }
}

/** The views in the order in which they are created. */
export function allModels({ pipelines, models }: Project): readonly SqlFile[] {
  return [reconciliationModel(pipelines), ...models];
}

/**
 * Creates the views with their comments. A column that a view takes from a table or from an earlier view keeps its meaning. A header line
 * `voters_*: TABLE` gives each column with that prefix the meaning of the column of TABLE that follows the prefix.
 */
async function makeViews(database: Database, project: Project, tables: readonly TableDefinition[]): Promise<void> {
  const meanings = new Map(tables.flatMap((table) => table.columns.map(({ name, comment }) => [name, comment])));
  const models = allModels(project);
  await database.run(
    models
      .map(
        ({ name, sql, comment }) =>
          `CREATE VIEW ${quoteIdentifier(name)} AS ${sql}; ${commentSql('VIEW', [name], comment)}`,
      )
      .join('; '),
  );
  const columns = await database.rows<{ view: string; name: string }>(
    `SELECT table_name AS view, column_name AS name FROM duckdb_columns() WHERE database_name = current_database() ORDER BY table_oid, column_index`,
  );
  const comments = models.flatMap((model) => {
    for (const [name, comment] of Object.entries(model.columns)) {
      const copied = name.endsWith('*') ? (tables.find((table) => table.name === comment)?.columns ?? []) : [];
      for (const column of copied) meanings.set(name.slice(0, -1) + column.name, column.comment);
      meanings.set(name, comment);
    }
    return columns
      .filter(({ view }) => view === model.name)
      .map(({ name }) => commentSql('COLUMN', [model.name, name], meanings.get(name) ?? ''));
  });
  if (comments.length > 0) await database.run(comments.join('; '));
}

function commentSql(kind: 'VIEW' | 'COLUMN', name: readonly string[], comment: string): string {
  return `COMMENT ON ${kind} ${name.map(quoteIdentifier).join('.')} IS ${quoteText(comment)}`;
}
