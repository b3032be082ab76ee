/** Defines the source of the service's records, and reads records from a folder of JSON files. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, RekapError, systemReason } from '../errors.ts';
import type { AnyPipeline, ColumnDefinition } from '../project/declaration.ts';
import { readField } from '../project/field-path.ts';
import { joinPartition, partitionParameters } from '../project/partition-list.ts';
import { maxNumber } from './limits.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** Records of one dataset, as the service returns them. */
export interface RecordSet {
  /** Changes with the records. Plain ASCII without quotes. */
  readonly etag: string;
  readonly lastModified: Date;
  /** Each record as JSON, in paging order. */
  readonly records: readonly string[];
  /** The same by partition. Records without a usable partition are only in `records`. */
  readonly byPartition: ReadonlyMap<string, readonly string[]>;
  /** False if the records are restored from tables: the same values, but not the same bytes. */
  readonly isReceived: boolean;
}

/** Where a service gets its records. */
export interface RecordSource {
  /** Returns immediately, because every request calls it. */
  current(pipeline: AnyPipeline): RecordSet;
  /** The snapshot of the records. Undefined for other sources. */
  snapshot?(): Snapshot;
  close(): void | Promise<void>;
}

/** A record's JSON and its partition, or null if it has none that a request can select. */
export interface ServedRecord {
  readonly text: string;
  readonly partition: string | null;
}

export function buildRecordSet(served: readonly ServedRecord[], lastModified: Date): RecordSet {
  const hash = createHash('sha256');
  const byPartition = new Map<string, string[]>();
  for (const { text, partition } of served) {
    hash.update(text).update('\n');
    if (partition === null) continue;
    const group = byPartition.get(partition) ?? [];
    byPartition.set(partition, group);
    group.push(text);
  }
  const etag = hash.digest('base64url').slice(0, 22);
  return { etag, lastModified, records: served.map(({ text }) => text), byPartition, isReceived: true };
}

/** Returns a record with its partition, or null if it has none. */
export function readRecord(text: string, pipeline: AnyPipeline): ServedRecord {
  const record = JSON.parse(text) as unknown;
  const columns = partitionParameters(pipeline).map(({ column }) => pipeline.columns[column]!);
  const values = columns.flatMap((column) => selectableValue(record, column) ?? []);
  const hasAll = values.length > 0 && values.length === columns.length;
  return { text, partition: hasAll ? joinPartition(values) : null };
}

/** Returns the value with which a request selects a record. Numbers above the maximum of a request don't count. */
function selectableValue(record: unknown, { kind, field }: ColumnDefinition): string | null {
  const value = readField(record, field);
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  if (kind !== 'integer') return value === '' ? null : String(value);
  return /^[0-9]+$/.test(String(value)) && Number(value) <= maxNumber ? String(Number(value)) : null;
}

export function fixedSource(sets: ReadonlyMap<string, RecordSet>): RecordSource {
  return {
    current({ table }) {
      const set = sets.get(table);
      if (set === undefined) throw new Error(`the source was opened without the pipeline ${table}`);
      return set;
    },
    close() {},
  };
}

/**
 * Reads a folder with one file per pipeline, named after its table, or after the last part of its path, such as list.json for /api/list.
 * Each file contains a JSON array of records.
 * @throws `served-data` naming the file and the invalid record.
 */
export async function openFolderSource(folder: string, pipelines: readonly AnyPipeline[]): Promise<RecordSource> {
  const sets = new Map<string, RecordSet>();
  for (const pipeline of pipelines) {
    const file = fileOf(folder, pipeline);
    const [bytes, { mtime }] = await Promise.all([readFile(file), stat(file)]).catch((error: unknown) => {
      const next = `Use a folder with this file, which must contain the records of ${pipeline.path} as a JSON array.`;
      throw new RekapError('served-data', `${file} cannot be read: ${systemReason(error)}.`, next, { cause: error });
    });
    const served = readArray(bytes, file).map((record, index) =>
      readFileRecord(record, pipeline, `Record ${index + 1} of ${file}`),
    );
    sets.set(pipeline.table, buildRecordSet(served, mtime));
  }
  return fixedSource(sets);
}

/** Returns the path of the file with the records of a pipeline. */
export function fileOf(folder: string, { table, path }: AnyPipeline): string {
  const named = join(folder, `${table}.json`);
  return existsSync(named) ? named : join(folder, `${path.split('/').findLast((part) => part !== '')!}.json`);
}

function readArray(bytes: Buffer, file: string): readonly unknown[] {
  let parsed: unknown;
  try {
    // `fatal` rejects invalid UTF-8, which would otherwise become replacement characters. A BOM is dropped.
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), refuseRounded);
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8 text' : messageOf(error);
    const next = 'Fix the file, or create it again.';
    throw new RekapError('served-data', `${file} cannot be served: ${reason}.`, next, { cause: error });
  }
  if (Array.isArray(parsed)) return parsed;
  const next = 'Write the records as one array: [{…}, {…}].';
  throw new RekapError('served-data', `${file} is JSON, but not an array.`, next);
}

/** Numbers beyond 2^53 would be rounded. */
function refuseRounded(field: string, value: unknown): unknown {
  if (typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  throw new Error(`its field ${JSON.stringify(field)} has a number above 2^53, which must be a string`);
}

function readFileRecord(record: unknown, pipeline: AnyPipeline, where: string): ServedRecord {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    const next = 'Every item of the array must be a record: {"Field": "value", …}.';
    throw new RekapError('served-data', `${where} is not an object.`, next);
  }
  const served = readRecord(JSON.stringify(record), pipeline);
  const wrong = partitionParameters(pipeline)
    .map(({ column }) => pipeline.columns[column]!)
    .find((column) => readField(record, column.field) !== undefined && selectableValue(record, column) === null);
  if (wrong === undefined) return served;
  const next =
    'Fix the value, or remove the field. Without the field, only requests without the filter return the record.';
  const what = `${where}: its ${wrong.field} is not a whole number in digits, up to ${maxNumber}.`;
  throw new RekapError('served-data', what, next);
}
