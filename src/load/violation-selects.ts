/** Selects the violations that the transformation doesn't find: failed checks across tables, and carried-over violations. */

import { stagedName } from './staging.ts';
import { messageSql } from './check-messages.ts';
import { RekapError } from '../errors.ts';
import { type Database, quoteIdentifier, quoteText } from '../runtime/database.ts';
import { severities } from '../stages.ts';
import { type CarryOver, keptCondition } from './previous-tables.ts';
import { generatedChecks } from './generated-checks.ts';
import { placeColumns, selectList, stagedViolationsTable } from './tables.ts';
import { type AnyPipeline, type Project, sumChecks } from '../project/declaration.ts';
import { ownChecks } from '../project/reserved.ts';
import type { SqlFile } from '../project/sql-file.ts';

/**
 * Returns SELECTs with the columns of the staged violations.
 * @param previous Columns of the table violations in the previous snapshot.
 */
export function violationSelects(project: Project, carryOver: CarryOver, previous: ReadonlySet<string>): string[] {
  const { pipelines } = project;
  const checks = [...project.checks, ...pipelines.flatMap(generatedChecks)];
  const acrossTables = checks.map((check) => checkSelect(check, pipelines));
  if (carryOver.size === 0) return acrossTables;
  const columns = selectList(stagedViolationsTable(pipelines).columns, previous);
  return [
    ...acrossTables,
    ...pipelines.map((pipeline) => {
      const condition = keptCondition(carryOver.get(pipeline.table), pipeline, { types: placeColumns(pipelines) });
      return `SELECT ${columns} FROM previous.violations p WHERE ${isFoundInRecords(pipeline)} AND ${condition}`;
    }),
  ];
}

/** Returns the SQL condition on violations that the transformation finds. All others are found again in the new tables. */
export function isFoundInRecords(pipeline: AnyPipeline): string {
  const names = [...ownChecks, ...sumChecks(pipeline).map(({ name }) => name)];
  return `dataset = ${quoteText(pipeline.table)} AND check_name IN (${names.map(quoteText).join(', ')})`;
}

/** Returns a SELECT with all columns of the staged violations. Columns that the check doesn't return are NULL. */
export function checkSelect({ name, sql, message }: SqlFile, pipelines: readonly AnyPipeline[]): string {
  const { columns } = stagedViolationsTable(pipelines);
  const values = columns.map((column) => {
    if (column.name === 'check_name') return quoteText(name);
    if (column.name === 'message' && message !== undefined) return messageSql(message, pipelines);
    return column.name === 'raw_value' ? 'NULL' : `${quoteIdentifier(column.name)}::${column.type}`;
  });
  const nothing = columns.map((column) => `NULL::${column.type} AS ${quoteIdentifier(column.name)}`);
  return `SELECT ${values.join(', ')} FROM (SELECT * FROM (${sql}\n) UNION ALL BY NAME SELECT ${nothing.join(', ')} WHERE false)`;
}

/**
 * Checks the staged violations, because the result of a check across tables depends on the rows.
 * @throws `pipeline-definition` naming a check that returns another severity, or a dataset that the project doesn't have.
 */
export async function requireDeclaredOrigin(database: Database, pipelines: readonly AnyPipeline[]): Promise<void> {
  const isOneOf = (column: string, texts: readonly string[]): string =>
    `coalesce(${column} IN (${texts.map(quoteText).join(', ')}), false)`;
  const tables = pipelines.map(({ table }) => table);
  const [odd] = await database.rows<{ check_name: string; what: string }>(
    `SELECT check_name, concat('the dataset ', coalesce(dataset, 'NULL'), ' and the severity ', coalesce(severity, 'NULL')) AS what
     FROM ${stagedName('violations')} WHERE NOT (${isOneOf('dataset', tables)} AND ${isOneOf('severity', severities)}) LIMIT 1`,
  );
  if (odd === undefined) return;
  throw new RekapError(
    'pipeline-definition',
    `The check ${odd.check_name} returns a row with ${odd.what}.`,
    "Nothing was published. Let it return a dataset of the project and the severity 'error' or 'warning'.",
  );
}
