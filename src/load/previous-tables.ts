/** Reads the previous snapshot, whose history continues in the new one, and selects rows to carry over. */

import { attachReadOnly, type Database, quoteIdentifier, quoteText, tableColumns } from '../runtime/database.ts';
import { verifyHint } from '../warehouse/open-published.ts';
import { RekapError } from '../errors.ts';
import { snapshotsLogTableName } from '../warehouse/snapshot-format.ts';
import { quarantineTable } from './tables.ts';
import type { AnyPipeline } from '../project/declaration.ts';

/**
 * Attaches the previous snapshot's DuckDB file as `previous`.
 * @throws `database-held` if another program writes to it, `warehouse` if it can't be read or a table is missing.
 */
export async function attachPrevious(database: Database, file: string): Promise<void> {
  await attachReadOnly(database, file, 'previous');
  // Tables only: a view could read any file, and this database may open files.
  for (const name of [quarantineTable.name, snapshotsLogTableName])
    if ((await tableColumns(database, 'previous', name)).length === 0)
      throw new RekapError('warehouse', `${file} has no table ${name}.`, verifyHint);
}

/** Returns the characters of the longest text of the previous violations and quarantined records. */
export async function longestNote(database: Database): Promise<number> {
  const columns = await tableColumns(database, 'previous', 'violations');
  const raw = columns.some(({ column_name }) => column_name === 'raw_value')
    ? '(SELECT max(length(raw_value)) FROM previous.violations)'
    : '0';
  const [found] = await database.rows<{ longest: bigint | null }>(
    `SELECT greatest(${raw}, (SELECT max(length(record)) FROM previous.quarantine)) AS longest`,
  );
  return Number(found!.longest ?? 0);
}

/** The rows that a partial sync copies from the previous snapshot. */
export interface CarryOver {
  /** Partitions that were read, by table; all others are carried over. Null if the whole dataset was read. */
  readonly replaced: ReadonlyMap<string, readonly string[] | null>;
}

export const fullSyncHint = 'Run one sync without --partition and --dataset.';

export function columnsError(table: string): RekapError {
  return new RekapError(
    'usage',
    `The columns of the table ${table} differ from those in the previous snapshot, so nothing can be carried over.`,
    fullSyncHint,
  );
}

export function isCarried(carryOver: CarryOver | null, pipeline: AnyPipeline): carryOver is CarryOver {
  return carryOver !== null && (carryOver.replaced.get(pipeline.table) ?? null) !== null;
}

/** Returns the SQL condition on carried-over rows. `partition` is SQL for the partition's value, by default the pipeline's column. */
export function carriedCondition(
  carryOver: CarryOver,
  { table, partition: declared }: AnyPipeline,
  partition = declared === undefined ? '' : quoteIdentifier(declared.column),
): string {
  const replaced = carryOver.replaced.get(table) ?? null;
  if (replaced === null) return 'false';
  if (replaced.length === 0) return 'true';
  return `${partition}::VARCHAR NOT IN (${replaced.map(quoteText).join(', ')})`;
}
