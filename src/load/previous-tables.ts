/** Reads the previous snapshot: its history continues in the new one, and a partial sync carries rows over. */

import { attachReadOnly, type Database, quoteIdentifier, quoteText, tableColumns } from '../runtime/database.ts';
import { verifyHint } from '../warehouse/open-published.ts';
import { RekapError } from '../errors.ts';
import { quarantineTable, snapshotsLogTable } from './tables.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';

/**
 * Attaches the previous snapshot's DuckDB file as `previous`.
 *
 * @throws `database-held` if another program writes to it, `warehouse` if it can't be read or lacks a table.
 */
export async function attachPrevious(database: Database, file: string): Promise<void> {
  await attachReadOnly(database, file, 'previous');
  // A view in the place of a table would read whatever it names, and this database may open files.
  for (const { name } of [quarantineTable, snapshotsLogTable])
    if ((await tableColumns(database, 'previous', name)).length === 0)
      throw new RekapError('warehouse', `${file} has no table ${name}.`, verifyHint);
}

/** What is taken over from the snapshot before instead of being read anew. */
export interface CarryOver {
  /** By table: the partitions that were read anew, all others being carried over; null where the whole dataset was. */
  readonly replaced: ReadonlyMap<string, readonly string[] | null>;
}

/** What to do where nothing can be carried over. */
export function adviseWholeSync({ partitionOption }: Pick<Project, 'partitionOption'>): string {
  return `Run one sync without --${partitionOption} and --dataset.`;
}

/** The error for a table of the previous snapshot that lacks a column. */
export function otherColumns(table: string, project: Pick<Project, 'partitionOption'>): RekapError {
  return new RekapError(
    'usage',
    `The columns of the table ${table} differ from those in the previous snapshot, so nothing can be carried over.`,
    adviseWholeSync(project),
  );
}

/** Whether any of a dataset's rows are carried over. */
export function isCarried(carryOver: CarryOver | null, pipeline: AnyPipeline): carryOver is CarryOver {
  return carryOver !== null && (carryOver.replaced.get(pipeline.table) ?? null) !== null;
}

/**
 * SQL condition on the rows of the snapshot before that are carried over.
 *
 * @param partition The column that holds the partition's value; that of the pipeline, unless said otherwise.
 */
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
