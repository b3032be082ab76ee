/** Describes a snapshot that has been built: its manifest, from what every stage says of its part. */

import { basename } from 'node:path';
import { answersFile, bodiesFile, runFile, verdictsFile } from '../land/formats.ts';
import type { Loaded } from '../load/load.ts';
import type { CarryOver } from '../load/previous-tables.ts';
import { projectDefinition } from '../load/schema.ts';
import { datasetTable } from '../load/tables.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import { storedPart } from '../project/stored.ts';
import { assembleDataset, fingerprint } from './manifest.ts';
import type { Run } from '../run-options.ts';
import { writeDescriptions } from './write-descriptions.ts';
import { readVersion } from '../runtime/version.ts';
import type { TransformTotals, Verdict } from '../stages.ts';
import { describeFile } from '../warehouse/check-files.ts';
import { databaseFile, type Manifest } from '../warehouse/snapshot-format.ts';

/** What extraction and transformation have to say of what they brought. */
export interface Staged {
  readonly verdicts: readonly Verdict[];
  /** By table; without those that the run did not ask for. */
  readonly totals: ReadonlyMap<string, TransformTotals>;
}

/** Tables and Parquet files that are built, and what there is to say of them. */
export interface Built extends Staged, Loaded {
  readonly carryOver: CarryOver | null;
}

/** The manifest of the snapshot in the run's folder; hashes its files. */
export async function describeSnapshot(
  run: Run,
  { verdicts, totals, reports, violationAges, parquet, dictionary, carryOver }: Built,
): Promise<Manifest> {
  const { project, options, previous, folder } = run;
  const datasets = Object.fromEntries(
    project.pipelines.map((pipeline) => {
      const { table } = pipeline;
      const facts = {
        pipeline,
        totals: totals.get(table) ?? null,
        verdicts: verdicts.filter(({ dataset }) => dataset === table),
        replaced: carryOver?.replaced.get(table) ?? null,
        ...reports.get(table)!,
        schema: schemaOf(pipeline),
      };
      return [table, assembleDataset(facts, previous?.manifest ?? null)];
    }),
  );
  const tables = await Promise.all(
    // Rows as DuckDB wrote them; the verification that follows compares them with the tables.
    [...parquet].map(async ([path, { rows, content }]) => ({ ...(await describeFile(folder, path, rows)), content })),
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
      [runFile, answersFile, bodiesFile, verdictsFile].map((path) => describeFile(run.landing, path, null)),
    ),
  };
}

/** Fingerprint of all tables, views and checks, by which two snapshots tell whether one and the same project made them. */
export function definitionFingerprint(project: Project): string {
  return fingerprint(projectDefinition(project));
}

/** Fingerprint of a table's columns, by which two snapshots tell whether rows can be carried over. */
export function schemaFingerprint(pipeline: AnyPipeline): string {
  return fingerprint(schemaOf(pipeline));
}

function schemaOf(pipeline: AnyPipeline): [string, string][] {
  return datasetTable(pipeline).columns.map(({ name, type }) => [name, type]);
}
