/** Computes the age of violations from the previous snapshot, and the log of when violations appeared and were resolved. */

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
  const staged = 'temp.staging_violations';
  const [id, time] = ageOf(now);
  const before = now.hasPrevious ? await violationsBefore(database, pipelines) : null;
  if (before === null) return `SELECT *, ${id}, ${time} FROM ${staged}`;
  return `SELECT n.*, coalesce(o.first_snapshot, ${id}), coalesce(o.since, ${time}) FROM ${staged} n
    LEFT JOIN (SELECT DISTINCT * EXCLUDE (severity, message) FROM (${before})) o ON ${isSame(pipelines)}`;
}

export async function violationsLogSql(
  database: Database,
  pipelines: readonly AnyPipeline[],
  now: NewSnapshot,
): Promise<string> {
  const known = columnList([...violationColumns(pipelines).map(({ name }) => name), ...ageColumns]);
  const selects = [`SELECT ${known}, NULL AS resolved_snapshot, NULL AS resolved_at FROM violations`];
  const before = now.hasPrevious ? await violationsBefore(database, pipelines) : null;
  if (before !== null)
    selects.push(
      `SELECT ${known}, ${ageOf(now).join(', ')} FROM (${before}) o WHERE NOT EXISTS (FROM violations n WHERE ${isSame(pipelines)})`,
    );
  const log = await columnNames(database, 'previous', violationsLogTableName);
  const earlier = log.size === 0 ? null : selectList(violationsLogTable(pipelines).columns, log, pipelines);
  if (before !== null && earlier !== null)
    selects.push(`SELECT ${earlier} FROM previous.${violationsLogTableName} WHERE resolved_snapshot IS NOT NULL`);
  return selects.join(' UNION ALL ');
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

/** Returns a SELECT of the previous violations with their ages, or null if columns differ. Without ages, they start with that snapshot. */
async function violationsBefore(database: Database, pipelines: readonly AnyPipeline[]): Promise<string | null> {
  const existing = await columnNames(database, 'previous', 'violations');
  const columns = selectList(violationColumns(pipelines), existing, pipelines);
  if (columns === null) return null;
  if (ageColumns.every((name) => existing.has(name)))
    return `SELECT ${columns}, ${columnList(ageColumns)} FROM previous.violations`;
  return `SELECT ${columns}, l.snapshot_id AS first_snapshot, l.published_at AS since FROM previous.violations,
    (SELECT snapshot_id, published_at FROM previous.snapshots_log ORDER BY snapshot_id DESC LIMIT 1) l`;
}
