/** Reads the previous snapshot, whose history continues in the new one, and selects rows to carry over. */

import { attachReadOnly, type Database, quoteIdentifier, quoteText, tableColumns } from '../runtime/database.ts';
import { verifyHint } from '../warehouse/open-published.ts';
import { RekapError } from '../errors.ts';
import { ownTables } from '../project/reserved.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { stagedName } from './staging.ts';
import type { TableColumn } from './tables.ts';
import { partitionSql } from '../project/partition-list.ts';

/**
 * Attaches the previous snapshot's DuckDB file as `previous`.
 * @throws `database-held` if another program writes to it, `warehouse` if it can't be read or a table is missing.
 */
export async function attachPrevious(database: Database, file: string): Promise<void> {
  await attachReadOnly(database, file, 'previous');
  // Tables only: a view could read any file, and this database may open files.
  for (const name of ownTables)
    if ((await tableColumns(database, 'previous', name)).length === 0)
      throw new RekapError('warehouse', `${file} has no table ${name}.`, verifyHint);
}

/** Returns the rows of the previous snapshot, and the characters of the longest text of its violations and quarantined records. */
export async function measurePrevious(database: Database): Promise<{ rows: number; longest: number }> {
  const [found] = await database.rows<{ rows: bigint; longest: bigint | null }>(
    `SELECT coalesce(sum(estimated_size), 0)::BIGINT AS rows,
       greatest((SELECT max(length(raw_value)) FROM previous.violations), (SELECT max(length(record)) FROM previous.quarantine)) AS longest
     FROM duckdb_tables() WHERE database_name = 'previous'`,
  );
  return { rows: Number(found!.rows), longest: Number(found!.longest ?? 0) };
}

/** The rows of the previous snapshot that stay, by table. A table that is missing here keeps none. */
export type CarryOver = ReadonlyMap<string, Kept>;

/** The rows of a table that stay: those `outside` the partitions that were read, or those whose keys the window doesn't have. */
export type Kept = { readonly outside: readonly string[] } | { readonly otherKeys: true };

export const fullSyncHint = 'Run one sync without --partition and --dataset.';

/**
 * Returns the SQL condition on the rows of `previous.… p` that stay.
 *
 * @param partition SQL for the partition of a row, by default from the pipeline's columns.
 * @param types SQL types of key columns, if they aren't those of the table.
 */
export function keptCondition(
  kept: Kept | undefined,
  pipeline: AnyPipeline,
  { partition = partitionSql(pipeline), types = [] }: { partition?: string; types?: readonly TableColumn[] } = {},
): string {
  if (kept === undefined) return 'false';
  if ('outside' in kept)
    return kept.outside.length === 0 ? 'true' : `${partition} NOT IN (${kept.outside.map(quoteText).join(', ')})`;
  const same = pipeline.key.map((name) => {
    const column = quoteIdentifier(name);
    const type = types.find((typed) => typed.name === name)?.type;
    return `s.${column}${type === undefined ? '' : `::${type}`} = p.${column}`;
  });
  return `NOT EXISTS (FROM ${stagedName(pipeline.table)} s WHERE ${same.join(' AND ')})`;
}
