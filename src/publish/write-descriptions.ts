/** Writes datapackage.json (Frictionless) and dbt/sources.yml from the comments in a snapshot's tables. */

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Relation, RelationColumn } from '../warehouse/read-dictionary.ts';
import type { ViewKeys } from '../project/sql-file.ts';
import type { Run } from './run.ts';
import { deceptive } from '../runtime/text.ts';
import { readVersion } from '../runtime/version.ts';
import { type ManifestFile, parquetPath, sampleNotice } from '../warehouse/snapshot-format.ts';
import { writeNewFile } from '../runtime/with-file.ts';

const packageFile = 'datapackage.json';
const dbtFile = 'dbt/sources.yml';

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

function origin({ id, options, project }: Run): string {
  const notice = sampleNotice({ source: options.source, project });
  return `Snapshot ${id} from ${options.source}.${notice === null ? '' : ` ${notice}`}`;
}

function describePackage(run: Run, relations: readonly Described[]): unknown {
  const { source } = run.options;
  return {
    profile: 'data-package',
    name: `rekap-${run.id.toLowerCase()}`,
    title: run.project.title,
    // frictionless can't count the bytes of a Parquet file, so it refuses "bytes" properties.
    description: `${origin(run)} The resources have no "bytes" property, because validators cannot count the bytes of Parquet files. manifest.json lists the sizes.`,
    created: run.startedAt.toISOString(),
    // A path must be a URL.
    sources: [source === 'sample' ? { title: 'sample' } : { title: source, path: source }],
    contributors: [{ title: `rekap ${readVersion()}`, role: 'wrangler' }],
    resources: relations.map(({ name, meaning, columns, file }) => ({
      name,
      path: file.path,
      description: meaning,
      format: 'parquet',
      mediatype: 'application/vnd.apache.parquet',
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
  const fieldType = fieldTypes[type] ?? 'string';
  return {
    name,
    type: fieldType,
    ...(meaning === '' ? {} : { description: meaning }),
    ...(unit === '' ? {} : { unit }),
    ...(field === null ? {} : { sourceField: field }),
    // Validators read Parquet with pandas, which returns NULL as NaN, NaT or None.
    ...(fieldType === 'string' ? {} : { missingValues: ['', 'nan', 'NaT', 'None'] }),
  };
}

function keysOf({ project }: Run, name: string): Partial<ViewKeys> {
  const pipeline = project.pipelines.find(({ table }) => table === name);
  return {
    ...(pipeline && { primaryKey: [...pipeline.key] }),
    ...project.models.find((model) => model.name === name)?.keys,
  };
}

const snapshotFolder = "{{ env_var('REKAP_SNAPSHOT', 'data/warehouse/current') }}";

/** Freshness comes from the log of runs, because a sync without changes creates no snapshot. `rekap status` uses the same 26 hours. */
const freshness = [
  '      freshness: { warn_after: { count: 26, period: hour } }',
  '      loaded_at_query: >-',
  '        SELECT max(started_at) FROM read_json(',
  `        '${snapshotFolder}/../../runs.jsonl', format = 'newline_delimited', ignore_errors = true,`,
  "        columns = { kind: 'VARCHAR', outcome: 'VARCHAR', started_at: 'TIMESTAMP' })",
  "        WHERE kind IN ('sync', 'pull') AND outcome IN ('published', 'held', 'unchanged', 'pulled')",
];

function describeSources(run: Run, relations: readonly Described[]): string {
  const tables = relations.flatMap(({ name, meaning, columns }) => {
    const { ofTable, ofColumn } = testKeys(keysOf(run, name));
    return [
      `      - name: ${yaml(name)}`,
      `        description: ${yaml(meaning)}`,
      ...listTests(ofTable, '        '),
      '        columns:',
      ...columns.flatMap((column) => [
        `          - name: ${yaml(column.name)}`,
        `            data_type: ${yaml(column.type.toLowerCase())}`,
        `            description: ${yaml(column.meaning)}`,
        ...listTests(ofColumn[column.name] ?? [], '            '),
      ]),
    ];
  });
  return [
    'version: 2',
    'sources:',
    '  - name: rekap',
    `    description: ${yaml(origin(run))}`,
    '    config:',
    `      external_location: "${snapshotFolder}/parquet/{name}/{name}.parquet"`,
    ...freshness,
    '    tables:',
    ...tables,
    '',
  ].join('\n');
}

function listTests(tests: readonly unknown[], indent: string): string[] {
  return tests.length === 0 ? [] : [`${indent}data_tests: ${yaml(tests)}`];
}

/** Converts keys to dbt tests: column tests for one column, table tests for several. */
function testKeys({ primaryKey = [], foreignKeys = [] }: Partial<ViewKeys>) {
  const ofTable: unknown[] = [];
  const ofColumn = Object.create(null) as Record<string, unknown[]>;
  for (const name of primaryKey) ofColumn[name] = ['not_null'];
  const add = (fields: readonly string[], test: string, others: object): void => {
    const [field = '', ...more] = fields;
    if (more.length > 0) ofTable.push({ [test]: { arguments: { column_name: joined(fields), ...others } } });
    else (ofColumn[field] ??= []).push(Object.keys(others).length === 0 ? test : { [test]: { arguments: others } });
  };
  if (primaryKey.length > 0) add(primaryKey, 'unique', {});
  for (const { fields, reference } of foreignKeys)
    add(fields, 'relationships', {
      to: `source('rekap', '${reference.resource}')`,
      field: joined(reference.fields),
    });
  return { ofTable, ofColumn };
}

function joined(fields: readonly string[]): string {
  return fields.length === 1 ? fields[0]! : `row(${fields.join(', ')})`;
}

/** Writes a value in one line of YAML. In YAML, unlike JSON, a character above U+FFFF takes one escape. */
function yaml(value: unknown): string {
  return JSON.stringify(value).replaceAll(deceptive, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}
