/** Assembles, writes and compares manifests. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type AnyPipeline, summedColumns } from '../project/declaration.ts';
import { datasetDefinition } from '../load/schema.ts';
import { formatDecimal } from '../kinds/decimal.ts';
import type { Ledger, TransformTotals } from '../stages.ts';
import {
  changesTableName,
  type DatasetReading,
  type Manifest,
  type ManifestDataset,
  manifestFile,
  manifestHashFile,
  parquetPath,
  violationsLogTableName,
} from '../warehouse/snapshot-format.ts';
import { writeNewFile } from '../runtime/with-file.ts';

export interface DatasetFacts {
  readonly pipeline: AnyPipeline;
  /** Null if the run didn't request the dataset. */
  readonly totals: TransformTotals | null;
  /** On all partitions, including those that are carried over. */
  readonly partitions: ManifestDataset['partitions'];
  readonly reading: DatasetReading;
  readonly carried: {
    readonly rows: number;
    readonly sums: Readonly<Record<string, bigint>>;
    readonly nulls: Readonly<Record<string, number>>;
  };
  readonly quarantine: readonly { readonly count: number }[];
  readonly changes: ManifestDataset['changes'];
  readonly violations: readonly { readonly check: string; readonly count: number }[];
  readonly schema: readonly (readonly [name: string, type: string])[];
}

/** Files that include data about previous snapshots. */
const historyFiles: ReadonlySet<string> = new Set([changesTableName, violationsLogTableName].map(parquetPath));

export const emptyLedger: Ledger = { fetched: 0, published: 0, quarantined: 0, duplicates: 0 };

export function assembleDataset(facts: DatasetFacts): ManifestDataset {
  const { pipeline, totals, carried } = facts;
  const ledger = totals?.ledger ?? emptyLedger;
  const counts = summedColumns(pipeline);
  const violations: Record<string, number> = {};
  for (const { check, count } of facts.violations) violations[check] = (violations[check] ?? 0) + count;
  return {
    ledger,
    carried_over: carried.rows,
    rows: ledger.published + carried.rows,
    quarantined: facts.quarantine.reduce((sum, { count }) => sum + count, 0),
    ...(totals !== null && facts.reading.scope === 'whole' && { quarantine_content: totals.quarantine }),
    changes: facts.changes,
    reading: facts.reading,
    partitions: facts.partitions,
    violations,
    sums: Object.fromEntries(
      counts.map((name) => {
        const column = pipeline.columns[name]!;
        const sum = (totals?.sums[name] ?? 0n) + (carried.sums[name] ?? 0n);
        return [name, formatDecimal(sum, column.kind === 'decimal' ? column.scale : 0)];
      }),
    ),
    nulls: Object.fromEntries(counts.map((name) => [name, (totals?.nulls[name] ?? 0) + (carried.nulls[name] ?? 0)])),
    schema_fingerprint: fingerprint(facts.schema),
    definition: datasetFingerprint(pipeline),
  };
}

export function datasetFingerprint(pipeline: AnyPipeline): string {
  return fingerprint(datasetDefinition(pipeline));
}

/** Returns the SHA-256 of a value as JSON with sorted names, so that the order of properties doesn't matter. */
export function fingerprint(value: unknown): string {
  const sort = (_: string, part: unknown): unknown =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part;
  return computeSha256(JSON.stringify(value, sort));
}

export function computeSha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Writes the manifest and its hash. Returns the paths of all files of the snapshot, including these. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<string[]> {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeNewFile(join(folder, manifestFile), text);
  await writeNewFile(join(folder, manifestHashFile), manifestHashLine(Buffer.from(text)));
  return [...manifest.files.map(({ path }) => path), manifestFile, manifestHashFile];
}

/** Returns the line with a manifest's hash in the format of sha256sum. */
export function manifestHashLine(manifest: Buffer): string {
  return `${computeSha256(manifest)}  ${manifestFile}\n`;
}

export function holdsSameTables(now: Manifest, before: Manifest): boolean {
  return (
    now.definition === before.definition &&
    now.source === before.source &&
    differingParquet(now, before, false).length === 0
  );
}

export function historyOf({ files }: Manifest): string | null {
  return files.flatMap(({ path, sha256 }) => (historyFiles.has(path) ? [sha256] : [])).join(' ') || null;
}

/** Lists differences in Parquet files and figures, and with `withHistory` in changes and the age of violations. Ignores reading times. */
export function differingFigures(now: Manifest, before: Manifest, withHistory: boolean): string[] {
  const names = [...new Set([...Object.keys(now.datasets), ...Object.keys(before.datasets)])].toSorted();
  const datasets = names.flatMap((name) => {
    const a = comparable(now.datasets[name], withHistory);
    const b = comparable(before.datasets[name], withHistory);
    return Object.keys({ ...a, ...b })
      .filter((part) => JSON.stringify(a[part]) !== JSON.stringify(b[part]))
      .map((part) => `${name}: ${part}`);
  });
  return [...differingParquet(now, before, withHistory), ...datasets];
}

function comparable(dataset: ManifestDataset | undefined, withHistory: boolean): Record<string, unknown> {
  if (dataset === undefined) return {};
  const partitions = dataset.partitions.map((verdict) => ({ ...verdict, read_at: '' }));
  if (withHistory) return { ...dataset, partitions };
  // What windows missed is known only from the previous snapshot, like the changes.
  const { missed: _, ...reading } = dataset.reading ?? {};
  return { ...dataset, partitions, changes: null, reading };
}

/** Compares bytes if both describe the same snapshot. Otherwise compares rows, because a file contains its snapshot's ID. */
function differingParquet(now: Manifest, before: Manifest, withHistory: boolean): string[] {
  const byBytes = withHistory && now.snapshot === before.snapshot;
  const marksOf = ({ files }: Manifest) =>
    new Map(
      files.flatMap(({ path, sha256, content }) =>
        path.endsWith('.parquet') && (byBytes || !historyFiles.has(path))
          ? [[path, byBytes ? sha256 : (content ?? sha256)] as const]
          : [],
      ),
    );
  const [a, b] = [marksOf(now), marksOf(before)];
  return [...new Set([...a.keys(), ...b.keys()])]
    .filter((path) => a.get(path) === undefined || a.get(path) !== b.get(path))
    .toSorted();
}
