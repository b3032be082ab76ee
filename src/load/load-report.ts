/** What a load says of a dataset once its tables are made: what was carried over, what is in quarantine, which checks are broken. */

import { type Database, quoteIdentifier, quoteText } from '../duckdb/database.ts';
import { type ChangeCounts, countChanges, sharedColumns } from './changes.ts';
import { carriedCondition, type CarryOver, isCarried } from './previous-tables.ts';
import { type AnyPipeline, countColumns } from '../pipeline.ts';
import type { DistrictRows } from '../stages.ts';

/** What the load found out on its way, dataset by dataset. */
export interface LoadReport {
  /** What was carried over, read from the snapshot before: rows, sums and NULLs of the count columns. */
  readonly carried: {
    readonly rows: number;
    readonly sums: Readonly<Record<string, bigint>>;
    readonly nulls: Readonly<Record<string, number>>;
  };
  /** Records in quarantine by reason, with those carried over; the most frequent reason first. */
  readonly quarantine: readonly { readonly reason: string; readonly count: number }[];
  /** Records that differ from the snapshot before. */
  readonly changes: ChangeCounts;
  readonly violations: readonly { readonly check: string; readonly severity: string; readonly count: number }[];
  /** Districts that have fewer rows than in the snapshot before, in the order of their ids. */
  readonly shrunken: readonly DistrictRows[];
}

/** What a report goes by. */
export interface ReportQuestion {
  readonly carryOver: CarryOver | null;
  /** Id of the new snapshot. */
  readonly snapshot: string;
  /** Whether the snapshot before is attached. */
  readonly hasPrevious: boolean;
}

/** Reads the report of a dataset from the new tables and, as far as rows were carried over or are gone, from the attached snapshot before. */
export async function reportDataset(
  database: Database,
  pipeline: AnyPipeline,
  { carryOver, snapshot, hasPrevious }: ReportQuestion,
): Promise<LoadReport> {
  const counts = countColumns(pipeline);
  const dataset = quoteText(pipeline.table);
  let carried: LoadReport['carried'] = {
    rows: 0,
    sums: Object.fromEntries(counts.map((name) => [name, 0n])),
    nulls: Object.fromEntries(counts.map((name) => [name, 0])),
  };
  if (isCarried(carryOver, pipeline)) {
    const figures = counts.flatMap((name) => [
      `coalesce(sum(${quoteIdentifier(name)}), 0)::BIGINT AS ${quoteIdentifier(`sum ${name}`)}`,
      `count(*) FILTER (${quoteIdentifier(name)} IS NULL) AS ${quoteIdentifier(`nulls ${name}`)}`,
    ]);
    const condition = carriedCondition(carryOver, pipeline, quoteIdentifier(pipeline.district));
    const [row] = await database.rows<Record<string, bigint>>(
      `SELECT count(*) AS row_count, ${figures.join(', ')} FROM previous.${quoteIdentifier(pipeline.table)} WHERE ${condition}`,
    );
    carried = {
      rows: Number(row!['row_count']),
      sums: Object.fromEntries(counts.map((name) => [name, row![`sum ${name}`]!])),
      nulls: Object.fromEntries(counts.map((name) => [name, Number(row![`nulls ${name}`])])),
    };
  }
  const quarantine = await database.rows<{ reason: string; row_count: bigint }>(
    `SELECT reason, count(*) AS row_count FROM quarantine WHERE dataset = ${dataset} GROUP BY ALL ORDER BY row_count DESC, reason`,
  );
  const violations = await database.rows<{ check_name: string; severity: string; row_count: bigint }>(
    `SELECT check_name, severity, count(*) AS row_count FROM violations WHERE dataset = ${dataset} GROUP BY ALL ORDER BY ALL`,
  );
  return {
    carried,
    quarantine: quarantine.map(({ reason, row_count }) => ({ reason, count: Number(row_count) })),
    changes: await countChanges(database, pipeline, snapshot),
    violations: violations.map(({ check_name, severity, row_count }) => ({
      check: check_name,
      severity,
      count: Number(row_count),
    })),
    shrunken: hasPrevious ? await findShrunken(database, pipeline) : [],
  };
}

