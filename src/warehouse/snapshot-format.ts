/** What a warehouse is made of: the names of its files, ids of snapshots, and what a manifest holds. */

import { join } from 'node:path';
import * as v from 'valibot';
import type { Project } from '../project/declaration.ts';
import { storedProjectShape } from '../project/shapes.ts';
import { grades } from '../stages.ts';

/** Name of the DuckDB file in a snapshot. */
export const databaseFile = 'rekap.duckdb';
export const manifestFile = 'manifest.json';
/** Name of the file beside it that holds its hash. */
export const manifestHashFile = 'manifest.json.sha256';
/** Name of the table that says what the source restated. */
export const reportFile = 'report.html';
export const changesTableName = 'changes';
/** How old a violation is; what it goes by are the snapshots before. */
export const ageColumns: readonly string[] = ['first_snapshot', 'since'];
export const violationsLogTableName = 'violations_log';
export const snapshotsLogTableName = 'snapshots_log';

/** A snapshot's id: UTC time to the second and six hexadecimal digits, so that ids sort by time. */
const snapshotId = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;

export function isSnapshotId(text: string): boolean {
  return snapshotId.test(text);
}

/** The places in a warehouse, as paths that begin with its folder. */
export function warehousePaths(folder: string) {
  return {
    folder,
    current: join(folder, 'current'),
    pinned: join(folder, 'pinned'),
    snapshots: join(folder, 'snapshots'),
    landing: join(folder, 'landing'),
    runs: join(folder, 'runs.jsonl'),
    lock: join(folder, 'lock'),
  } as const;
}

/** What the link `current` of a warehouse says where snapshot `id` is the current one. */
export function currentTarget(id: string): string {
  return `snapshots/${id}`;
}

/** Path of a table's Parquet file below a snapshot's folder: one folder per table, so that an engine can take the folder. */
export function parquetPath(table: string): string {
  return `parquet/${table}/${table}.parquet`;
}

/** The part of a relation, as SQL, that is the same whatever the snapshots before were: all but the age of violations. */
export function withoutHistory(table: string, relation: string): string {
  return table === 'violations' ? `(SELECT * EXCLUDE (${ageColumns.join(', ')}) FROM ${relation})` : relation;
}

const text = v.string();
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const counts = v.record(text, count);

/** Violations by severity, counted by their age. */
export const violationAgesShape = v.record(text, v.object({ new: count, resolved: count, standing: count }));

/** A file of a snapshot. */
const fileShape = v.object({
  /** Relative to the snapshot's folder, and below it. */
  path: v.pipe(text, v.check(isBelow)),
  bytes: count,
  /** Null for what is no table, and for some tables of older snapshots. */
  rows: v.nullable(count),
  sha256: text,
  /** Of a table or view, the same for the same rows, whichever snapshot they are in; not there in older snapshots. */
  content: v.optional(text),
});
export type ManifestFile = Readonly<v.InferOutput<typeof fileShape>>;

/** What is known of one partition after it was read; as in `Verdict`. */
const verdictShape = v.object({
  dataset: text,
  partition: v.nullable(text),
  complete: v.boolean(),
  proof: v.picklist(['own end', 'full listing', 'none']),
  grade: v.nullable(v.picklist(grades)),
  listed: v.nullable(count),
  received: count,
  pages: count,
  readings: count,
  /** ISO 8601. */
  read_at: text,
  reason: v.nullable(text),
});

/** What a manifest says of one dataset. */
const datasetShape = v.object({
  /** What this run fetched: fetched = published + quarantined + duplicates. */
  ledger: v.object({ fetched: count, published: count, quarantined: count, duplicates: count }),
  /** Rows taken over unchanged from the snapshot before, because this run was asked for other partitions only. */
  carried_over: count,
  /** Rows in the table: published + carried over. */
  rows: count,
  /** Records in quarantine, with those carried over. */
  quarantined: count,
  /** One verdict per partition, with the time at which it was last read. */
  partitions: v.array(verdictShape),
  /** Records that came, went or were restated since the snapshot before. */
  changes: v.object({ added: count, removed: count, changed: count }),
  /** Violations by check. */
  violations: counts,
  /** Sum of every count, decimal and watched column, as digits. */
  sums: v.record(text, text),
  /** NULLs in each of these columns. */
  nulls: counts,
  /** SHA-256 over the names, types and order of the columns. */
  schema_fingerprint: text,
});
export type ManifestDataset = Readonly<v.InferOutput<typeof datasetShape>>;

/** A snapshot's manifest.json. Whether its figures are right is what `verify` checks. */
export const manifestShape = v.object({
  format: v.literal(2),
  snapshot: text,
  /** The run that made it; its answers lie in landing/<run>. */
  run: text,
  created_at: v.pipe(text, v.isoTimestamp()),
  tool: v.object({ name: text, version: text }),
  /** Base URL of the source, or 'sample'. */
  source: text,
  /** What the project declares; every command that reads goes by it. */
  project: storedProjectShape,
  previous: v.nullable(text),
  datasets: v.record(text, datasetShape),
  /** SHA-256 over the definitions of tables, views and checks: another value means another rekap or other models. */
  definition: text,
  warnings: v.array(text),
  /** Violations by severity and age; not there in older snapshots. */
  violation_ages: v.optional(violationAgesShape),
  files: v.array(fileShape),
  /** Files of landing/<run>, by which a replay knows that they are as they were; each body's own hash stands in answers.jsonl. */
  landing: v.array(fileShape),
});
export type Manifest = Readonly<Omit<v.InferOutput<typeof manifestShape>, 'project'>> & { readonly project: Project };

const madeUp = {
  en: 'The sample figures are made up.',
  id: 'Angka dalam data contoh ini bukan data sebenarnya.',
} as const;

/** The sentence that marks sample figures wherever they leave the warehouse; null for the figures of a real source. */
export function sampleNotice(
  { source }: Pick<Manifest, 'source'>,
  language: keyof typeof madeUp = 'en',
): string | null {
  return source === 'sample' ? madeUp[language] : null;
}

/** Whether a relative path stays below its folder. */
function isBelow(path: string): boolean {
  return path !== '' && !path.includes('\0') && path.split(/[/\\]/).every((part) => !['', '.', '..'].includes(part));
}
