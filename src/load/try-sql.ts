/** Checks the SQL of a project against empty tables in a sealed database, without network or file access. */

import { openDatabase } from '../runtime/database.ts';
import { seal } from '../warehouse/open-published.ts';
import { makeCheckedSchema } from './check-sql.ts';
import type { Project } from '../project/declaration.ts';
import type { SourceFile } from '../project/declaration-error.ts';

/**
 * @param files The project's files by the names of their views and checks. Undefined for a stored project.
 * @throws `pipeline-definition` naming the file and line of each problem.
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
