/** run.json, the first file of a landing: what its run was asked, so that it can be gone on with or replayed. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, LandingError } from '../errors.ts';

export const runFile = 'run.json';

/** What a run was asked, and what it knew before its first request. */
export interface RunFile {
  readonly format: 1;
  readonly run: string;
  /** ISO 8601. */
  readonly started_at: string;
  readonly tool: { readonly name: 'rekap'; readonly version: string };
  /** What the warehouse remembers as its source. */
  readonly source: string;
  /** Without a trailing slash. */
  readonly base_url: string;
  /** The snapshot that was current. */
  readonly previous: string | null;
  /** Tables asked for. */
  readonly datasets: readonly string[];
  /** Districts asked for; null for all. */
  readonly dapil: readonly number[] | null;
  readonly page_size: number;
  /** Districts of the snapshot before. */
  readonly known_districts: readonly number[];
  /** Districts known from law. */
  readonly reference_districts: readonly number[];
}

export async function writeRunFile(folder: string, run: RunFile): Promise<void> {
  await writeFile(join(folder, runFile), `${JSON.stringify(run, null, 2)}\n`, { flag: 'wx' });
}

/** @throws LandingError where the file is missing or is no description of a run. */
export async function readRunFile(folder: string): Promise<RunFile> {
  const file = join(folder, runFile);
  const next = 'Name another run, or run the sync again.';
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const what = errorCode(error) === 'ENOENT' ? 'is missing' : `cannot be read (${errorCode(error)})`;
    throw new LandingError(`${file} ${what}.`, next, { cause: error });
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (isRunFile(parsed)) return parsed;
  } catch {
    // Said below, as for any other text that describes no run.
  }
  throw new LandingError(`${file} does not describe a run.`, next);
}

function isRunFile(value: unknown): value is RunFile {
  if (typeof value !== 'object' || value === null) return false;
  const run = value as Partial<Record<keyof RunFile, unknown>>;
  return (
    run.format === 1 &&
    [run.run, run.source, run.base_url].every(isText) &&
    isText(run.started_at) &&
    !Number.isNaN(Date.parse(run.started_at)) &&
    URL.canParse(String(run.base_url)) &&
    (run.previous === null || isText(run.previous)) &&
    isListOf(run.datasets, isText) &&
    (run.dapil === null || isListOf(run.dapil, isNumber)) &&
    isNumber(run.page_size) &&
    isListOf(run.known_districts, isNumber) &&
    isListOf(run.reference_districts, isNumber)
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}
