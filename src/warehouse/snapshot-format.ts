/** Defines the format of a warehouse: file names, snapshot IDs and the manifest. */

import { join } from 'node:path';
import * as v from 'valibot';
import type { Project } from '../project/declaration.ts';
import type { Language, Message } from '../project/sql-file.ts';
import { storedProjectShape } from '../project/shapes.ts';
import { verdictShape } from '../stages.ts';

export const databaseFile = 'rekap.duckdb';
export const manifestFile = 'manifest.json';
export const manifestHashFile = 'manifest.json.sha256';
export const reportFile = 'report.html';
export const changesTableName = 'changes';
export const ageColumns: readonly string[] = ['first_snapshot', 'since'];
export const violationsLogTableName = 'violations_log';
export const snapshotsLogTableName = 'snapshots_log';

/** UTC time to the second and six hexadecimal digits, so that IDs sort by time. */
const snapshotId = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;

export function isSnapshotId(text: string): boolean {
  return snapshotId.test(text);
}

export const snapshotIdShape = v.pipe(v.string(), v.regex(snapshotId));

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

export function currentTarget(id: string): string {
  return `snapshots/${id}`;
}

/** Path of a table's Parquet file below a snapshot's folder. One folder per table, because some engines read folders. */
export function parquetPath(table: string): string {
  return `parquet/${table}/${table}.parquet`;
}

/** Returns a relation as SQL without the columns that depend on previous snapshots. */
export function withoutHistory(table: string, relation: string): string {
  return table === 'violations' ? `(SELECT * EXCLUDE (${ageColumns.join(', ')}) FROM ${relation})` : relation;
}

const text = v.string();
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const counts = v.record(text, count);

export const violationAgesShape = v.record(text, v.object({ new: count, resolved: count, standing: count }));

const fileShape = v.object({
  /** Relative to the snapshot's folder, and below it. */
  path: v.pipe(text, v.check(isBelow)),
  bytes: count,
  /** Null if it isn't a table or view. */
  rows: v.nullable(count),
  sha256: text,
  /** Hash of a table's or view's rows, comparable between snapshots. */
  content: v.optional(text),
});
/** A file in a manifest: path, bytes, rows and SHA-256. */
export type ManifestFile = Readonly<v.InferOutput<typeof fileShape>>;

const changeCounts = v.object({ added: count, removed: count, changed: count });

const readingShape = v.object({
  /** What the run read: the whole list, a window of what changed, some partitions, or nothing. */
  scope: v.picklist(['whole', 'window', 'partitions', 'nothing']),
  /** Snapshot that the other rows come from. Null if there are none. */
  from: v.nullable(snapshotIdShape),
  /** Start of the run that read the whole list last. Null if none did. */
  whole_at: v.nullable(v.pipe(text, v.isoTimestamp())),
  /** Runs whose responses contain the rows, the oldest first. */
  runs: v.array(snapshotIdShape),
  /** Changes that the windows since then could not show. Missing unless the whole list was read after windows. */
  missed: v.optional(changeCounts),
});
/** How a dataset was read. */
export type DatasetReading = Readonly<v.InferOutput<typeof readingShape>>;

const datasetShape = v.object({
  /** Records of this run: fetched = published + quarantined + duplicates. */
  ledger: v.object({ fetched: count, published: count, quarantined: count, duplicates: count }),
  /** Rows copied from the previous snapshot, because this run read only a part of the list. */
  carried_over: count,
  /** Rows in the table: published + carried over. */
  rows: count,
  /** Records in quarantine, including those carried over. */
  quarantined: count,
  /** Fingerprint of the records in quarantine, in any order. Missing after a partial sync. */
  quarantine_content: v.optional(text),
  /** One verdict per partition, with the time of its last read. */
  partitions: v.array(verdictShape),
  /** Records added, removed or changed since the previous snapshot. */
  changes: changeCounts,
  /** Missing in snapshots of earlier releases. */
  reading: v.optional(readingShape),
  violations: counts,
  /** Sum of every count, decimal and watched column, as digits. */
  sums: v.record(text, text),
  nulls: counts,
  /** SHA-256 over the names, types and order of the columns. */
  schema_fingerprint: text,
  /** SHA-256 over all that determines its rows: its declaration and rekap's rules. */
  definition: text,
});
/** A dataset in a manifest: ledger, sums, changes, and the proof of each partition. */
export type ManifestDataset = Readonly<v.InferOutput<typeof datasetShape>>;

/** A snapshot's manifest.json. `verify` checks its figures. */
export const manifestShape = v.object({
  format: v.literal(2),
  snapshot: snapshotIdShape,
  /** ID of the run whose responses are in landing/<run>. */
  run: snapshotIdShape,
  created_at: v.pipe(text, v.isoTimestamp()),
  tool: v.object({ name: text, version: text }),
  source: text,
  /** The declaration that every reading command uses. */
  project: storedProjectShape,
  previous: v.nullable(snapshotIdShape),
  datasets: v.record(text, datasetShape),
  /** SHA-256 over the whole declaration and rekap's rules. */
  definition: text,
  warnings: v.array(text),
  /** Violations by severity and age. */
  violation_ages: violationAgesShape,
  files: v.array(fileShape),
  /** Files of landing/<run>, which a replay verifies. The hash of each body is in responses.jsonl. */
  landing: v.array(fileShape),
});
/** Content of manifest.json: what a snapshot contains, and how it was made. */
export type Manifest = Readonly<Omit<v.InferOutput<typeof manifestShape>, 'project'>> & { readonly project: Project };

const testingOnly: Message = {
  en: 'The sample figures are for testing only.',
  id: 'Angka dalam data contoh ini hanya untuk pengujian.',
};

/** Returns the sentence that marks sample figures outside the warehouse. Null for a real source. */
export function sampleNotice(
  { source, project }: Pick<Manifest, 'source' | 'project'>,
  language: Language = 'en',
): string | null {
  const { [language]: notice, en } = project.sampleNotice ?? testingOnly;
  return source === 'sample' ? (notice ?? en) : null;
}

function isBelow(path: string): boolean {
  return path !== '' && !path.includes('\0') && path.split(/[/\\]/).every((part) => !['', '.', '..'].includes(part));
}

/** Says what a snapshot is, for the people who get a file of it. */
export function describeManifest(manifest: Manifest): (readonly [string, string | number])[] {
  const { snapshot, source, created_at, tool, datasets } = manifest;
  const notice = sampleNotice(manifest);
  return [
    ...(notice === null ? [] : [['Notice', notice] as const]),
    ['Snapshot', snapshot],
    ['Source', source],
    ['Read at (UTC)', created_at],
    ['Created by', `${tool.name} ${tool.version}`],
    ...Object.entries(datasets).map(([name, { rows }]) => [`Rows of ${name}`, rows] as const),
  ];
}
