/** What a warehouse is made of: the names of its files, ids of snapshots, and what a manifest holds. */

import { join } from 'node:path';
import type { Ledger, Verdict } from '../stages.ts';

/** Name of the DuckDB file in a snapshot. */
export const databaseFile = 'rekap.duckdb';
export const manifestFile = 'manifest.json';
/** Name of the file beside it that holds its hash. */
export const manifestHashFile = 'manifest.json.sha256';
/** Name of the table that says what the source restated. */
export const changesTableName = 'changes';

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
    snapshots: join(folder, 'snapshots'),
    landing: join(folder, 'landing'),
    runs: join(folder, 'runs.jsonl'),
    lock: join(folder, 'lock'),
  } as const;
}

/** Path of a table's Parquet file below a snapshot's folder: one folder per table, so that an engine can take the folder. */
export function parquetPath(table: string): string {
  return `parquet/${table}/${table}.parquet`;
}

/** A file of a snapshot; `path` is relative to the snapshot's folder, `rows` is null for what is no table, and was for some tables once. */
export interface ManifestFile {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number | null;
  readonly sha256: string;
}

/** What a manifest says of one dataset. */
export interface ManifestDataset {
  /** What this run fetched: fetched = published + quarantined + duplicates. */
  readonly ledger: Ledger;
  /** Rows taken over unchanged from the snapshot before, because this run was asked for other districts only. */
  readonly carried_over: number;
  /** Rows in the table: published + carried over. */
  readonly rows: number;
  /** Records in quarantine, with those carried over. */
  readonly quarantined: number;
  /** One verdict per district, with the time at which it was last read. */
  readonly districts: readonly Verdict[];
  /** Records that came, went or were restated since the snapshot before. */
  readonly changes: { readonly added: number; readonly removed: number; readonly changed: number };
  /** Violations by check. */
  readonly violations: Readonly<Record<string, number>>;
  /** Sum of every count column, as digits. */
  readonly sums: Readonly<Record<string, string>>;
  /** NULLs in every count column. */
  readonly nulls: Readonly<Record<string, number>>;
  /** SHA-256 over the names, types and order of the columns. */
  readonly schema_fingerprint: string;
}

/** A snapshot's manifest.json. */
export interface Manifest {
  readonly format: 1;
  readonly snapshot: string;
  /** The run that made it; its answers lie in landing/<run>. */
  readonly run: string;
  /** ISO 8601. */
  readonly created_at: string;
  readonly tool: { readonly name: 'rekap'; readonly version: string };
  /** Base URL of the source, or 'sample'. */
  readonly source: string;
  readonly previous: string | null;
  readonly datasets: Readonly<Record<string, ManifestDataset>>;
  /** SHA-256 over the definitions of tables, views and checks: another value means another rekap or other models. */
  readonly definition: string;
  readonly warnings: readonly string[];
  readonly files: readonly ManifestFile[];
  /** Files of landing/<run>, by which a replay knows that they are as they were; each body's own hash stands in answers.jsonl. */
  readonly landing: readonly ManifestFile[];
}

/** Whether a value has the parts of a manifest that the code relies on. Whether its figures are right is what `verify` checks. */
export function isManifest(value: unknown, id: string): value is Manifest {
  return (
    isObject(value) &&
    value['format'] === 1 &&
    value['snapshot'] === id &&
    areAll('string', value, ['source', 'created_at', 'run', 'definition']) &&
    (value['previous'] === null || typeof value['previous'] === 'string') &&
    areAll('string', value['tool'], ['name', 'version']) &&
    isObject(value['datasets']) &&
    Object.values(value['datasets']).every(isManifestDataset) &&
    isArrayOf(value['files'], isManifestFile) &&
    isArrayOf(value['landing'], isManifestFile) &&
    isArrayOf(value['warnings'], (warning) => typeof warning === 'string')
  );
}

function isManifestDataset(value: unknown): boolean {
  return (
    isObject(value) &&
    areAll('number', value, ['rows', 'carried_over', 'quarantined']) &&
    areAll('number', value['ledger'], ['fetched', 'published', 'quarantined', 'duplicates']) &&
    areAll('string', value['sums']) &&
    areAll('number', value['nulls']) &&
    areAll('number', value['violations']) &&
    areAll('number', value['changes'], ['added', 'removed', 'changed']) &&
    isArrayOf(value['districts'], isVerdict)
  );
}

function isVerdict(value: unknown): boolean {
  return (
    isObject(value) &&
    (value['district'] === null || typeof value['district'] === 'number') &&
    areAll('number', value, ['received']) &&
    areAll('string', value, ['proof', 'read_at'])
  );
}

function isManifestFile(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value['path'] === 'string' &&
    isBelow(value['path']) &&
    typeof value['sha256'] === 'string' &&
    typeof value['bytes'] === 'number'
  );
}

/** Whether these members of an object, or all that it has, are of one type. */
function areAll(type: 'string' | 'number', value: unknown, names?: readonly string[]): boolean {
  return isObject(value) && (names ?? Object.keys(value)).every((name) => typeof value[name] === type);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isArrayOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

/** Whether a relative path stays below its folder. */
function isBelow(path: string): boolean {
  return path !== '' && !path.includes('\0') && path.split(/[/\\]/).every((part) => !['', '.', '..'].includes(part));
}
