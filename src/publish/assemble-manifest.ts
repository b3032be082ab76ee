/** Puts together what a manifest says of each dataset, from what was fetched, transformed, loaded and carried over. */

import { countColumns, type AnyPipeline } from '../pipeline.ts';
import type { Ledger, TransformTotals, Verdict } from '../stages.ts';
import type { Manifest, ManifestDataset } from '../warehouse/snapshot-format.ts';
import { fingerprint } from './manifest.ts';

/** What is known of one dataset when its snapshot has been built. */
export interface DatasetFacts {
  readonly pipeline: AnyPipeline;
  /** Null where the run did not ask for the dataset. */
  readonly totals: TransformTotals | null;
  readonly verdicts: readonly Verdict[];
  /** Districts read anew; null for all of them. */
  readonly replaced: readonly number[] | null;
  readonly carried: {
    readonly rows: number;
    readonly sums: Readonly<Record<string, bigint>>;
    readonly nulls: Readonly<Record<string, number>>;
  };
  /** Records in quarantine, by reason. */
  readonly quarantine: readonly { readonly count: number }[];
  readonly changes: ManifestDataset['changes'];
  readonly violations: readonly { readonly check: string; readonly count: number }[];
  /** Names and types of the table's columns. */
  readonly schema: readonly (readonly [name: string, type: string])[];
}

const nothing: Ledger = { fetched: 0, published: 0, quarantined: 0, duplicates: 0 };

export function assembleDataset(facts: DatasetFacts, previous: Manifest | null): ManifestDataset {
  const { pipeline, totals, verdicts, replaced, carried } = facts;
  const ledger = totals?.ledger ?? nothing;
  const counts = countColumns(pipeline);
  const before =
    replaced === null
      ? []
      : (previous?.datasets[pipeline.table]?.districts ?? []).filter(
          ({ district }) => district === null || !replaced.includes(district),
        );
  return {
    ledger,
    carried_over: carried.rows,
    rows: ledger.published + carried.rows,
    quarantined: facts.quarantine.reduce((sum, { count }) => sum + count, 0),
    changes: facts.changes,
    districts: [...before, ...verdicts].toSorted((a, b) => (a.district ?? -1) - (b.district ?? -1)),
    violations: sumByCheck(facts.violations),
    sums: Object.fromEntries(
      counts.map((name) => [name, String((totals?.sums[name] ?? 0n) + (carried.sums[name] ?? 0n))]),
    ),
    nulls: Object.fromEntries(counts.map((name) => [name, (totals?.nulls[name] ?? 0) + (carried.nulls[name] ?? 0)])),
    schema_fingerprint: fingerprint(facts.schema),
  };
}

function sumByCheck(violations: DatasetFacts['violations']): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { check, count } of violations) sums[check] = (sums[check] ?? 0) + count;
  return sums;
}