async function findShrunken(database: Database, pipeline: AnyPipeline): Promise<DistrictRows[]> {
  // Nothing is compared with a table that had another key.
  if ((await sharedColumns(database, 'previous', pipeline)).length === 0) return [];
  const rowsIn = (table: string) =>
    `(SELECT ${quoteIdentifier(pipeline.district)} AS district, count(*) AS row_count FROM ${table} GROUP BY ALL)`;
  const table = quoteIdentifier(pipeline.table);
  const rows = await database.rows<{ district: number; before: bigint; now: bigint }>(
    `SELECT district, o.row_count AS before, coalesce(n.row_count, 0) AS now
     FROM ${rowsIn(`previous.${table}`)} o LEFT JOIN ${rowsIn(table)} n USING (district)
     WHERE now < o.row_count ORDER BY district`,
  );
  return rows.map(({ district, before, now }) => ({ district, before: Number(before), now: Number(now) }));
}

/** A check that is broken, over all datasets or in one. */
export interface BrokenCheck {
  readonly dataset: string;
  readonly check: string;
  readonly severity: string;
  readonly count: number;
  /** Those that the previous snapshot did not have; 0 without a previous one. */
  readonly new: number;
  /** New ones first, then the worst of each place: those where expected and actual lie farthest apart. */
  readonly examples: readonly {
    readonly district: number | null;
    readonly place: string;
    readonly message: string;
    readonly new: boolean;
  }[];
}

const examplesPerCheck = 3;

/** @param pipeline Any of those whose tables there are: their keys are the same. What its key has after the district says where in it. */
export async function readBrokenChecks(
  database: Database,
  pipeline: AnyPipeline,
  { snapshot, hasPrevious }: Pick<ReportQuestion, 'snapshot' | 'hasPrevious'>,
): Promise<BrokenCheck[]> {
  const isNew = `(${hasPrevious} AND first_snapshot = ${quoteText(snapshot)})`;
  const district = quoteIdentifier(pipeline.district);
  const within = pipeline.key.slice(pipeline.key.indexOf(pipeline.district) + 1).map(quoteIdentifier);
  const placeSql = within.length === 0 ? "''" : `concat_ws(', ', ${within.toReversed().join(', ')})`;
  const distance = "abs(try_cast(regexp_extract(expected, '\\d+') AS BIGINT) - try_cast(actual AS BIGINT))";
  // A place can break a check once in each of its counts, and the examples should be of different places.
  const candidates = examplesPerCheck * countColumns(pipeline).length;
  // No window: that would hold all violations in memory, and a source may break every check in every record.
  const rows = await database.rows<Omit<BrokenCheck, 'count' | 'new'> & { total: bigint; fresh: bigint }>(`
    SELECT dataset, check_name AS "check", severity, count(*) AS total, count(*) FILTER (${isNew}) AS fresh,
      min_by(
        {district: ${district}, place: ${placeSql}, message: message, new: ${isNew}},
        row(NOT ${isNew}, coalesce(-${distance}, 1), ${[district, ...within].join(', ')}, column_name),
        ${candidates}
      ) AS examples
    FROM violations
    GROUP BY ALL
    ORDER BY severity, fresh = 0, total DESC, dataset, check_name`);
  return rows.map(({ total, fresh, examples, ...check }) => ({
    ...check,
    count: Number(total),
    new: Number(fresh),
    examples: ofDifferentPlaces(examples)
      .slice(0, examplesPerCheck)
      .toSorted((a, b) => Number(b.new) - Number(a.new)),
  }));
}

/** The same examples, the first of each place before all others. */
function ofDifferentPlaces(examples: BrokenCheck['examples']): BrokenCheck['examples'] {
  const firsts = examples.filter(
    ({ district, place }, index) =>
      examples.findIndex((other) => other.district === district && other.place === place) === index,
  );
  return [...firsts, ...examples.filter((example) => !firsts.includes(example))];
}
