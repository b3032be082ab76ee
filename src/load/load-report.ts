/** Reports the results of a load: carried-over rows, changes, quarantined records and failed checks. */

import { type Database, quoteIdentifier, quoteText } from '../runtime/database.ts';
import { type ChangeCounts, countChanges, sharedColumns } from './changes.ts';
import { type CarryOver, keptCondition } from './previous-tables.ts';
import { type AnyPipeline, summedColumns } from '../project/declaration.ts';
import { partitionParameters, partitionSql } from '../project/partition-list.ts';
import type { PartitionRows } from '../stages.ts';

export interface LoadReport {
  /** Rows carried over from the previous snapshot, with sums and NULLs of the count columns. */
  readonly carried: {
    readonly rows: number;
    readonly sums: Readonly<Record<string, bigint>>;
    readonly nulls: Readonly<Record<string, number>>;
  };
  /** Records in quarantine by reason, including those carried over. The most frequent reason comes first. */
  readonly quarantine: readonly { readonly reason: string; readonly count: number }[];
  readonly changes: ChangeCounts;
  /** Changes that windows of earlier syncs could not show. */
  readonly missed: ChangeCounts;
  readonly violations: readonly { readonly check: string; readonly severity: string; readonly count: number }[];
  /** Partitions with fewer rows than in the previous snapshot, sorted by ID. */
  readonly shrunken: readonly PartitionRows[];
}

export interface ReportScope {
  readonly carryOver: CarryOver;
  readonly snapshot: string;
  readonly hasPrevious: boolean;
}

export async function reportDataset(
  database: Database,
  pipeline: AnyPipeline,
  { carryOver, snapshot, hasPrevious }: ReportScope,
): Promise<LoadReport> {
  const counts = summedColumns(pipeline);
  const dataset = quoteText(pipeline.table);
  let carried: LoadReport['carried'] = {
    rows: 0,
    sums: Object.fromEntries(counts.map((name) => [name, 0n])),
    nulls: Object.fromEntries(counts.map((name) => [name, 0])),
  };
  const kept = carryOver.get(pipeline.table);
  if (kept !== undefined) {
    const figures = counts.flatMap((name) => [
      `coalesce(sum(${quoteIdentifier(name)}), 0)::VARCHAR AS ${quoteIdentifier(`sum ${name}`)}`,
      `count(*) FILTER (${quoteIdentifier(name)} IS NULL) AS ${quoteIdentifier(`nulls ${name}`)}`,
    ]);
    const condition = keptCondition(kept, pipeline);
    const [row] = await database.rows<Record<string, bigint | string>>(
      `SELECT count(*) AS row_count, ${figures.join(', ')} FROM previous.${quoteIdentifier(pipeline.table)} p WHERE ${condition}`,
    );
    carried = {
      rows: Number(row!['row_count']),
      // In the smallest unit, like the sums of the transformation.
      sums: Object.fromEntries(counts.map((name) => [name, BigInt(String(row![`sum ${name}`]).replace('.', ''))])),
      nulls: Object.fromEntries(counts.map((name) => [name, Number(row![`nulls ${name}`])])),
    };
  }
  const violations = await database.rows<{ check_name: string; severity: string; row_count: bigint }>(
    `SELECT check_name, severity, count(*) AS row_count FROM violations WHERE dataset = ${dataset} GROUP BY ALL ORDER BY ALL`,
  );
  return {
    carried,
    quarantine: await readQuarantine(database, pipeline),
    ...(await countChanges(database, pipeline, snapshot)),
    violations: violations.map(({ check_name, severity, row_count }) => ({
      check: check_name,
      severity,
      count: Number(row_count),
    })),
    shrunken: hasPrevious ? await findShrunken(database, pipeline) : [],
  };
}

/** Returns the records in quarantine by reason. */
export async function readQuarantine(database: Database, { table }: AnyPipeline): Promise<LoadReport['quarantine']> {
  const rows = await database.rows<{ reason: string; row_count: bigint }>(
    `SELECT reason, count(*) AS row_count FROM quarantine WHERE dataset = ${quoteText(table)} GROUP BY ALL ORDER BY row_count DESC, reason`,
  );
  return rows.map(({ reason, row_count }) => ({ reason, count: Number(row_count) }));
}

