/** Draws the report of a built snapshot, and adds it to the snapshot's files. */

import { basename, join } from 'node:path';
import { memoryToRead, openPublished, verifyHint } from '../warehouse/open-published.ts';
import { isRekapError, messageOf, RekapError, systemCode } from '../errors.ts';
import { readLandedResponses } from '../land/landed-run.ts';
import type { Language } from '../project/sql-file.ts';
import type { DrawReport, StoredResponse } from '../report/own-sections.ts';
import { describeFile, findAltered } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest, type ManifestFile, reportFile } from '../warehouse/snapshot-format.ts';
import type { Run } from './run.ts';
import { importModule } from '../project/import-module.ts';
import { spillFolder } from '../runtime/database.ts';
import { writeNewFile } from '../runtime/with-file.ts';

export interface ReportPlaces {
  readonly folder: string;
  readonly landing: string;
  readonly pinned: string | null;
  readonly signal?: AbortSignal | undefined;
  /** Folder for what exceeds the memory for reading a snapshot. Without it, the report may use more memory. */
  readonly spill?: string;
}

/**
 * Loads the module that draws a project's whole report, or the default report.
 * @param reportModule Null if the project has none or its code isn't available.
 */
export async function loadReport(reportModule: string | null): Promise<DrawReport> {
  if (reportModule === null) return (await import('../report/report.ts')).drawReport;
  const module = (await importModule(reportModule)) as { readonly drawReport: DrawReport };
  return module.drawReport;
}

/**
 * Returns the report of a published snapshot as an HTML page, or null if there is nothing to show.
 * @throws `warehouse` if a Parquet file, the source of its figures, was changed.
 */
export async function makeReport(
  reportModule: string | null,
  manifest: Manifest,
  places: ReportPlaces,
  language: Language,
): Promise<string | null> {
  const [altered] = await findAltered(places.folder, parquetFiles(manifest));
  if (altered !== undefined) throw new RekapError('warehouse', `${altered.path}: ${altered.why}.`, verifyHint);
  return draw(reportModule, manifest, places, language);
}

function parquetFiles({ files }: Manifest): ManifestFile[] {
  return files.filter(({ path, rows }) => rows !== null && path.endsWith('.parquet'));
}

async function draw(
  reportModule: string | null,
  manifest: Manifest,
  { folder, landing, pinned, signal, spill }: ReportPlaces,
  language: Language,
): Promise<string | null> {
  const drawPage = await loadReport(reportModule);
  const parquet = new Map(parquetFiles(manifest).map(({ path }) => [basename(path, '.parquet'), join(folder, path)]));
  const database = await openPublished(join(folder, databaseFile), {
    parquet,
    signal,
    ...(spill !== undefined && { spill, memory: memoryToRead(manifest) }),
  });
  try {
    const responses = await readStoredResponses(landing);
    return await drawPage({ project: manifest.project, database, manifest, responses, pinned, language });
  } finally {
    database.close();
  }
}

/** Without stored responses, the report has all figures but no source URLs. */
async function readStoredResponses(landing: string): Promise<StoredResponse[]> {
  return readLandedResponses(landing).catch((error: unknown) => {
    if (isRekapError(error, 'landing')) return [];
    throw error;
  });
}

/** Writes report.html, and returns the manifest that lists it. If the report can't be drawn, the run warns and publishes without it. */
export async function addReport(run: Run, manifest: Manifest): Promise<Manifest> {
  const { reportModule, folder, warn, signal } = run;
  const page = await draw(reportModule, manifest, { ...run, spill: spillFolder(folder) }, 'en').catch(
    (error: unknown) => {
      signal.throwIfAborted();
      if (systemCode(error) !== 'unknown' || error instanceof RekapError) throw error;
      warn(`The report could not be written: ${messageOf(error)}`);
      return null;
    },
  );
  if (page === null) return manifest;
  await writeNewFile(join(folder, reportFile), page);
  return { ...manifest, files: [...manifest.files, await describeFile(folder, reportFile, null)] };
}
