/** Where the service's records come from: the contract, and a folder of JSON files in the records' own shape. */

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { RekapError, systemReason } from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { splitJsonArray } from './json-array.ts';
import { maxNumber } from './limits.ts';

/** All records of one dataset at one moment, ready to be joined into answers. */
export interface RecordSet {
  /** Changes whenever the records change; plain ASCII without quotes. */
  readonly etag: string;
  readonly lastModified: Date;
  /** Each record as JSON text, in the order in which they are paged. */
  readonly records: readonly string[];
  /** The same texts by district; records without a usable district are in `records` only. */
  readonly byDistrict: ReadonlyMap<number, readonly string[]>;
}

/** Gives the records to serve now. Whoever opens a source closes it. */
export interface RecordSource {
  /** Called for every request: answers at once, from memory. */
  current(pipeline: AnyPipeline): RecordSet;
  close(): void | Promise<void>;
}

/** A record's JSON text and its district, null where it has none that can be asked for. */
export interface ServedRecord {
  readonly text: string;
  readonly district: number | null;
}

/** Collects records, in their order, into a set whose etag is a digest of its content. */
export function buildRecordSet(served: readonly ServedRecord[], lastModified: Date): RecordSet {
  const hash = createHash('sha256');
  const byDistrict = new Map<number, string[]>();
  for (const { text, district } of served) {
    hash.update(text).update('\n');
    if (district === null) continue;
    const group = byDistrict.get(district);
    if (group === undefined) byDistrict.set(district, [text]);
    else group.push(text);
  }
  return {
    etag: hash.digest('base64url').slice(0, 22),
    lastModified,
    records: served.map(({ text }) => text),
    byDistrict,
  };
}

/** The district in a field's value: digits, as a string or a number, up to what a request can ask for; otherwise null. */
export function readDistrict(value: unknown): number | null {
  const digits = typeof value === 'number' ? String(value) : value;
  if (typeof digits !== 'string' || !/^[0-9]+$/.test(digits)) return null;
  const district = Number(digits);
  return district <= maxNumber ? district : null;
}

/** The field of a pipeline's records that names their district. */
export function districtField(pipeline: AnyPipeline): string {
  const column = pipeline.columns[pipeline.district];
  if (column === undefined) throw new Error(`the pipeline ${pipeline.table} does not declare its district column`);
  return column.field;
}

/** A source whose sets never change. */
export function fixedSource(sets: ReadonlyMap<string, RecordSet>): RecordSource {
  return {
    current(pipeline) {
      const set = sets.get(pipeline.table);
      if (set === undefined) throw new Error(`the source was opened without the pipeline ${pipeline.table}`);
      return set;
    },
    close() {},
  };
}

/** The file of a pipeline's records in a served folder: the last segment of its endpoint, such as datapemilihdpr.json. */
function servedFile(folder: string, pipeline: AnyPipeline): string {
  return join(folder, `${pipeline.endpoint.slice(pipeline.endpoint.lastIndexOf('/') + 1)}.json`);
}

/**
 * Reads a folder with one file per pipeline, each a JSON array of records. The files are read once; records are served
 * in their order and as they are written, without the white space between their parts.
 *
 * @throws `served-data` naming the file, and the record where one is not in shape.
 */
export async function openFolderSource(folder: string, pipelines: readonly AnyPipeline[]): Promise<RecordSource> {
  if (!(await isFolder(folder))) {
    throw new RekapError(
      'served-data',
      `There is no folder ${folder}.`,
      `Name a folder that holds ${pipelines.map((pipeline) => servedFile('', pipeline)).join(' and ')}.`,
    );
  }
  const sets = new Map<string, RecordSet>();
  for (const pipeline of pipelines)
    sets.set(pipeline.table, await readServedFile(servedFile(folder, pipeline), pipeline));
  return fixedSource(sets);
}

async function readServedFile(file: string, pipeline: AnyPipeline): Promise<RecordSet> {
  let bytes: Buffer;
  let lastModified: Date;
  try {
    bytes = await readFile(file);
    lastModified = (await stat(file)).mtime;
  } catch (error) {
    throw new RekapError(
      'served-data',
      `${file} cannot be read: ${systemReason(error)}.`,
      `It should hold the records of ${pipeline.endpoint} as a JSON array.`,
      { cause: error },
    );
  }
  let text: string;
  let parsed: unknown;
  try {
    // `fatal` refuses bytes that are not UTF-8, which would otherwise be served as replacement characters. A BOM is dropped.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    parsed = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not UTF-8 text';
    throw new RekapError('served-data', `${file} is not JSON: ${reason}.`, 'Correct the file, or write it again.', {
      cause: error,
    });
  }
  if (!Array.isArray(parsed)) {
    throw new RekapError(
      'served-data',
      `${file} is JSON, but not an array.`,
      'Write the records as one array: [{…}, {…}].',
    );
  }
  const texts = splitJsonArray(text);
  const field = districtField(pipeline);
  return buildRecordSet(
    parsed.map((record: unknown, index) => ({
      text: texts[index] ?? '',
      district: readRecordDistrict(record, field, `Record ${index + 1} of ${file}`),
    })),
    lastModified,
  );
}

function readRecordDistrict(record: unknown, field: string, where: string): number | null {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new RekapError(
      'served-data',
      `${where} is not an object.`,
      'Every item of the array must be a record: {"Field": "value", …}.',
    );
  }
  if (!Object.hasOwn(record, field)) return null;
  const district = readDistrict((record as Record<string, unknown>)[field]);
  if (district !== null) return district;
  throw new RekapError(
    'served-data',
    `${where}: its ${field} is no district; it must be digits, at most ${maxNumber}.`,
    'Correct it, or leave the field out; the record is then served without the filter only.',
  );
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
