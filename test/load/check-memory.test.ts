/** Checks across tables hold a nation's villages in bounded memory: what DuckDB cannot put on the disk must not grow with the tables. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadProject } from '../../pipelines/index.ts';
import { openDatabase } from '../../src/database.ts';
import { createTableSql, datasetTable } from '../../src/load/tables.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { checks, pipelines } = loadProject();
const rows = 400_000;

it.each(checks)(
  '$name comes to its end within 64 MB over as many rows as there are villages, and more',
  async ({ sql }) => {
    const folder = await temporaryFolder();
    const settings = { memory_limit: '64MB', threads: '2', temp_directory: join(folder, 'spill') };
    const database = await openDatabase(join(folder, 'checked.duckdb'), { settings });
    try {
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
      await database.run(`CREATE TEMP TABLE found AS ${sql}`);
      expect(await database.rows('SELECT count(*) AS n FROM found')).toEqual([{ n: 0n }]);
    } finally {
      database.close();
    }
  },
);
