/** Finds contradictions in the checks of a row, each as a sentence with the name it concerns. */

import { withSuggestion } from '../runtime/closest-name.ts';
import type { ColumnDefinition, ColumnKind, Project, RowCheck } from './declaration.ts';

export type Columns = ReadonlyMap<string, ColumnDefinition>;

export type Found = Generator<readonly [near: string, what: string]>;

export const summable: readonly ColumnKind[] = ['count', 'integer', 'decimal'];

export function* findCheckProblems(check: RowCheck, columns: Columns, project: Project): Found {
  const { name } = check;
  function* requireKind(column: string, kinds: readonly ColumnKind[], what: string): Found {
    if (!isOf(kinds, columns.get(column)))
      yield [column, suggest(`the check "${name}" names "${column}", which is not ${what}`, column, columns)];
  }
  switch (check.kind) {
    case 'sum': {
      const { parts, whole } = check;
      if (parts.length < 2) yield [name, `the check "${name}" sums fewer than two columns`];
      for (const part of repeated(parts)) yield [name, `the check "${name}" sums "${part}" twice`];
      if (parts.includes(whole))
        yield [name, `the check "${name}" uses the column "${whole}" as both the total and a part`];
      for (const column of [...parts, whole]) yield* requireKind(column, summable, 'a count, an integer or a decimal');
      return;
    }
    case 'range': {
      yield* requireKind(check.column, [...summable, 'date', 'timestamp'], 'a number, a date or a timestamp');
      if (check.min === undefined && check.max === undefined)
        yield [check.column, `the check "${name}" has neither a min nor a max`];
      const kind = columns.get(check.column)?.kind;
      for (const bound of [check.min, check.max])
        if (bound !== undefined && kind !== undefined && !isBound(kind, bound))
          yield [
            String(bound),
            `the check "${name}" has the bound ${JSON.stringify(bound)}, which is not a ${kind === 'date' || kind === 'timestamp' ? `${kind} in quotes` : 'number'}`,
          ];
      return;
    }
    case 'pattern':
      yield* requireKind(check.column, ['text'], 'a text');
      return;
    case 'reference': {
      const own = columns.get(check.column);
      const other = columnOf(project, check.target);
      if (own === undefined)
        yield [
          check.column,
          suggest(`the check "${name}" names "${check.column}", which is not declared`, check.column, columns),
        ];
      if (other === undefined)
        yield [
          check.target,
          withSuggestion(
            `the check "${name}" refers to "${check.target}", which is not a column of the project`,
            check.target,
            allColumns(project),
          ),
        ];
      else if (own !== undefined && own.kind !== other.kind)
        yield [
          check.target,
          `the check "${name}" compares a column of kind ${own.kind} with one of kind ${other.kind}`,
        ];
    }
  }
}

function isBound(kind: ColumnKind, bound: number | string): boolean {
  if (kind === 'date' || kind === 'timestamp')
    return /^\d{4}-\d{2}-\d{2}/.test(String(bound)) && typeof bound === 'string';
  return /^-?\d+(?:\.\d+)?$/.test(String(bound));
}

export function columnOf({ pipelines }: Project, qualified: string): ColumnDefinition | undefined {
  const [table, column] = qualified.split('.');
  const columns = pipelines.find((pipeline) => pipeline.table === table)?.columns;
  return columns !== undefined && Object.hasOwn(columns, column!) ? columns[column!] : undefined;
}

export function isOf(kinds: readonly ColumnKind[], column: ColumnDefinition | undefined): boolean {
  return column !== undefined && kinds.includes(column.kind);
}

export function repeated(names: readonly string[]): Set<string> {
  return new Set(names.filter((name, place) => names.indexOf(name) < place));
}

/** Suggests a declared column for a mistyped one, but not for one of the wrong kind. */
export function suggest(problem: string, name: string, columns: Columns): string {
  return columns.has(name) ? problem : withSuggestion(problem, name, [...columns.keys()]);
}

export function allColumns({ pipelines }: Project): string[] {
  return pipelines.flatMap(({ table, columns }) => Object.keys(columns).map((column) => `${table}.${column}`));
}
