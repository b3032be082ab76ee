/** Creates the schema of rekap.duckdb: all tables and views of a project, with a comment on each column. */

import { ownMessages } from './check-messages.ts';
import { type Database, quoteIdentifier, quoteText } from '../runtime/database.ts';
import { reconciliationModel } from './reconciliation.ts';
import { allTables, createTableSql, datasetTable, type TableDefinition } from './tables.ts';
import { namesIn } from '../project/sql-files.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import type { SqlFile } from '../project/sql-file.ts';
import { storedPart } from '../project/stored.ts';
import { generatedChecks } from './generated-checks.ts';

/**
 * Increase it with every change of how values are read, checked or stored that the texts below don't show. A test compares the tables of the
 * sample with those of the last version.
 */
export const rulesVersion = 1;

/**
 * Returns everything that determines the content of a snapshot's tables and views, for fingerprinting. It contains the whole stored declaration:
 * a property left out could change a table.
 */
export function projectDefinition(project: Project): unknown {
  const { pipelines } = project;
  return {
    project: storedPart(project),
    datasets: pipelines.map(datasetDefinition),
    tables: allTables(pipelines),
    // Of two header lines for the same column, the later one counts.
    models: allModels(project).map((model) => ({ ...model, columns: Object.entries(model.columns) })),
  };
}

/** Returns everything that determines the rows of a dataset and their violations. Rows are carried over only if it is equal. */
export function datasetDefinition(pipeline: AnyPipeline): unknown {
  return {
    rules: rulesVersion,
    pipeline,
    tables: allTables([pipeline]),
    checks: generatedChecks(pipeline),
    messages: ownMessages,
  };
}

/** Creates all tables and views. Throws DuckDB's error if a view can't be created. */
export async function makeSchema(database: Database, project: Project): Promise<void> {
  const failed = await createSchema(database, project);
  if (failed !== null) throw failed.error;
}

/** Creates all tables and views, or nothing. Returns the view that failed, or null. */
export async function createSchema(database: Database, project: Project): Promise<FailedModel | null> {
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

export function allModels({ pipelines, models }: Project): readonly SqlFile[] {
  return [reconciliationModel(pipelines), ...models];
}

/**
 * Creates the views with their comments. A column that a view selects from another relation keeps its comment.
 * A header line `new_*: TABLE` copies the comments of TABLE to the columns with that prefix.
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
  // Parquet has no type for HUGEINT, the sum of whole numbers. As BIGINT, the view fails on overflow.
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

function createViewSql({ name, sql, comment }: SqlFile, narrowed: readonly string[] = []): string {
  const casts = narrowed.map((column) => `${quoteIdentifier(column)}::BIGINT AS ${quoteIdentifier(column)}`);
  const select = narrowed.length === 0 ? sql : `SELECT * REPLACE (${casts.join(', ')}) FROM (${sql}\n)`;
  // On a separate line, because a query may end with a comment.
  return `CREATE OR REPLACE VIEW ${quoteIdentifier(name)} AS ${select}\n; ${commentSql('VIEW', [name], comment)}`;
}

function commentSql(kind: 'VIEW' | 'COLUMN', name: readonly string[], comment: string): string {
  return `COMMENT ON ${kind} ${name.map(quoteIdentifier).join('.')} IS ${quoteText(comment)}`;
}
