/** Adds a snapshot to the table `snapshots_log`, which continues that of the previous snapshot. */

import { columnList, quoteIdentifier, quoteText } from '../runtime/database.ts';
import { snapshotsLogTable, totalType } from './tables.ts';
import type { AnyPipeline } from '../project/declaration.ts';

/** What the new snapshot adds to snapshots_log. */
export interface LogEntry {
  readonly snapshot: string;
  readonly publishedAt: Date;
  readonly source: string;
}

export function snapshotsLogSql(
  pipelines: readonly AnyPipeline[],
  { snapshot, publishedAt, source }: LogEntry,
  hasPrevious: boolean,
): string {
  const time = `${quoteText(publishedAt.toISOString().slice(0, 19))}::TIMESTAMP`;
  const type = totalType(pipelines);
  const entries = pipelines.map(({ table, watch: [total] }) => {
    const [name, text] = [quoteIdentifier(table), quoteText(table)];
    // The sum of the first watched column, or NULL if the dataset watches none.
    const sum =
      total === undefined
        ? `NULL::${type}`
        : `(SELECT coalesce(sum(${quoteIdentifier(total)}), 0)::${type} FROM ${name})`;
    return `SELECT ${quoteText(snapshot)}, ${time}, ${quoteText(source)}, ${text}, (SELECT count(*) FROM ${name}), ${sum},
      (SELECT count(*) FROM violations WHERE dataset = ${text})`;
  });
  const columns = columnList(snapshotsLogTable(pipelines).columns.map(({ name }) => name));
  const earlier = hasPrevious ? ` UNION ALL SELECT ${columns} FROM previous.snapshots_log` : '';
  return `SELECT * FROM (${entries.join(' UNION ALL ')}) AS entries(${columns})${earlier}`;
}
