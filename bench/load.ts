/** Arrow batches through a staging table into the final table, compared with DuckDB's row appender and the same rows. */

import { join } from 'node:path';
import { voters } from '../test/support/bundled.ts';
import { columnList, type Database, openDatabase } from '../src/runtime/database.ts';
import { stagedName, Staging } from '../src/load/staging.ts';
import { createTableSql, datasetTable } from '../src/load/tables.ts';
import type { Batch } from '../src/stages.ts';
import { type Finding, formatRate, median } from './finding.ts';
import { time, withFolder } from './measure.ts';
import { makeBatches } from './transform.ts';
import type { Spread } from './vary-record.ts';

const size = 200_000;
const rounds = 3;
const table = datasetTable(voters);
const order = columnList(table.sortedBy);

type Value = number | string | boolean | null;

/** Rows as they usually are, with recurring names, and the hardest case: sorted, with no name twice. */
const cases: readonly {
  readonly what: string;
  readonly spread: Spread;
  readonly sorted: boolean;
  readonly target: Finding['target'];
}[] = [
  {
    what: 'rows in the order of arrival',
    spread: 'over elections',
    sorted: false,
    target: { atLeast: { must: 2, aim: 3 } },
  },
  { what: 'sorted rows, no name twice', spread: 'over regencies', sorted: true, target: null },
];

export async function benchLoad(): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { what, spread, sorted, target } of cases) {
    const batches = makeBatches(size, spread);
    const rows = batches.flatMap(rowsOf);
    const staged: number[] = [];
    const appended: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      appended.push(await timeLoad((database) => appendRows(database, rows, sorted)));
      staged.push(await timeLoad((database) => loadBatches(database, batches, sorted)));
    }
    findings.push({
      section: `load (${size.toLocaleString('en')} rows)`,
      what,
      measured: (size / median(staged)) * 1000,
      against: (size / median(appended)) * 1000,
      reference: 'with the row appender',
      target,
      format: formatRate,
    });
  }
  return findings;
}

async function timeLoad(load: (database: Database) => Promise<void>): Promise<number> {
  return withFolder(async (folder) => {
    const database = await openDatabase(join(folder, 'bench.duckdb'), { settings: { threads: '2' } });
    try {
      return await time(() => load(database));
    } finally {
      database.close();
    }
  });
}

async function loadBatches(database: Database, batches: readonly Batch[], sorted: boolean): Promise<void> {
  const staging = await Staging.create(database, [voters]);
  for (const batch of batches) staging.append(voters, { ...batch, violations: [], quarantined: [] });
  staging.close();
  await fillTable(database, `SELECT * FROM ${stagedName('voters')}`, sorted);
}

/** Without an order, rows go straight into the table, which is what the row appender is for. */
async function appendRows(database: Database, rows: readonly (readonly Value[])[], sorted: boolean): Promise<void> {
  const columns = table.columns.map(({ name, type }) => `${name} ${type}`).join(', ');
  await database.run(sorted ? `CREATE TEMP TABLE staging (${columns})` : createTableSql(table));
  const appender = sorted
    ? await database.connection.createAppender('staging', 'main', 'temp')
    : await database.connection.createAppender(table.name);
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
  if (sorted) await fillTable(database, 'SELECT * FROM staging', sorted);
  else await database.run('CHECKPOINT');
}

async function fillTable(database: Database, select: string, sorted: boolean): Promise<void> {
  await database.run(createTableSql(table));
  await database.run(`INSERT INTO ${table.name} SELECT * FROM (${select})${sorted ? ` ORDER BY ${order}` : ''}`);
  await database.run('CHECKPOINT');
}

function rowsOf({ rows }: Batch): Value[][] {
  const columns = table.columns.map((_, index) => [...rows.getChildAt(index)!] as Value[]);
  return Array.from({ length: rows.numRows }, (_, row) => columns.map((column) => column[row]!));
}
