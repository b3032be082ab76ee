/** datapackage.json and dbt/sources.yml describe exactly the files and columns of the snapshot. */

import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { openDatabase } from '../../src/runtime/database.ts';
import type { ViewKeys } from '../../src/project/sql-file.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { readRows } from '../support/read-table.ts';
import { runBundledSync, runSync, serveData, smallNation } from '../support/served-source.ts';
import { bundledProject as project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Resource {
  readonly name: string;
  readonly path: string;
  readonly hash: string;
  readonly schema: { readonly fields: { readonly name: string; readonly description: string }[] };
}

const synced = preparedWarehouse(async (warehouse) => {
  const { url } = await serveData(smallNation({ 1101: 4 }));
  return (await runBundledSync(syncOptions(warehouse, url))).manifest;
});

it('describes each Parquet file with its hash and columns', async () => {
  const { warehouse, known: manifest } = await synced();
  const read = (file: string) => readFile(join(warehouse, 'current', file), 'utf8');
  const { resources } = JSON.parse(await read('datapackage.json')) as { resources: Resource[] };
  const parquet = manifest.files.filter(({ path }) => path.endsWith('.parquet'));
  const described = resources.map(({ path, hash }) => ({ path, hash }));
  expect(described.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
    parquet
      .map(({ path, sha256 }) => ({ path, hash: `sha256:${sha256}` }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  );
  const tables = readTables(await read('dbt/sources.yml'));
  expect(tables.map(({ name }) => name)).toEqual(resources.map(({ name }) => name));
  for (const { name, schema } of resources) {
    const columns = await readRows<{ column_name: string }>(warehouse, `DESCRIBE ${name}`);
    expect(
      schema.fields.map((field) => field.name),
      name,
    ).toEqual(columns.map(({ column_name }) => column_name));
    expect(schema.fields.every(({ description }) => description !== '')).toBe(true);
  }
});

it('declares a dbt test of each key of a pipeline or view', async () => {
  const { warehouse } = await synced();
  const tables = readTables(await readFile(join(warehouse, 'current/dbt/sources.yml'), 'utf8'));
  const declared: [string, ViewKeys][] = [
    ...project.pipelines.map(({ table, key }): [string, ViewKeys] => [table, { primaryKey: key }]),
    ...project.models.flatMap(({ name, keys }): [string, ViewKeys][] => (keys === undefined ? [] : [[name, keys]])),
  ];
  expect(declared.length).toBeGreaterThan(project.pipelines.length);
  for (const [name, { primaryKey, foreignKeys = [] }] of declared) {
    const { data_tests: ofTable = [], columns } = tables.find((table) => table.name === name)!;
    const testsOf = (column: string) => columns.find((one) => one.name === column)?.data_tests;
    for (const column of primaryKey) expect(testsOf(column), `${name}.${column}`).toContain('not_null');
    const whole = { unique: { arguments: { column_name: `row(${primaryKey.join(', ')})` } } };
    const [found, unique] = primaryKey.length === 1 ? [testsOf(primaryKey[0]!), 'unique'] : [ofTable, whole];
    expect(found, name).toContainEqual(unique);
    for (const { fields, reference } of foreignKeys.filter((one) => one.fields.length === 1)) {
      const [field] = reference.fields;
      const to = `source('rekap', '${reference.resource}')`;
      expect(testsOf(fields[0]!)).toContainEqual({ relationships: { arguments: { to, field } } });
    }
  }
});

it('escapes each character of a comment that is invisible or that YAML refuses, and quotes names', async () => {
  const odd = 'a\u0001\u007f\u0085\u00ad\u061c\u200e\u200f\u2028\u2029\u202e\u2066\ufeff\uffff\u{e0041}😀\\u0041"\'\n';
  const [first, ...others] = project.pipelines;
  const model = {
    name: 'odd',
    comment: odd,
    columns: { 'a: b': odd },
    sql: 'SELECT 1 AS "a: b", 2 AS "on", 3 AS constructor',
  };
  const pipelines = [{ ...first!, comment: odd }, ...others];
  const warehouse = await temporaryFolder();
  const { url } = await serveData(smallNation({ 1101: 4 }));
  await runSync(syncOptions(warehouse, url), {}, { ...project, pipelines, models: [...project.models, model] });
  const sources = await readFile(join(warehouse, 'current/dbt/sources.yml'), 'utf8');
  expect(sources).not.toMatch(/[^\n\x20-\x7e😀]/u);
  const tables = readTables(sources);
  expect(tables.find(({ name }) => name === first!.table)).toMatchObject({ description: odd });
  expect(tables.find(({ name }) => name === 'odd')).toMatchObject({
    description: odd,
    columns: [{ name: 'a: b', description: odd }, { name: 'on' }, { name: 'constructor' }],
  });
});

it('declares a freshness query that counts a held sync, but not a failed one', async () => {
  const { warehouse } = await synced();
  const log = join(warehouse, 'runs.jsonl');
  const published = JSON.parse(await readFile(log, 'utf8')) as object;
  const later = [
    { ...published, outcome: 'held', started_at: '2026-11-21T03:00:00.000Z' },
    { ...published, outcome: 'failed', started_at: '2026-11-22T03:00:00.000Z' },
  ];
  await appendFile(log, later.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { sources } = parse(await readFile(join(warehouse, 'current/dbt/sources.yml'), 'utf8')) as {
    sources: { config: { loaded_at_query: string } }[];
  };
  const query = sources[0]!.config.loaded_at_query.replace(/\{\{.*?\}\}/, join(warehouse, 'current'));
  const database = await openDatabase(':memory:');
  onTestFinished(() => database.close());
  expect(await database.rows(`SELECT (${query})::VARCHAR AS loaded_at`)).toEqual([
    { loaded_at: '2026-11-21 03:00:00' },
  ]);
});

interface SourceTable {
  readonly name: string;
  readonly data_tests?: unknown[];
  readonly columns: { readonly name: string; readonly data_tests?: unknown[] }[];
}

function readTables(sources: string): SourceTable[] {
  return (parse(sources) as { sources: [{ tables: SourceTable[] }] }).sources[0].tables;
}

it('publishes the figures and warns if the report fails', async () => {
  const warehouse = await temporaryFolder();
  const { url } = await serveData(smallNation({ 1101: 4 }));
  const reportModule = join(await temporaryFolder(), 'report.mjs');
  await writeFile(reportModule, "export const drawReport = () => { throw new TypeError('report failed'); };");
  const moved = { ...project, reportModule };
  const { outcome, manifest, warnings } = await runSync(syncOptions(warehouse, url), {}, moved);
  expect(outcome).toBe('published');
  expect(warnings.join()).toContain('report failed');
  expect(manifest.files.map(({ path }) => path)).not.toContain('report.html');
});
