/** datapackage.json and dbt/sources.yml describe just the files and columns that there are. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRows } from '../support/read-table.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Resource {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly hash: string;
  readonly schema: { readonly fields: { readonly name: string; readonly description: string }[] };
}

it('a snapshot describes each of its Parquet files to other tools, with size, hash and every column', async () => {
  const warehouse = await temporaryFolder();
  const { manifest } = await runSync(syncOptions(warehouse, (await serveData(smallNation({ 1101: 4 }))).url));
  const read = (file: string) => readFile(join(warehouse, 'current', file), 'utf8');
  const { resources } = JSON.parse(await read('datapackage.json')) as { resources: Resource[] };
  const parquet = manifest.files.filter(({ path }) => path.endsWith('.parquet'));
  const described = resources.map(({ path, bytes, hash }) => ({ path, bytes, hash }));
  expect(described.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
    parquet
      .map(({ path, bytes, sha256 }) => ({ path, bytes, hash: `sha256:${sha256}` }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  );
  const dbt = await read('dbt/sources.yml');
  for (const { name, schema } of resources) {
    const columns = await readRows<{ column_name: string }>(warehouse, `DESCRIBE ${name}`);
    expect(
      schema.fields.map((field) => field.name),
      name,
    ).toEqual(columns.map(({ column_name }) => column_name));
    expect(schema.fields.every(({ description }) => description !== '')).toBe(true);
    expect(dbt).toContain(`- name: ${name}\n`);
  }
});

it('a report that cannot be drawn keeps no figures from being published, and the run warns of it', async () => {
  const warehouse = await temporaryFolder();
  const { url } = await serveData(smallNation({ 1101: 4 }));
  const loadReport = () => Promise.reject(new TypeError('no ink'));
  const { outcome, manifest, warnings } = await runSync(syncOptions(warehouse, url), {}, { ...project, loadReport });
  expect(outcome).toBe('published');
  expect(warnings.join()).toContain('no ink');
  expect(manifest.files.map(({ path }) => path)).not.toContain('report.html');
});
