/** Reads from the new tables which checks are broken how often, and the worst examples of each. */

import type { Database } from '../duckdb/database.ts';
import { countColumns, type AnyPipeline } from '../pipeline.ts';
import { quoteIdentifier } from '../duckdb/sql-text.ts';

/** A check that is broken, over all datasets or in one. */
export interface BrokenCheck {
  readonly dataset: string;
  readonly check: string;
  readonly severity: string;
  readonly count: number;
  /** The worst of each place first: those where expected and actual lie farthest apart. */
  readonly examples: readonly { readonly district: number | null; readonly place: string; readonly message: string }[];
}

const examplesPerCheck = 3;

/** @param pipeline Any of those whose tables there are: their keys are the same. What its key has after the district says where in it. */
export async function readBrokenChecks(database: Database, pipeline: AnyPipeline): Promise<BrokenCheck[]> {
  const district = quoteIdentifier(pipeline.district);
  const within = pipeline.key.slice(pipeline.key.indexOf(pipeline.district) + 1).map(quoteIdentifier);
  const placeSql = within.length === 0 ? "''" : `concat_ws(', ', ${within.toReversed().join(', ')})`;
  const distance = "abs(try_cast(regexp_extract(expected, '\\d+') AS BIGINT) - try_cast(actual AS BIGINT))";
  // A place can break a check once in each of its counts, and the examples should be of different places.
  const candidates = examplesPerCheck * countColumns(pipeline).length;
  // No window: that would hold all violations in memory, and a source may break every check in every record.
  const rows = await database.rows<Omit<BrokenCheck, 'count'> & { total: bigint }>(`
    SELECT dataset, check_name AS "check", severity, count(*) AS total,
      min_by(
        {district: ${district}, place: ${placeSql}, message: message},
        row(coalesce(-${distance}, 1), ${[district, ...within].join(', ')}, column_name),
        ${candidates}
      ) AS examples
    FROM violations
    GROUP BY ALL
    ORDER BY severity, total DESC, dataset, check_name`);
  return rows.map(({ total, examples, ...check }) => ({
    ...check,
    count: Number(total),
    examples: ofDifferentPlaces(examples).slice(0, examplesPerCheck),
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
