/** Makes the report of a snapshot that is built, and gives it its place among the files of the snapshot. */

import { basename, join } from 'node:path';
import { openPublished, verifyHint } from '../duckdb/open-published.ts';
import { isRekapError, messageOf, RekapError, systemCode } from '../errors.ts';
import { readAnswers } from '../land/landed-run.ts';
import type { AnswerOfRecord, Language, Project } from '../pipeline.ts';
import { describeFile, findAltered } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest, reportFile } from '../warehouse/snapshot-format.ts';
import type { Run } from './options.ts';
import { writeNewFile } from '../warehouse/with-file.ts';

/** A snapshot's folder, and that of the answers of its run. */
export interface ReportPlaces {
  readonly folder: string;
  readonly landing: string;
  /** Id of the pinned snapshot; null if no snapshot is pinned. */
  readonly pinned: string | null;
  /** Ends it; a statement that is running is broken off. */
  readonly signal?: AbortSignal;
}

/**
 * The report as one page of HTML; null where the project has none, or the snapshot nothing to show.
 *
 * @throws `warehouse` if a Parquet file, from which its figures come, was changed.
 */
export async function makeReport(
  project: Project,
  manifest: Manifest,
  { folder, landing, pinned, signal }: ReportPlaces,
  language: Language,
): Promise<string | null> {
  const report = await project.loadReport?.();
  if (report === undefined) return null;
  const files = manifest.files.filter(({ path, rows }) => rows !== null && path.endsWith('.parquet'));
  const [altered] = await findAltered(folder, files);
  if (altered !== undefined) throw new RekapError('warehouse', `${altered.path}: ${altered.why}.`, verifyHint);
  const parquet = new Map(files.map(({ path }) => [basename(path, '.parquet'), join(folder, path)]));
  const database = await openPublished(join(folder, databaseFile), {
    parquet,
    ...(signal !== undefined && { signal }),
  });
  try {
    return await report({ database, manifest, answers: await readKeptAnswers(landing), pinned, language });
  } finally {
    database.close();
  }
}

/** What is no longer kept leaves the report without addresses, and with all its figures. */
async function readKeptAnswers(landing: string): Promise<AnswerOfRecord[]> {
  try {
    return await readAnswers(landing);
  } catch (error) {
    if (isRekapError(error, 'landing')) return [];
    throw error;
  }
}

/**
 * Writes report.html into the folder of a snapshot that is being built; gives the manifest that names it. A report that cannot be drawn
 * keeps no figures from being published: the run warns of it.
 */
export async function addReport(
  { project, folder, landing, pinned, warn, signal }: Run,
  manifest: Manifest,
): Promise<Manifest> {
  const places = { folder, landing, pinned, signal };
  const page = await makeReport(project, manifest, places, 'en').catch((error: unknown) => {
    // What the system refuses now, it refuses the next step too.
    signal.throwIfAborted();
    if (systemCode(error) !== 'unknown' || error instanceof RekapError) throw error;
    warn(`The report could not be written: ${messageOf(error)}`);
    return null;
  });
  if (page === null) return manifest;
  await writeNewFile(join(places.folder, reportFile), page);
  return { ...manifest, files: [...manifest.files, await describeFile(places.folder, reportFile, null)] };
}
