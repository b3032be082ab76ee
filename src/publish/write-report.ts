/** Makes the report of a snapshot that is built, and gives it its place among the files of the snapshot. */

import { basename, join } from 'node:path';
import { openPublished, verifyHint } from '../warehouse/open-published.ts';
import { isRekapError, messageOf, RekapError, systemCode } from '../errors.ts';
import { readAnswers } from '../land/landed-run.ts';
import type { Language } from '../project/declaration.ts';
import type { AnswerOfRecord, DrawReport } from '../report/report-facts.ts';
import { describeFile, findAltered } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest, reportFile } from '../warehouse/snapshot-format.ts';
import type { Run } from '../run-options.ts';
import { importModule } from '../project/import-module.ts';
import { writeNewFile } from '../runtime/with-file.ts';

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
 * What draws a report: the module of a project, or what every project has.
 *
 * @param reportModule Null for a project without one, and where its code is not at hand.
 */
export async function loadReport(reportModule: string | null): Promise<DrawReport> {
  if (reportModule === null) return (await import('../report/report.ts')).drawReport;
  const module = (await importModule(reportModule)) as { readonly default: DrawReport };
  return module.default;
}

/**
 * The report as one page of HTML; null where the snapshot has nothing to show.
 *
 * @throws `warehouse` if a Parquet file, from which its figures come, was changed.
 */
export async function makeReport(
  reportModule: string | null,
  manifest: Manifest,
  { folder, landing, pinned, signal }: ReportPlaces,
  language: Language,
): Promise<string | null> {
  const draw = await loadReport(reportModule);
  const files = manifest.files.filter(({ path, rows }) => rows !== null && path.endsWith('.parquet'));
  const [altered] = await findAltered(folder, files);
  if (altered !== undefined) throw new RekapError('warehouse', `${altered.path}: ${altered.why}.`, verifyHint);
  const parquet = new Map(files.map(({ path }) => [basename(path, '.parquet'), join(folder, path)]));
  const database = await openPublished(join(folder, databaseFile), {
    parquet,
    ...(signal !== undefined && { signal }),
  });
  try {
    const { project } = manifest;
    return await draw({ project, database, manifest, answers: await readKeptAnswers(landing), pinned, language });
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
  { reportModule, folder, landing, pinned, warn, signal }: Run,
  manifest: Manifest,
): Promise<Manifest> {
  const places = { folder, landing, pinned, signal };
  const page = await makeReport(reportModule, manifest, places, 'en').catch((error: unknown) => {
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
