/** Loading alone: Arrow batches through the staging tables into the final one, against DuckDB's row appender with the same rows. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { voters } from '../../pipelines/voters.ts';
import { openDatabase, type Database } from '../../src/database.ts';
import { Staging } from '../../src/load/staging.ts';
import { columnList, createTableSql, datasetTable } from '../../src/load/tables.ts';
import type { Batch } from '../../src/pipeline.ts';
import { median, type Finding } from './finding.ts';
import { time } from './measure.ts';
import { makeBatches } from './transform.ts';

const size = 200_000;
const rounds = 3;
const table = datasetTable(voters);
const order = columnList(table.sortedBy);

type Value = number | string | boolean | null;

export async function benchLoad(): Promise<Finding[]> {
  const batches = makeBatches(size);
  const rows = batches.flatMap(rowsOf);
  const staged: number[] = [];
  const appended: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    appended.push(await timeLoad((database) => appendRows(database, rows)));
    staged.push(await timeLoad((database) => loadBatches(database, batches)));
  }
  return [
    {
      section: `load (${size.toLocaleString('en')} rows)`,
      what: `Arrow batches to a sorted table, rows per second`,
      measured: (size / median(staged)) * 1000,
      against: (size / median(appended)) * 1000,
      reference: 'with the row appender, sorted too',
      target: { atLeast: 2 },
      format: (value) => Math.round(value).toLocaleString('en'),
    },
  ];
}

async function timeLoad(load: (database: Database) => Promise<void>): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-bench-'));
  const database = await openDatabase(join(folder, 'bench.duckdb'), { settings: { threads: '2' } });
  try {
    return await time(() => load(database));
  } finally {
    database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function loadBatches(database: Database, batches: readonly Batch[]): Promise<void> {
  const staging = await Staging.create(database, [voters]);
  for (const batch of batches) staging.append(voters, { ...batch, violations: [], quarantined: [] });
  staging.close();
  await fillTable(database, Staging.selectSql(voters));
}

async function appendRows(database: Database, rows: readonly (readonly Value[])[]): Promise<void> {
  const columns = table.columns.map(({ name, type }) => `${name} ${type}`).join(', ');
  await database.run(`CREATE TEMP TABLE staging (${columns})`);
  const appender = await database.connection.createAppender('staging', 'main', 'temp');
  for (const row of rows) {
    for (const value of row) {
      if (value === null) appender.appendNull();
      else if (typeof value === 'number') appender.appendInteger(value);
      else if (typeof value === 'string') appender.appendVarchar(value);
      else appender.appendBoolean(value);
    }
    appender.endRow();
  }
  appender.closeSync();
  await fillTable(database, 'SELECT * FROM staging');
}

async function fillTable(database: Database, select: string): Promise<void> {
  await database.run(createTableSql(table));
  await database.run(`INSERT INTO ${table.name} SELECT * FROM (${select}) ORDER BY ${order}`);
  await database.run('CHECKPOINT');
}

function rowsOf({ rows }: Batch): Value[][] {
  const columns = table.columns.map((_, index) => [...rows.getChildAt(index)!] as Value[]);
  return Array.from({ length: rows.numRows }, (_, row) => columns.map((column) => column[row]!));
}