async function findShrunken(database: Database, pipeline: AnyPipeline): Promise<PartitionRows[]> {
  // Tables with different keys can't be compared.
  if (pipeline.partition === undefined || (await sharedColumns(database, 'previous', pipeline)).length === 0) return [];
  const rowsIn = (table: string) =>
    `(SELECT ${partitionSql(pipeline)} AS partition, count(*) AS row_count FROM ${table} GROUP BY ALL)`;
  const table = quoteIdentifier(pipeline.table);
  const rows = await database.rows<{ partition: string; before: bigint; now: bigint }>(
    `SELECT partition, o.row_count AS before, coalesce(n.row_count, 0) AS now
     FROM ${rowsIn(`previous.${table}`)} o LEFT JOIN ${rowsIn(table)} n USING (partition)
     WHERE now < o.row_count ORDER BY ALL`,
  );
  return rows.map(({ partition, before, now }) => ({ partition, before: Number(before), now: Number(now) }));
}

export interface BrokenCheck {
  readonly dataset: string;
  readonly check: string;
  readonly severity: string;
  readonly count: number;
  /** Violations that the previous snapshot didn't have. 0 without a previous snapshot. */
  readonly new: number;
  /** New ones first, then those with the largest difference between expected and actual. */
  readonly examples: readonly {
    /** Null if the dataset has no partitions or the row's partition is unknown. */
    readonly partition: string | null;
    readonly place: string;
    readonly message: string;
    readonly new: boolean;
  }[];
}

const examplesPerCheck = 3;

/** Returns all failed checks: errors first, then checks with new violations, then by number of violations. */
export async function readBrokenChecks(
  database: Database,
  pipelines: readonly AnyPipeline[],
  scope: Pick<ReportScope, 'snapshot' | 'hasPrevious'>,
): Promise<BrokenCheck[]> {
  const broken: BrokenCheck[] = [];
  for (const pipeline of pipelines) broken.push(...(await readBrokenChecksOf(database, pipeline, scope)));
  return broken.toSorted(
    (a, b) =>
      compare(a.severity, b.severity) ||
      Number(a.new === 0) - Number(b.new === 0) ||
      b.count - a.count ||
      compare(a.dataset, b.dataset) ||
      compare(a.check, b.check),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

async function readBrokenChecksOf(
  database: Database,
  pipeline: AnyPipeline,
  { snapshot, hasPrevious }: Pick<ReportScope, 'snapshot' | 'hasPrevious'>,
): Promise<BrokenCheck[]> {
  const isNew = `(${hasPrevious} AND first_snapshot = ${quoteText(snapshot)})`;
  const { table, key, watch, columns } = pipeline;
  const value = partitionSql(pipeline);
  const outer = partitionParameters(pipeline).map(({ column }) => key.indexOf(column) + 1);
  const within = key.slice(Math.max(0, ...outer)).map(quoteIdentifier);
  const placeSql = within.length === 0 ? "''" : `concat_ws(', ', ${within.toReversed().join(', ')})`;
  const distance = "abs(try_cast(regexp_extract(expected, '\\d+') AS BIGINT) - try_cast(actual AS BIGINT))";
  // A row can fail a check once per count, and the examples should be of different rows.
  const candidates = examplesPerCheck * Math.max(1, summedColumns({ columns, watch }).length);
  // A window function would hold all violations in memory, and a source may fail every check in every record.
  const rows = await database.rows<Omit<BrokenCheck, 'count' | 'new'> & { total: bigint; fresh: bigint }>(`
    SELECT dataset, check_name AS "check", severity, count(*) AS total, count(*) FILTER (${isNew}) AS fresh,
      min_by(
        {partition: ${value}, place: ${placeSql}, message: message, new: ${isNew}},
        row(NOT ${isNew}, coalesce(-${distance}, 1), ${[value, ...within].join(', ')}, column_name),
        ${candidates}
      ) AS examples
    FROM violations
    WHERE dataset = ${quoteText(table)}
    GROUP BY ALL`);
  return rows.map(({ total, fresh, examples, ...check }) => ({
    ...check,
    count: Number(total),
    new: Number(fresh),
    examples: preferDistinctPlaces(examples)
      .slice(0, examplesPerCheck)
      .toSorted((a, b) => Number(b.new) - Number(a.new)),
  }));
}

function preferDistinctPlaces(examples: BrokenCheck['examples']): BrokenCheck['examples'] {
  const firsts = examples.filter(
    ({ partition, place }, index) =>
      examples.findIndex((other) => other.partition === partition && other.place === place) === index,
  );
  return [...firsts, ...examples.filter((example) => !firsts.includes(example))];
}
