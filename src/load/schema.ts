/** The schema of rekap.duckdb: all tables and views of a project, with a comment on each column. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase, quoteIdentifier, quoteText, readDefinitions } from '../runtime/database.ts';
import { reconciliationModel } from './reconciliation.ts';
import { allTables, createTableSql, datasetTable, type TableDefinition } from './tables.ts';
import { seal } from '../warehouse/open-published.ts';
import { namesIn } from '../project/sql-files.ts';
import type { Project, SqlFile } from '../project/declaration.ts';
import { databaseFile } from '../warehouse/snapshot-format.ts';

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

/** @throws DuckDB's error where a view cannot be made. */
export async function makeSchema(database: Database, project: Project): Promise<void> {
  const failed = await createSchema(database, project);
  if (failed !== null) throw failed.error;
}

/** The same; gives the view that could not be made, and why. */
export async function createSchema(database: Database, project: Project): Promise<FailedModel | null> {
  // One transaction: each statement by itself would wait for the disk.
  await database.run('BEGIN');
  await database.run(allTables(project.pipelines).map(createTableSql).join(';\n'));
  const failed = await makeViews(database, project, project.pipelines.map(datasetTable));
  await database.run(failed === null ? 'COMMIT' : 'ROLLBACK');
  return failed;
}

interface FailedModel {
  readonly model: SqlFile;
  readonly error: unknown;
}

/** The CREATE statement and the comments of each table and view by name, as DuckDB writes them once it has read them from a file. */
export async function declaredRelations(project: Project): Promise<ReadonlyMap<string, string>> {
  await trySealed(project);
  // DuckDB writes a new view in another way, such as CAST(a AS "DATE") or other brackets around UNION ALL.
  const folder = await mkdtemp(join(tmpdir(), 'rekap-schema-'));
  try {
    const file = join(folder, databaseFile);
    const made = await openDatabase(file);
    await makeSchema(made, project).finally(() => made.close());
    const read = await openDatabase(file, { readOnly: true });
    const found = await readDefinitions(read).finally(() => read.close());
    return new Map(found.map(({ name, definition }) => [name, definition]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The declaration may be anybody's: a view that reaches a file fails here. */
async function trySealed(project: Project): Promise<void> {
  const database = await openDatabase(':memory:');
  try {
    await seal(database);
    await makeSchema(database, project);
  } finally {
    database.close();
  }
}

/** The views in the order in which they are created. */
export function allModels({ pipelines, models }: Project): readonly SqlFile[] {
  return [reconciliationModel(pipelines), ...models];
}

/**
 * Creates the views with their comments. A column that a view takes from a table or a view that it reads keeps its meaning. A header line
 * `new_*: TABLE` gives each column with that prefix the meaning of the column of TABLE that follows the prefix.
 */
async function makeViews(
  database: Database,
  project: Project,
  tables: readonly TableDefinition[],
): Promise<FailedModel | null> {
  const meanings = new Map(
    tables.map((table) => [table.name, new Map(table.columns.map(({ name, comment }) => [name, comment]))]),
  );
  const models = allModels(project);
  for (const model of models)
    try {
      await database.run(createViewSql(model));
    } catch (error) {
      return { model, error };
    }
  const columns = await database.rows<{ view: string; name: string; type: string }>(
    `SELECT table_name AS view, column_name AS name, data_type AS type FROM duckdb_columns()
     WHERE database_name = current_database() ORDER BY table_oid, column_index`,
  );
  // A sum of whole numbers has 128 bits, for which Parquet has no type. Made anew as BIGINT, it fails where it does not fit.
  const wide = columns.filter(({ type }) => type === 'HUGEINT');
  for (const model of wide.length === 0 ? [] : models) {
    const own = wide.flatMap(({ view, name }) => (view === model.name ? [name] : []));
    if (own.length > 0) await database.run(createViewSql(model, own));
  }
  const comments = models.flatMap((model) => {
    const declared = Object.entries(model.columns).flatMap(([name, comment]) =>
      name.endsWith('*')
        ? [...(meanings.get(comment) ?? [])].map(([column, own]) => [name.slice(0, -1) + column, own] as const)
        : [[name, comment] as const],
    );
    const read = namesIn(model.sql).flatMap((name) => [...(meanings.get(name) ?? [])]);
    const own = new Map([...read.toReversed(), ...declared]);
    meanings.set(model.name, own);
    return columns
      .filter(({ view }) => view === model.name)
      .map(({ name }) => commentSql('COLUMN', [model.name, name], own.get(name) ?? ''));
  });
  if (comments.length > 0) await database.run(comments.join('; '));
  return null;
}

/** @param narrowed Columns that are to be BIGINT. */
function createViewSql({ name, sql, comment }: SqlFile, narrowed: readonly string[] = []): string {
  const casts = narrowed.map((column) => `${quoteIdentifier(column)}::BIGINT AS ${quoteIdentifier(column)}`);
  const select = narrowed.length === 0 ? sql : `SELECT * REPLACE (${casts.join(', ')}) FROM (${sql}\n)`;
  // On a line of its own, for a query may end with a comment.
  return `CREATE OR REPLACE VIEW ${quoteIdentifier(name)} AS ${select}\n; ${commentSql('VIEW', [name], comment)}`;
}

function commentSql(kind: 'VIEW' | 'COLUMN', name: readonly string[], comment: string): string {
  return `COMMENT ON ${kind} ${name.map(quoteIdentifier).join('.')} IS ${quoteText(comment)}`;
}
