/** SQL that finds violations beside those of the transformation: checks across tables, and what is carried over with its rows. */

import { messageSql } from '../check-messages.ts';
import { columnList, quoteIdentifier, quoteText } from '../duckdb/database.ts';
import { carriedCondition, type CarryOver } from './previous-tables.ts';
import { placeColumns, stagedViolationsTable } from './tables.ts';
import type { AnyPipeline, Project, SqlFile } from '../pipeline.ts';

/** A SELECT each, with the columns of the staged violations. */
export function violationSelects({ pipelines, checks }: Project, carryOver: CarryOver | null): string[] {
  const acrossTables = checks.map((check) => checkSelect(check, pipelines));
  if (carryOver === null) return acrossTables;
  const names = checks.map(({ name }) => quoteText(name)).join(', ') || "''";
  const columns = columnList(stagedViolationsTable(pipelines).columns.map(({ name }) => name));
  return [
    ...acrossTables,
    ...pipelines.map((pipeline) => {
      const condition = carriedCondition(carryOver, pipeline, quoteIdentifier(pipeline.district));
      return `SELECT ${columns} FROM previous.violations WHERE dataset = ${quoteText(pipeline.table)} AND ${condition} AND check_name NOT IN (${names})`;
    }),
  ];
}

function checkSelect({ name, sql, message }: SqlFile, pipelines: readonly AnyPipeline[]): string {
  const place = placeColumns(pipelines).map((column) => column.name);
  const given = new Set(['dataset', ...place, 'severity', 'column_name', 'expected', 'actual', 'message']);
  const values = stagedViolationsTable(pipelines).columns.map((column) => {
    if (column.name === 'check_name') return quoteText(name);
    if (column.name === 'message' && message !== undefined) return messageSql(message, pipelines);
    return given.has(column.name) ? `${quoteIdentifier(column.name)}::${column.type}` : 'NULL';
  });
  return `SELECT ${values.join(', ')} FROM (${sql})`;
}
