/** Makes the report of a snapshot that is built, and gives it its place among the files of the snapshot. */

import { join } from 'node:path';
import { openDatabase } from '../duckdb/database.ts';
import { isRekapError } from '../errors.ts';
import { readAnswers } from '../land/landed-run.ts';
import type { AnswerOfRecord, Language, Project } from '../pipeline.ts';
import { describeFile } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest, reportFile } from '../warehouse/snapshot-format.ts';
import { writeNewFile } from '../warehouse/with-file.ts';

/** A snapshot's folder, and that of the answers of its run. */
export interface ReportPlaces {
  readonly folder: string;
  readonly landing: string;
}

/** The report as one page of HTML; null where the project has none, or the snapshot nothing to show. */
export async function makeReport(
  project: Project,
  manifest: Manifest,
  { folder, landing }: ReportPlaces,
  language: Language,
): Promise<string | null> {
  if (project.report === undefined) return null;
  const database = await openDatabase(join(folder, databaseFile), { readOnly: true });
  try {
    return await project.report({ database, manifest, answers: await readKeptAnswers(landing), language });
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

/** Writes report.html into the folder of a snapshot that is being built; gives the manifest that names it. */
export async function addReport(project: Project, manifest: Manifest, places: ReportPlaces): Promise<Manifest> {
  const page = await makeReport(project, manifest, places, 'en');
  if (page === null) return manifest;
  await writeNewFile(join(places.folder, reportFile), page);
  const files = [await describeFile(places.folder, reportFile, null), ...manifest.files];
  return {
    ...manifest,
    files: files.toSorted((a, b) => Number(b.path === databaseFile) - Number(a.path === databaseFile)),
  };
}
