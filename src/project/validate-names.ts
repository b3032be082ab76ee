/** Finds names that contradict each other or are reserved, and datasets that a project has twice. */

import type { Project } from './declaration.ts';
import { ownChecks, ownTables, reconciliationName } from './reserved.ts';
import type { SqlFile } from './sql-file.ts';
import { type Found, repeated } from './validate-checks.ts';

export interface DeclarationProblem {
  readonly of: string | null;
  /** A name in the file, at the position of the problem. */
  readonly near: string;
  readonly what: string;
}

const identifier = /^[a-z][a-z0-9_]*$/;
/** Names that all JavaScript objects inherit. Code that reads a manifest ignores them. */
const inherited = new Set(['constructor', 'prototype']);
export function* findCheckNameProblems(name: string): Found {
  yield* findNameProblems("the check's name", name);
  if (ownChecks.has(name)) yield [name, `the check's name "${name}" is reserved for a check of rekap`];
}

export function* findNameProblems(what: string, name: string): Found {
  if (!identifier.test(name)) yield [name, `${what} "${name}" is not lower-case snake_case`];
  if (inherited.has(name)) yield [name, `${what} "${name}" is reserved in JavaScript`];
}

export function* findNamesProblems({ pipelines }: Project): Generator<DeclarationProblem> {
  if (pipelines.length === 0)
    yield {
      of: null,
      near: 'name',
      what: 'it has no pipelines; add a file to the folder pipelines/, or draft one with "rekap probe URL"',
    };
  for (const table of repeated(pipelines.map((pipeline) => pipeline.table)))
    yield { of: table, near: table, what: `two pipelines create the table "${table}"` };
  const sources = pipelines.map(({ path, parameters, records }) => JSON.stringify([path, parameters, records]));
  for (const [place, source] of sources.entries())
    if (sources.indexOf(source) < place) {
      const { table, path } = pipelines[place]!;
      yield { of: table, near: path, what: `another pipeline already reads the endpoint "${path}"` };
    }
}

export function* findSqlFileProblems({ pipelines, models, checks }: Project): Generator<DeclarationProblem> {
  const tables = new Set([...pipelines.map(({ table }) => table), ...ownTables, reconciliationName]);
  const rowChecks = new Set(pipelines.flatMap((pipeline) => pipeline.checks.map(({ name }) => name)));
  const problemOf = ({ name }: SqlFile, [near, what]: readonly [string, string]): DeclarationProblem => ({
    of: name,
    near,
    what,
  });
  for (const name of repeated(models.map((model) => model.name)))
    yield { of: name, near: '', what: `two views have the name "${name}"` };
  for (const name of repeated(checks.map((check) => check.name)))
    yield { of: name, near: '', what: `two checks across tables have the name "${name}"` };
  for (const model of models) {
    for (const found of findNameProblems("the view's name", model.name)) yield problemOf(model, found);
    if (tables.has(model.name)) yield problemOf(model, ['', `a table also has the name "${model.name}"`]);
  }
  for (const check of checks) {
    for (const found of findCheckNameProblems(check.name)) yield problemOf(check, found);
    if (rowChecks.has(check.name)) yield problemOf(check, ['', `a row check also has the name "${check.name}"`]);
  }
}
