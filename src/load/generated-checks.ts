/** Generates the declared row checks that DuckDB runs: ranges, patterns and references, each as a query over its table. */

import { ownMessages } from './check-messages.ts';
import { columnList, quoteIdentifier, quoteText } from '../runtime/database.ts';
import { kindOf } from '../kinds/kinds.ts';
import type { AnyPipeline, PatternCheck, RangeCheck, ReferenceCheck } from '../project/declaration.ts';
import type { SqlFile } from '../project/sql-file.ts';

type GeneratedCheck = RangeCheck | PatternCheck | ReferenceCheck;

/** Returns one query per declared check except sums, which the transformation checks. NULL passes each of them. */
export function generatedChecks(pipeline: AnyPipeline): SqlFile[] {
  return pipeline.checks.flatMap((check) => (check.kind === 'sum' ? [] : [generateCheck(pipeline, check)]));
}

function generateCheck(pipeline: AnyPipeline, check: GeneratedCheck): SqlFile {
  const { table, key } = pipeline;
  const column = quoteIdentifier(check.column);
  const { expected, fails } = conditionOf(pipeline, check, duckDb);
  return {
    name: check.name,
    comment: '',
    columns: {},
    message: ownMessages[check.kind],
    sql: `SELECT ${quoteText(table)} AS dataset, ${columnList(key)}, ${quoteText(check.severity)} AS severity,
      ${quoteText(check.column)} AS column_name, ${quoteText(expected)} AS expected, ${column}::VARCHAR AS actual
      FROM ${quoteIdentifier(table)} WHERE ${fails}`,
  };
}

/** Writes the parts of a condition in the SQL of an engine. */
export interface Dialect {
  name(column: string): string;
  /** The rows of a dataset. */
  rows(table: string): string;
  /** A date or a timestamp. */
  literal(text: string, sqlType: string): string;
  /** True if the whole text doesn't match. */
  mismatches(column: string, pattern: string): string;
}

const duckDb: Dialect = {
  name: quoteIdentifier,
  rows: quoteIdentifier,
  literal: (text, sqlType) => `${quoteText(text)}::${sqlType}`,
  mismatches: (column, pattern) => `NOT regexp_full_match(${column}, ${quoteText(pattern)})`,
};

/** Returns what a check expects, and the condition of a row that fails it. */
export function conditionOf(
  { columns }: AnyPipeline,
  check: GeneratedCheck,
  dialect: Dialect,
): { expected: string; fails: string } {
  const column = dialect.name(check.column);
  switch (check.kind) {
    case 'range': {
      const { min, max } = check;
      const { sqlType } = kindOf(columns[check.column]!);
      const literal = (bound: number | string): string =>
        /^(DATE|TIMESTAMP)$/.test(sqlType) ? dialect.literal(String(bound), sqlType) : String(bound);
      const expected = [
        ...(min === undefined ? [] : [`at least ${min}`]),
        ...(max === undefined ? [] : [`at most ${max}`]),
      ];
      const fails = [
        ...(min === undefined ? [] : [`${column} < ${literal(min)}`]),
        ...(max === undefined ? [] : [`${column} > ${literal(max)}`]),
      ];
      return { expected: expected.join(' and '), fails: fails.join(' OR ') };
    }
    case 'pattern':
      return { expected: check.pattern, fails: dialect.mismatches(column, check.pattern) };
    case 'reference': {
      const [table, target] = check.target.split('.') as [string, string];
      const value = dialect.name(target);
      const other = `SELECT ${value} FROM ${dialect.rows(table)} WHERE ${value} IS NOT NULL`;
      return { expected: check.target, fails: `${column} IS NOT NULL AND ${column} NOT IN (${other})` };
    }
  }
}
