/** Describes a built snapshot in a manifest, from the results of every stage. */

import { basename } from 'node:path';
import { responsesFile, bodiesFile, runFile, verdictsFile } from '../land/formats.ts';
import type { WindowBound } from '../load/changes.ts';
import type { Loaded } from '../load/load.ts';
import type { CarryOver } from '../load/previous-tables.ts';
import { projectDefinition } from '../load/schema.ts';
import { datasetTable } from '../load/tables.ts';
import type { Project } from '../project/declaration.ts';
import { storedPart } from '../project/stored.ts';
import { readingAfter, verdictsAfter } from './carry-over.ts';
import { assembleDataset, fingerprint } from './manifest.ts';
import type { Run } from './run.ts';
import type { ParquetContent } from './parquet-contents.ts';
import { writeDescriptions } from './write-descriptions.ts';
import { readVersion } from '../runtime/version.ts';
import type { TransformTotals, Verdict } from '../stages.ts';
import { describeFile } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest } from '../warehouse/snapshot-format.ts';

export interface Staged {
  readonly verdicts: readonly Verdict[];
  readonly totals: ReadonlyMap<string, TransformTotals>;
  /** The rows of the previous snapshot that stay. */
  readonly kept: CarryOver;
}

export interface Built extends Staged, Loaded {
  /** By table, if this run read the whole list after windows. */
  readonly bounds: ReadonlyMap<string, WindowBound>;
}

export async function describeSnapshot(
  run: Run,
  { verdicts, totals, kept, bounds, reports, violationAges, parquet, dictionary }: Built,
  contents: ReadonlyMap<string, ParquetContent>,
): Promise<Manifest> {
  const { project, options, previous, folder } = run;
  const datasets = Object.fromEntries(
    project.pipelines.map((pipeline) => {
      const { table } = pipeline;
      const partitions = verdictsAfter(run, kept, table, verdicts);
      const { missed, ...report } = reports.get(table)!;
      const reading = readingAfter(run, kept, table, partitions);
      const facts = {
        pipeline,
        totals: totals.get(table) ?? null,
        partitions,
        reading: { ...reading, ...(bounds.has(table) && { missed }) },
        ...report,
        schema: datasetTable(pipeline).columns.map(({ name, type }) => [name, type] as const),
      };
      return [table, assembleDataset(facts)];
    }),
  );
  const tables = await Promise.all(
    [...parquet].map(async ([path, rows]) => {
      const { all, withoutHistory: content = all } = contents.get(path)!;
      return { ...(await describeFile(folder, path, rows)), content };
    }),
  );
  const descriptions = await writeDescriptions(run, dictionary, tables);
  const files = await Promise.all([databaseFile, ...descriptions].map((path) => describeFile(folder, path, null)));
  return {
    format: 2,
    snapshot: run.id,
    run: basename(run.landing),
    created_at: run.startedAt.toISOString(),
    tool: { name: 'rekap', version: readVersion() },
    source: options.source,
    project: storedPart(project),
    previous: previous?.id ?? null,
    datasets,
    definition: definitionFingerprint(project),
    warnings: [...run.warnings],
    violation_ages: { ...violationAges },
    files: [...files, ...tables],
    landing: await Promise.all(
      [runFile, responsesFile, bodiesFile, verdictsFile].map((path) => describeFile(run.landing, path, null)),
    ),
  };
}

/** Returns the fingerprint of all tables, views and checks, equal for snapshots of the same project. */
export function definitionFingerprint(project: Project): string {
  return fingerprint(projectDefinition(project));
}
