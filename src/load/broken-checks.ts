/** Reads from the new tables which checks are broken how often, and the worst examples of each. */

import type { Database } from '../database.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { quoteIdentifier } from '../sql-text.ts';

/** A check that is broken, over all datasets or in one. */
export interface BrokenCheck {
  readonly dataset: string;
  readonly check: string;
  readonly severity: string;
  readonly count: number;
  /** The worst examples first: those where expected and actual lie farthest apart. */
  readonly examples: readonly { readonly dapil: number | null; readonly place: string; readonly message: string }[];
}

const examplesPerCheck = 3;

/** @param pipeline Any of those whose tables there are: their keys are the same. What its key has after the district says where in it. */
export async function readBrokenChecks(database: Database, pipeline: AnyPipeline): Promise<BrokenCheck[]> {
  const district = quoteIdentifier(pipeline.district);
  const within = pipeline.key.slice(pipeline.key.indexOf(pipeline.district) + 1).map(quoteIdentifier);
  const placeSql = within.length === 0 ? "''" : `concat_ws(', ', ${within.toReversed().join(', ')})`;
  const distance = "abs(try_cast(regexp_extract(expected, '\\d+') AS BIGINT) - try_cast(actual AS BIGINT))";
  // No window: that would hold all violations in memory, and a source may break every check in every record.
  const rows = await database.rows<Omit<BrokenCheck, 'count'> & { total: bigint }>(`
    SELECT dataset, check_name AS "check", severity, count(*) AS total,
      min_by(
        {dapil: ${district}, place: ${placeSql}, message: message},
        row(coalesce(-${distance}, 1), ${[district, ...within].join(', ')}, column_name),
        ${examplesPerCheck}
      ) AS examples
    FROM violations
    GROUP BY ALL
    ORDER BY severity, total DESC, dataset, check_name`);
  return rows.map(({ total, ...check }) => ({ ...check, count: Number(total) }));
}
