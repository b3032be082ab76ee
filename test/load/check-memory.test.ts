/** Checks across tables run in bounded memory on a table of all villages of a nation, because they spill to disk. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadProject } from '../support/bundled.ts';
import { type Database, openDatabase } from '../../src/runtime/database.ts';
import { readBrokenChecks } from '../../src/load/load-report.ts';
import { makeSchema } from '../../src/load/schema.ts';
import { datasetTable, violationsTable } from '../../src/load/tables.ts';

const project = loadProject();
const { checks, pipelines } = project;
const rows = 400_000;

const threads = '1';
const memory = 64;

describe(`within ${memory} MB of one thread`, () => {
  let folder: string;
  let database: Database;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rekap-check-memory-'));
    const settings = { memory_limit: `${memory}MB`, threads, temp_directory: join(folder, 'spill') };
    database = await openDatabase(join(folder, 'checked.duckdb'), { settings });
    await makeSchema(database, project);
    for (const pipeline of pipelines) {
      const table = datasetTable(pipeline);
      const values = table.columns.map(({ name, type }) => {
        if (name === pipeline.partition!.column) return 'range % 84';
        if (name === 'regency') return "'KECAMATAN DAN DESA NOMOR ' || range";
        // Men and women differ, and so do the totals of neighbours, which are below the voters in the DPT.
        if (name === 'dpt_male') return '2';
        if (name === 'grand_total') return 'range';
        if (name === 'dpt_total') return '1000000';
        return type === 'VARCHAR' ? "'SAME'" : type === 'BOOLEAN' ? 'true' : '1';
      });
      await database.run(`INSERT INTO ${table.name} SELECT ${values.join(', ')} FROM range(${rows})`);
    }
  });

  afterAll(async () => {
    database.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(checks)('$name completes on more rows than there are villages', async ({ sql }) => {
    await database.run(`CREATE OR REPLACE TEMP TABLE found AS ${sql}`);
    expect(await database.rows('SELECT count(*) AS n FROM found')).toEqual([{ n: 0n }]);
  });

  it('finds the worst examples of a check that every row breaks', async () => {
    const table = violationsTable(pipelines);
    const violation: Record<string, string> = {
      dataset: "'voters'",
      regency: "'KECAMATAN DAN DESA NOMOR ' || range",
      check_name: "'sum'",
      severity: "'error'",
      expected: "'sum of the others = ' || range",
      actual: 'range + (range * 7919) % 1000003',
      message: "'the sum is not what the others add up to, in row ' || range",
    };
    const values = table.columns.map(({ name, type }) => `(${violation[name] ?? 'NULL'})::${type}`);
    await database.run(`INSERT INTO violations SELECT ${values.join(', ')} FROM range(${rows})`);
    const distances = Array.from({ length: rows }, (_, row) => ({ row, distance: (row * 7919) % 1_000_003 }));
    const worst = distances.toSorted((a, b) => b.distance - a.distance || a.row - b.row).slice(0, 3);
    const [found, ...others] = await readBrokenChecks(database, pipelines, { snapshot: 'x', hasPrevious: false });
    expect(others).toEqual([]);
    expect(found).toMatchObject({ dataset: 'voters', check: 'sum', severity: 'error', count: rows });
    expect(found!.examples.map(({ message }) => Number(/\d+$/.exec(message)![0]))).toEqual(worst.map(({ row }) => row));
  });
});
