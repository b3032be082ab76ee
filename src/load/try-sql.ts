/** Checks the SQL of a project against empty tables, in a sealed database: nothing is fetched, and no file is reached. */

import { openDatabase } from '../runtime/database.ts';
import { seal } from '../warehouse/open-published.ts';
import { makeCheckedSchema } from './check-sql.ts';
import type { Project } from '../project/declaration.ts';
import type { SourceFile } from '../project/load-project.ts';

/**
 * @param files The project's files by the names of their views and checks; none for a project that was stored.
 * @throws `pipeline-definition` naming file and line of everything that is wrong.
 */
export async function requireSql(project: Project, files?: ReadonlyMap<string, SourceFile>): Promise<void> {
  const database = await openDatabase(':memory:');
  try {
    await seal(database);
    await makeCheckedSchema(database, project, { files, runsChecks: true });
  } finally {
    database.close();
  }
}
