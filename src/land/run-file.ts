/** run.json, the first file of a landing: what its run was asked, so that it can be gone on with or replayed. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode, isRekapError, RekapError, systemReason } from '../errors.ts';
import { isSnapshotId } from '../warehouse/snapshot-format.ts';
import { writeNewFile } from '../warehouse/with-file.ts';

export const runFile = 'run.json';

/** As JavaScript writes a time of this age of the world. */
const utcTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** What a run was asked, and what it knew before its first request. */
export interface RunFile {
  readonly format: 2;
  readonly run: string;
  /** ISO 8601. */
  readonly started_at: string;
  readonly tool: { readonly name: 'rekap'; readonly version: string };
  /** What the warehouse remembers as its source. */
  readonly source: string;
  /** Without a trailing slash. */
  readonly base_url: string;
  /** The snapshot that was current, and the SHA-256 of its history of changes. */
  readonly previous: string | null;
  readonly previous_history: string | null;
  /** What the run was told besides: a replay keeps to it. */
  readonly strict: boolean;
  readonly accept_changes: boolean;
  readonly accept_source: boolean;
  readonly dry_run: boolean;
  /** Tables asked for. */
  readonly datasets: readonly string[];
  /** Districts asked for; null for all. */
  readonly districts: readonly number[] | null;
  readonly page_size: number;
}

export async function writeRunFile(folder: string, run: RunFile): Promise<void> {
  await writeNewFile(join(folder, runFile), `${JSON.stringify(run, null, 2)}\n`);
}

/** @throws `landing` where the file is missing or is no description of a run. */
export async function readRunFile(folder: string): Promise<RunFile> {
  const file = join(folder, runFile);
  const next = 'Name another run, or run the sync again.';
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const what = systemCode(error) === 'ENOENT' ? 'is missing' : `cannot be read: ${systemReason(error)}`;
    throw new RekapError('landing', `${file} ${what}.`, next, { cause: error });
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (isObject(parsed) && 'format' in parsed && parsed.format === 1) {
      const why = `${file} was written by an older release, which did not say which answers count.`;
      throw new RekapError(
        'landing',
        why,
        'Its snapshot stays as it is; run the sync again for answers that can be replayed.',
      );
    }
    if (isRunFile(parsed)) return parsed;
  } catch (error) {
    // Any other text that describes no run is named below.
    if (isRekapError(error, 'landing')) throw error;
  }
  throw new RekapError('landing', `${file} does not describe a run.`, next);
}

function isRunFile(value: unknown): value is RunFile {
  if (!isObject(value)) return false;
  const run = value as Partial<Record<keyof RunFile, unknown>>;
  return (
    run.format === 2 &&
    isId(run.run) &&
    isText(run.source) &&
    isText(run.started_at) &&
    utcTime.test(run.started_at) &&
    !Number.isNaN(Date.parse(run.started_at)) &&
    isText(run.base_url) &&
    /^https?:/.test(run.base_url) &&
    URL.canParse(run.base_url) &&
    (run.previous === null || isId(run.previous)) &&
    (run.previous_history === null || isText(run.previous_history)) &&
    typeof run.strict === 'boolean' &&
    typeof run.accept_changes === 'boolean' &&
    typeof run.accept_source === 'boolean' &&
    typeof run.dry_run === 'boolean' &&
    isSetOf(run.datasets, isText) &&
    (run.districts === null || isSetOf(run.districts, isNumber)) &&
    isNumber(run.page_size) &&
    run.page_size > 0
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isId(value: unknown): boolean {
  return isText(value) && isSnapshotId(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Neither empty nor with anything twice. */
function isSetOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && isListOf(value, isItem) && new Set(value).size === value.length;
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}
