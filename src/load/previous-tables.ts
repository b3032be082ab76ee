/** Reads the previous snapshot, whose history continues in the new one, and selects rows to carry over. */

import { attachReadOnly, type Database, quoteText, tableColumns } from '../runtime/database.ts';
import { verifyHint } from '../warehouse/open-published.ts';
import { RekapError } from '../errors.ts';
import { ownTables } from '../project/reserved.ts';
import type { AnyPipeline } from '../project/declaration.ts';
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

/** The rows that a partial sync copies from the previous snapshot. */
export interface CarryOver {
  /** Partitions that were read, by table; all others are carried over. Null if the whole dataset was read. */
  readonly replaced: ReadonlyMap<string, readonly string[] | null>;
}

export const fullSyncHint = 'Run one sync without --partition and --dataset.';

export function isCarried(carryOver: CarryOver | null, pipeline: AnyPipeline): carryOver is CarryOver {
  return carryOver !== null && (carryOver.replaced.get(pipeline.table) ?? null) !== null;
}

/** Returns the SQL condition on carried-over rows. `partition` is SQL for the partition's value, by default from the pipeline's columns. */
export function carriedCondition(
  carryOver: CarryOver,
  pipeline: AnyPipeline,
  partition = partitionSql(pipeline),
): string {
  const replaced = carryOver.replaced.get(pipeline.table) ?? null;
  if (replaced === null) return 'false';
  if (replaced.length === 0) return 'true';
  return `${partition} NOT IN (${replaced.map(quoteText).join(', ')})`;
}
