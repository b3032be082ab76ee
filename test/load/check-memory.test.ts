/** Checks across tables hold a nation's villages in bounded memory: what DuckDB cannot put on the disk must not grow with the tables. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadProject } from '../../pipelines/index.ts';
import { openDatabase, type Database } from '../../src/database.ts';
import { createTableSql, datasetTable } from '../../src/load/tables.ts';

const { checks, pipelines } = loadProject();
const rows = 400_000;

let folder: string;
let database: Database;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rekap-check-memory-'));
  const settings = { memory_limit: '64MB', threads: '2', temp_directory: join(folder, 'spill') };
  database = await openDatabase(join(folder, 'checked.duckdb'), { settings });
  for (const pipeline of pipelines) {
    const table = datasetTable(pipeline);
    await database.run(createTableSql(table));
    const values = table.columns.map(({ name, type }) => {
      if (name === pipeline.district) return 'range % 84';
      if (name === 'regency') return "'KECAMATAN DAN DESA NOMOR ' || range";
      return type === 'VARCHAR' ? "'SAME'" : type === 'BOOLEAN' ? 'true' : '1';
    });
    await database.run(`INSERT INTO ${table.name} SELECT ${values.join(', ')} FROM range(${rows})`);
  }
});

afterAll(async () => {
  database.close();
  await rm(folder, { recursive: true, force: true });
});

it.each(checks)(
  '$name comes to its end within 64 MB over as many rows as there are villages, and more',
  async ({ sql }) => {
    await database.run(`CREATE OR REPLACE TEMP TABLE found AS ${sql}`);
    expect(await database.rows('SELECT count(*) AS n FROM found')).toEqual([{ n: 0n }]);
  },
);
