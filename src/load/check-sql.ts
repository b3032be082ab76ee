/** Creates the tables and views of a project in an empty database, and reports errors in its SQL. */

import type { Database } from '../runtime/database.ts';
import { findQuery } from '../warehouse/find-query.ts';
import { RekapError } from '../errors.ts';
import type { Project } from '../project/declaration.ts';
import type { SqlFile } from '../project/sql-file.ts';
import { declarationError, type SourceFile } from '../project/declaration-error.ts';
import { severities } from '../stages.ts';
import { namesIn } from '../project/sql-files.ts';
import { generatedChecks } from './generated-checks.ts';
import { findConstants, findImpurities } from './analyze-sql.ts';
import { createSchema } from './schema.ts';
import { checkSelect } from './violation-selects.ts';

/** A query of a project. */
interface Query extends Pick<SqlFile, 'name' | 'sql'> {
  /** A text of the file to find instead of the line. */
  readonly near?: string;
}

interface SqlProblem extends Omit<Query, 'sql'> {
  /** Line of its SQL, from 1. */
  readonly line: number;
  readonly what: string;
}

/**
 * Creates the schema, or nothing if any SQL is wrong. Throws `pipeline-definition` naming the file and line of each problem.
 * @param options.runsChecks True if the checks run too. Otherwise only their columns are checked.
 */
export async function makeCheckedSchema(
  database: Database,
  project: Project,
  { files, runsChecks }: { readonly files?: ReadonlyMap<string, SourceFile> | undefined; readonly runsChecks: boolean },
): Promise<void> {
  const problems = await findSqlProblems(database, project, runsChecks);
  if (problems.length === 0) return;
  throw declarationError(
    problems.map(({ name, line, near, what }) => {
      const file = files?.get(name);
      return file === undefined
        ? { file: { path: name, text: '', headerLines: 0 }, at: line, what: `line ${line}: ${what}` }
        : { file, at: near === undefined ? line + file.headerLines : [near], what };
    }),
  );
}

async function findSqlProblems(database: Database, project: Project, runsChecks: boolean): Promise<SqlProblem[]> {
  const { models, checks, pipelines, report = [], workbook } = project;
  const sections = [
    ...report.map((section) => ({ name: 'report', ...section })),
    ...(workbook === undefined ? [] : [{ name: 'workbook', ...workbook }]),
  ].flatMap(({ name, title, query }): Query[] =>
    query === undefined ? [] : [{ name, near: title, sql: query.trim().replace(/;$/, '') }],
  );
  const queries: Query[] = [...[...models, ...checks].map(({ name, sql }) => ({ name, sql })), ...sections];
  const problems: SqlProblem[] = [];
  for (const { sql, ...place } of queries) {
    const query = await findQuery(database.connection, sql);
    const what = 'it must be one SELECT, without a semicolon before a comment';
    if (query === null) problems.push({ ...(await explainInvalidQuery(database, { ...place, sql })), ...place });
    else if (query !== sql) problems.push({ ...place, line: 1, what });
  }
  if (problems.length > 0) return problems;
  // Before anything of a query runs: DuckDB computes calls with constant arguments while it plans.
  const texts = queries.map(({ sql }) => sql);
  for (const [index, impurity] of (await findImpurities(database, texts)).entries()) {
    const { sql: _sql, ...place } = queries[index]!;
    if (impurity !== null) problems.push({ ...place, ...impurity });
  }
  if (problems.length > 0) return problems;
  // Views that read a failed view fail too, so only the first is reported.
  const failed = await createSchema(database, project);
  if (failed !== null) return [problemOf(failed.model.name, failed.error)];
  for (const check of checks) problems.push(...(await findCheckProblems(database, project, check)));
  for (const { sql, ...place } of sections)
    await database
      .rows(`DESCRIBE FROM (${sql})`)
      .catch((error: unknown) => problems.push({ ...problemOf(place.name, error), ...place }));
  if (!runsChecks || problems.length > 0) return problems;
  const own = checks.map((check) => ({ name: check.name, check }));
  const generated = pipelines.flatMap((pipeline) =>
    generatedChecks(pipeline).map((check) => ({ name: pipeline.table, check })),
  );
  for (const { name, check } of [...own, ...generated])
    await database.run(checkSelect(check, pipelines)).catch((error: unknown) => problems.push(problemOf(name, error)));
  return problems;
}

async function explainInvalidQuery({ connection }: Database, { name, sql }: Query): Promise<SqlProblem> {
  try {
    // For a text without a statement, DuckDB's message doesn't help.
    const count = namesIn(sql).length === 0 ? 0 : (await connection.extractStatements(sql)).count;
    return {
      name,
      line: 1,
      what: count > 1 ? `it has ${count} statements, but must be one SELECT` : 'it is not a SELECT',
    };
  } catch (error) {
    return problemOf(name, error);
  }
}

/** Columns that a check must return. Key columns that its dataset doesn't have are optional. */
const requiredColumns = ['dataset', 'severity', 'column_name'];

async function findCheckProblems(database: Database, { pipelines }: Project, check: SqlFile): Promise<SqlProblem[]> {
  const problem = (what: string): SqlProblem => ({ name: check.name, line: 1, what });
  let columns: { column_name: string; column_type: string }[];
  try {
    columns = await database.rows(`DESCRIBE ${check.sql}`);
  } catch (error) {
    return [problemOf(check.name, error)];
  }
  const existing = new Set(columns.map(({ column_name }) => column_name));
  const missing = [...requiredColumns, ...(check.message === undefined ? ['message'] : [])].filter(
    (name) => !existing.has(name),
  );
  const problems = missing.map((name) =>
    problem(
      name === 'message'
        ? 'it has neither a line "-- en: …" with a message nor a column "message"'
        : `its column "${name}" is missing`,
    ),
  );
  if (!pipelines.some(({ key }) => key.every((name) => existing.has(name))))
    problems.push(problem(`it does not return the key of any dataset, such as ${pipelines[0]!.key.join(', ')}`));
  for (const severity of await findConstants(database, check.sql, 'severity'))
    if (!severities.some((valid) => valid === severity))
      problems.push(problem(`its severity ${JSON.stringify(severity)} must be 'error' or 'warning'`));
  const fields = [...(check.message?.en ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const unknown = fields.find((name) => !['dataset', 'column', 'field', 'expected', 'actual', 'limit'].includes(name));
  if (unknown !== undefined) problems.push(problem(`its message contains the unknown placeholder {${unknown}}`));
  return problems;
}

function problemOf(name: string, error: unknown): SqlProblem {
  if (error instanceof RekapError) throw error;
  const text = error instanceof Error ? error.message : String(error);
  const [, line] = /\bLINE (\d+):/.exec(text) ?? [];
  const what = text.split('\n')[0]!.replace(/^Failed to extract statements: |\.$/g, '');
  return { name, line: Number(line ?? 1), what };
}
