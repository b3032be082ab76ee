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
  const rows = await database.rows<{
    dataset: string;
    check_name: string;
    severity: string;
    total: bigint;
    dapil: number | null;
    place: string;
    message: string;
  }>(`
    WITH ranked AS (
      SELECT *,
        count(*) OVER (PARTITION BY dataset, check_name, severity) AS total,
        row_number() OVER (
          PARTITION BY dataset, check_name, severity
          ORDER BY abs(try_cast(regexp_extract(expected, '\\d+') AS BIGINT) - try_cast(actual AS BIGINT)) DESC NULLS LAST, ${[district, ...within].join(', ')}, column_name
        ) AS rank
      FROM violations
    )
    SELECT dataset, check_name, severity, total, ${district} AS dapil, ${placeSql} AS place, message
    FROM ranked
    WHERE rank <= ${examplesPerCheck}
    ORDER BY severity, total DESC, dataset, check_name, rank`);
  const checks = new Map<
    string,
    BrokenCheck & { examples: { dapil: number | null; place: string; message: string }[] }
  >();
  for (const { dataset, check_name, severity, total, dapil, place, message } of rows) {
    const key = `${dataset} ${check_name} ${severity}`;
    const check = checks.get(key) ?? { dataset, check: check_name, severity, count: Number(total), examples: [] };
    check.examples.push({ dapil, place, message });
    checks.set(key, check);
  }
  return [...checks.values()];
}
