/** Makes the tables and views of a new snapshot, empty: that takes a while, and answers are on their way meanwhile. */

import type { Database } from '../duckdb/database.ts';
import type { Project } from '../pipeline.ts';
import { quoteIdentifier, quoteText } from '../duckdb/sql-text.ts';
import { allTables, createTableSql, datasetTable } from './tables.ts';

export async function makeSchema(database: Database, project: Project): Promise<void> {
  // One transaction: each statement by itself would wait for the disk.
  await database.run('BEGIN');
  await database.run(allTables(project.pipelines).map(createTableSql).join(';\n'));
  await makeViews(database, project);
  await database.run('COMMIT');
}

/** Views and their comments; a column that a view takes over from a table or from a view before it keeps its meaning. */
async function makeViews(database: Database, { pipelines, models }: Project): Promise<void> {
  const meanings = new Map(
    pipelines.flatMap((pipeline) => datasetTable(pipeline).columns.map(({ name, comment }) => [name, comment])),
  );
  for (const model of models) {
    const view = quoteIdentifier(model.name);
    await database.run(`CREATE VIEW ${view} AS ${model.sql}; COMMENT ON VIEW ${view} IS ${quoteText(model.comment)}`);
    for (const [name, comment] of Object.entries(model.columns)) meanings.set(name, comment);
    const columns = await database.rows<{ column_name: string }>(`SELECT column_name FROM (DESCRIBE ${view})`);
    const comments = columns.map(
      ({ column_name: name }) =>
        `COMMENT ON COLUMN ${view}.${quoteIdentifier(name)} IS ${quoteText(meanings.get(name) ?? '')}`,
    );
    await database.run(comments.join('; '));
  }
}
