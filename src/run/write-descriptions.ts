/** Writes what other tools read of a snapshot: datapackage.json (Frictionless) and dbt/sources.yml, both from the comments in its tables. */

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Relation, RelationColumn } from '../duckdb/dictionary.ts';
import type { Run } from './options.ts';
import { readVersion } from '../runtime/version.ts';
import { type ManifestFile, parquetPath } from '../warehouse/snapshot-format.ts';
import { writeNewFile } from '../warehouse/with-file.ts';

const packageFile = 'datapackage.json';
const dbtFile = 'dbt/sources.yml';

/** Gives the paths of the files that it has written below the run's folder. */
export async function writeDescriptions(
  run: Run,
  dictionary: readonly Relation[],
  tables: readonly ManifestFile[],
): Promise<string[]> {
  const described = dictionary.flatMap((relation) => {
    const file = tables.find(({ path }) => path === parquetPath(relation.name));
    return file === undefined ? [] : [{ ...relation, file }];
  });
  await mkdir(join(run.folder, dirname(dbtFile)));
  await writeNewFile(join(run.folder, packageFile), `${JSON.stringify(describePackage(run, described), null, 2)}\n`);
  await writeNewFile(join(run.folder, dbtFile), describeSources(run, described));
  return [packageFile, dbtFile];
}

interface Described extends Relation {
  readonly file: ManifestFile;
}

function origin({ id, options }: Run): string {
  const what = `Snapshot ${id} of ${options.source}`;
  return options.source === 'sample' ? `${what}. Its figures are made up.` : `${what}.`;
}

/** A Data Package, version 1 of the standard. */
function describePackage(run: Run, relations: readonly Described[]): unknown {
  const { source } = run.options;
  return {
    profile: 'data-package',
    name: `rekap-${run.id.toLowerCase()}`,
    title: 'Voters of the DPR-RI election and users of their voting right',
    description: origin(run),
    created: run.startedAt.toISOString(),
    // A path has to be an address.
    sources: [source === 'sample' ? { title: 'sample' } : { title: source, path: source }],
    contributors: [{ title: `rekap ${readVersion()}`, role: 'wrangler' }],
    resources: relations.map(({ name, meaning, columns, file }) => ({
      name,
      path: file.path,
      description: meaning,
      format: 'parquet',
      mediatype: 'application/vnd.apache.parquet',
      bytes: file.bytes,
      hash: `sha256:${file.sha256}`,
      schema: { fields: columns.map(describeField), ...keysOf(run, name) },
    })),
  };
}

const fieldTypes: Readonly<Record<string, string>> = {
  INTEGER: 'integer',
  BIGINT: 'integer',
  DOUBLE: 'number',
  BOOLEAN: 'boolean',
  TIMESTAMP: 'datetime',
};

function describeField({ name, type, meaning, unit, field }: RelationColumn): unknown {
  return {
    name,
    type: fieldTypes[type] ?? 'string',
    ...(meaning === '' ? {} : { description: meaning }),
    ...(unit === '' ? {} : { unit }),
    ...(field === null ? {} : { sourceField: field }),
  };
}

/** What identifies a row, and what it refers to. */
function keysOf({ project }: Run, name: string): object {
  const pipeline = project.pipelines.find(({ table }) => table === name);
  if (pipeline !== undefined) return { primaryKey: [...pipeline.key] };
  return project.relations[name] ?? {};
}

/** Sources of dbt-duckdb, which finds the files in the folder that REKAP_SNAPSHOT names. */
function describeSources(run: Run, relations: readonly Described[]): string {
  const text = (value: string): string => JSON.stringify(value);
  const tables = relations.flatMap(({ name, meaning, columns }) => [
    `      - name: ${name}`,
    `        description: ${text(meaning)}`,
    '        columns:',
    ...columns.flatMap((column) => [
      `          - name: ${column.name}`,
      `            data_type: ${column.type.toLowerCase()}`,
      `            description: ${text(column.meaning)}`,
    ]),
  ]);
  return [
    'version: 2',
    'sources:',
    '  - name: rekap',
    `    description: ${text(origin(run))}`,
    '    config:',
    `      external_location: "{{ env_var('REKAP_SNAPSHOT', 'data/warehouse/current') }}/parquet/{name}/{name}.parquet"`,
    '    tables:',
    ...tables,
    '',
  ].join('\n');
}
