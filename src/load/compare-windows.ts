/** Compares the staged rows of windows with the previous snapshot, before any table is built. */

import { columnList, type Database, quoteIdentifier, quoteText } from '../runtime/database.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { keptCondition } from './previous-tables.ts';
import { stagedName } from './staging.ts';
import { quarantineTable, stagedViolationsTable } from './tables.ts';

/** Returns whether all staged rows of the tables are in the attached `previous`, with their violations and quarantined records. */
export async function areWindowsKnown(
  database: Database,
  pipelines: readonly AnyPipeline[],
  tables: readonly string[],
): Promise<boolean> {
  const compared = [
    ...pipelines
      .filter(({ table }) => tables.includes(table))
      // Only rows with the same keys, because a window is small.
      .map((pipeline) => {
        const others = keptCondition({ otherKeys: true }, pipeline);
        return [pipeline.table, columnList(Object.keys(pipeline.columns)), 'true', `NOT (${others})`] as const;
      }),
    ...[stagedViolationsTable(pipelines), quarantineTable].map(({ name, columns }) => {
      const own = `dataset IN (${tables.map(quoteText).join(', ')})`;
      return [name, columnList(columns.map((column) => column.name)), own, own] as const;
    }),
  ];
  for (const [table, columns, staged, before] of compared) {
    const [found] = await database.rows(
      `SELECT 1 FROM (SELECT ${columns} FROM ${stagedName(table)} WHERE ${staged} EXCEPT ALL
       SELECT ${columns} FROM previous.${quoteIdentifier(table)} p WHERE ${before}) LIMIT 1`,
    );
    if (found !== undefined) return false;
  }
  return true;
}
