/** Creates the tables and views of a project in a sealed database, without network or file access, to check or compare them. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Definitions, openDatabase, readComments, readObjects } from '../runtime/database.ts';
import { openPublished, seal } from '../warehouse/open-published.ts';
import { makeCheckedSchema } from './check-sql.ts';
import type { Project } from '../project/declaration.ts';
import type { SourceFile } from '../project/declaration-error.ts';
import { databaseFile } from '../warehouse/snapshot-format.ts';

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

/** Returns the definitions of a project's tables and views, as DuckDB writes them after reading a file. Throws as `requireSql` does. */
export async function declaredDefinitions(project: Project, signal?: AbortSignal): Promise<Definitions> {
  // DuckDB prints a new view differently, for example CAST(a AS "DATE") or other parentheses around UNION ALL.
  const folder = await mkdtemp(join(tmpdir(), 'rekap-schema-'));
  try {
    const file = join(folder, databaseFile);
    const made = await openDatabase(file, { signal });
    try {
      await seal(made, { files: [file] });
      await makeCheckedSchema(made, project, { runsChecks: false });
    } finally {
      made.close();
    }
    const read = await openPublished(file, { signal });
    try {
      return { objects: await readObjects(read), comments: await readComments(read) };
    } finally {
      read.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
