/** Compares the staged rows of windows with the previous snapshot, before any table is built. */

import { columnList, type Database, quoteIdentifier, quoteText } from '../runtime/database.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { keptCondition } from './previous-tables.ts';
import { stagedName } from './staging.ts';
import { placeColumns, quarantineTable, stagedViolationsTable } from './tables.ts';
import { isFoundInRecords } from './violation-selects.ts';

/** Returns whether all staged rows of the tables are in the attached `previous`, with their violations and quarantined records. */
export async function areWindowsKnown(
  database: Database,
  pipelines: readonly AnyPipeline[],
  tables: readonly string[],
): Promise<boolean> {
  const read = pipelines.filter(({ table }) => tables.includes(table));
  const types = placeColumns(pipelines);
  const violations = stagedViolationsTable(pipelines);
  const ofKeys = (pipeline: AnyPipeline, options = {}): string =>
    `NOT (${keptCondition({ otherKeys: true }, pipeline, options)})`;
  const found = read.map((pipeline) => `(${isFoundInRecords(pipeline)} AND ${ofKeys(pipeline, { types })})`);
  const own = `dataset IN (${tables.map(quoteText).join(', ')})`;
  const compared = [
    // Only rows with the same keys, because a window is small.
    ...read.map((pipeline) => [pipeline.table, Object.keys(pipeline.columns), 'true', ofKeys(pipeline)] as const),
    [violations.name, violations.columns.map(({ name }) => name), own, found.join(' OR ')],
    [quarantineTable.name, quarantineTable.columns.map(({ name }) => name), own, own],
  ] as const;
  for (const [table, names, staged, before] of compared) {
    const columns = columnList(names);
    const now = `SELECT ${columns} FROM ${stagedName(table)} WHERE ${staged}`;
    const then = `SELECT ${columns} FROM previous.${quoteIdentifier(table)} p WHERE ${before}`;
    // A violation that a record no longer has doesn't change its row.
    const gone = table === violations.name ? ` UNION ALL (${then} EXCEPT ALL ${now})` : '';
    const differing = await database.rows(`SELECT 1 FROM ((${now} EXCEPT ALL ${then})${gone}) LIMIT 1`);
    if (differing.length > 0) return false;
  }
  return true;
}
