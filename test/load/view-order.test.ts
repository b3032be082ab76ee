/** The same rows give the same Parquet bytes, with any number of threads and connections. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSchema } from '../../src/load/schema.ts';
import { writeParquet } from '../../src/load/write-parquet.ts';
import { openDatabase } from '../../src/runtime/database.ts';
import { readDictionary } from '../../src/warehouse/read-dictionary.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { loadProject, pipelines } from '../support/bundled.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Several row groups in each view, so that threads share the work. */
const regencies = 45_000;

it('each view of the star has the same bytes with 1, 2 and 8 threads', async () => {
  const project = loadProject();
  const names = ['regency_figures', 'turnout', 'fact_people', 'dim_regency'];
  const hashes: string[] = [];
  for (const threads of ['1', '2', '8']) {
    const folder = join(await temporaryFolder());
    const database = await openDatabase(':memory:', { settings: { threads, preserve_insertion_order: 'true' } });
    await createSchema(database, project);
    for (const { table, columns } of pipelines) {
      const values = Object.entries(columns).map(([name, { kind }]) =>
        kind === 'text' ? `'${name} ' || (i // 7)::VARCHAR AS ${name}` : `(i % 997)::INTEGER AS ${name}`,
      );
      await database.run(
        `INSERT INTO ${table} BY NAME SELECT ${values.join(', ')}, i % 5 > 0 AS is_consistent FROM range(${regencies}) t(i)`,
      );
    }
    const relations = (await readDictionary(database)).filter(({ name }) => names.includes(name));
    const lanes = threads === '2' ? [database] : [database, await database.beside()];
    await writeParquet(lanes, relations, {
      folder,
      origin: {},
      models: project.models,
      smallGroups: {},
    });
    database.close();
    const bytes = await Promise.all(names.map((name) => readFile(join(folder, parquetPath(name)))));
    hashes.push(bytes.map((own) => createHash('sha256').update(own).digest('hex')).join());
  }
  expect(new Set(hashes).size).toBe(1);
});
