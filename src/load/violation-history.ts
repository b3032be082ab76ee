/** Computes the age of violations from the previous snapshot, and the log of when violations appeared and were resolved. */

import { stagedName } from './staging.ts';
import { columnList, type Database, quoteIdentifier, quoteText } from '../runtime/database.ts';
import { columnNames } from './changes.ts';
import { selectList, violationColumns, violationIdentity, violationsLogTable } from './tables.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { ageColumns, violationsLogTableName } from '../warehouse/snapshot-format.ts';

export interface ViolationAges {
  /** In this snapshot and not in the previous one. */
  readonly new: number;
  /** In the previous snapshot and not in this one. */
  readonly resolved: number;
  /** In both snapshots, or in a snapshot without a previous one. */
  readonly standing: number;
}

export interface NewSnapshot {
  readonly snapshot: string;
  readonly publishedAt: Date;
  readonly hasPrevious: boolean;
}

export async function agedViolationsSql(
  database: Database,
  pipelines: readonly AnyPipeline[],
  now: NewSnapshot,
): Promise<string> {
  const staged = stagedName('violations');
  const [id, time] = ageOf(now);
  if (!now.hasPrevious) return `SELECT *, ${id}, ${time} FROM ${staged}`;
  const before = await violationsBefore(database, pipelines);
  return `SELECT n.*, coalesce(o.first_snapshot, ${id}), coalesce(o.since, ${time}) FROM ${staged} n
    LEFT JOIN (SELECT DISTINCT * EXCLUDE (severity, message) FROM (${before})) o ON ${isSame(pipelines)}`;
}

export async function violationsLogSql(
  database: Database,
  pipelines: readonly AnyPipeline[],
  now: NewSnapshot,
): Promise<string> {
  const lasting = columnList([...violationColumns(pipelines).map(({ name }) => name), ...ageColumns]);
  const standing = `SELECT ${lasting}, NULL AS resolved_snapshot, NULL AS resolved_at FROM violations`;
  if (!now.hasPrevious) return standing;
  const before = await violationsBefore(database, pipelines);
  const log = await columnNames(database, 'previous', violationsLogTableName);
  return `${standing}
    UNION ALL SELECT ${lasting}, ${ageOf(now).join(', ')} FROM (${before}) o WHERE NOT EXISTS (FROM violations n WHERE ${isSame(pipelines)})
    UNION ALL SELECT ${selectList(violationsLogTable(pipelines).columns, log)} FROM previous.${violationsLogTableName} WHERE resolved_snapshot IS NOT NULL`;
}

/** Counts the violations by severity and age. In a first snapshot, no violation is new. */
export async function countAges(
  database: Database,
  { snapshot, hasPrevious }: Pick<NewSnapshot, 'snapshot' | 'hasPrevious'>,
): Promise<Record<string, ViolationAges>> {
  const here = quoteText(snapshot);
  const isNew = `(${hasPrevious} AND first_snapshot = ${here})`;
  const rows = await database.rows<{ severity: string; fresh: bigint; resolved: bigint; standing: bigint }>(
    `SELECT severity, count(*) FILTER (resolved_snapshot IS NULL AND ${isNew}) AS fresh,
       count(*) FILTER (resolved_snapshot = ${here}) AS resolved,
       count(*) FILTER (resolved_snapshot IS NULL AND NOT ${isNew}) AS standing
     FROM ${violationsLogTableName} GROUP BY ALL ORDER BY ALL`,
  );
  return Object.fromEntries(
    rows.map(({ severity, fresh, resolved, standing }) => [
      severity,
      { new: Number(fresh), resolved: Number(resolved), standing: Number(standing) },
    ]),
  );
}

function isSame(pipelines: readonly AnyPipeline[]): string {
  return violationIdentity(pipelines)
    .map(quoteIdentifier)
    .map((name) => `n.${name} IS NOT DISTINCT FROM o.${name}`)
    .join(' AND ');
}

function ageOf({ snapshot, publishedAt }: NewSnapshot): [string, string] {
  return [quoteText(snapshot), `${quoteText(publishedAt.toISOString().slice(0, 19))}::TIMESTAMP`];
}

/** Returns a SELECT of the previous violations with their ages. */
async function violationsBefore(database: Database, pipelines: readonly AnyPipeline[]): Promise<string> {
  const existing = await columnNames(database, 'previous', 'violations');
  const columns = selectList(violationColumns(pipelines), existing);
  return `SELECT ${columns}, ${columnList(ageColumns)} FROM previous.violations`;
}
