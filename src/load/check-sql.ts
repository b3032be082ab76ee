/** Creates the tables and views of a project in an empty database, and reports errors in its SQL. */

import type { Database } from '../runtime/database.ts';
import { findQuery } from '../warehouse/find-query.ts';
import { RekapError } from '../errors.ts';
import type { Project, ReportSection, SqlFile } from '../project/declaration.ts';
import { declarationError, type SourceFile } from '../project/declaration-error.ts';
import { namesIn } from '../project/sql-files.ts';
import { generatedChecks } from './generated-checks.ts';
import { createSchema } from './schema.ts';
import { checkSelect } from './violation-selects.ts';

interface SqlProblem {
  readonly name: string;
  /** Line of its SQL, from 1. */
  readonly line: number;
  /** A text of the file to find instead of the line. */
  readonly near?: string;
  readonly what: string;
}

interface SqlQuestion {
  readonly files?: ReadonlyMap<string, SourceFile> | undefined;
  /** True if the checks run too. Otherwise only their columns are checked. */
  readonly runsChecks: boolean;
}

/** Creates the schema, or nothing if any SQL is wrong. Throws `pipeline-definition` naming the file and line of each problem. */
export async function makeCheckedSchema(
  database: Database,
  project: Project,
  { files = new Map(), runsChecks }: SqlQuestion,
): Promise<void> {
  const problems = await findSqlProblems(database, project, runsChecks);
  if (problems.length === 0) return;
  throw declarationError(
    problems.map(({ name, line, near, what }) => {
      const file = files.get(name);
      return file === undefined
        ? { file: { path: name, text: '', headerLines: 0 }, at: line, what: `line ${line}: ${what}` }
        : { file, at: near === undefined ? line + file.headerLines : [near], what };
    }),
  );
}

async function findSqlProblems(database: Database, project: Project, runsChecks: boolean): Promise<SqlProblem[]> {
  const problems: SqlProblem[] = [];
  for (const file of [...project.models, ...project.checks]) {
    const query = await findQuery(database.connection, file.sql);
    if (query === null) problems.push(await explainInvalidQuery(database, file));
    else if (query !== file.sql)
      problems.push({ name: file.name, line: 1, what: 'it must be one SELECT, without a semicolon before a comment' });
  }
  if (problems.length > 0) return problems;
  // Views that read a failed view fail too, so only the first is reported.
  const failed = await createSchema(database, project);
  if (failed !== null) return [problemOf(failed.model.name, failed.error)];
  for (const check of project.checks) problems.push(...(await findCheckProblems(database, project, check)));
  for (const section of project.report ?? []) problems.push(...(await findReportProblems(database, section)));
  if (!runsChecks || problems.length > 0) return problems;
  const generated = project.pipelines.flatMap((pipeline) =>
    generatedChecks(pipeline).map((check) => ({ name: pipeline.table, check })),
  );
  for (const { name, check } of [...project.checks.map((own) => ({ name: own.name, check: own })), ...generated])
    await database
      .run(checkSelect(check, project.pipelines))
      .catch((error: unknown) => problems.push(problemOf(name, error)));
  return problems;
}

async function explainInvalidQuery({ connection }: Database, { name, sql }: SqlFile): Promise<SqlProblem> {
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

/** Reports the query of a section at the section's title. */
async function findReportProblems(database: Database, { title, query }: ReportSection): Promise<SqlProblem[]> {
  if (query === undefined) return [];
  const sql = query.trim().replace(/;$/, '');
  const file = { name: 'report', sql, comment: '', columns: {} };
  const at = (problem: SqlProblem): SqlProblem => ({ ...problem, near: title });
  if ((await findQuery(database.connection, sql)) === null) return [at(await explainInvalidQuery(database, file))];
  try {
    await database.rows(`DESCRIBE FROM (${sql})`);
    return [];
  } catch (error) {
    return [at(problemOf('report', error))];
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
