/** A workbook has exact numbers as numbers, longer ones as text, and no text beyond the limit of a cell. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { readSheet } from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/runtime/database.ts';
import { readDictionary } from '../../../src/warehouse/read-dictionary.ts';
import { runQuery } from '../../../src/snapshots/query/run-query.ts';
import { writeWorkbook } from '../../../src/snapshots/query/write-workbook.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The rows of a workbook's sheets, of a database with one table. */
async function sheetsOf(select: string) {
  const folder = await temporaryFolder();
  const file = join(folder, 'rekap.duckdb');
  const database = await openDatabase(file);
  await database.run(`CREATE TABLE figures AS ${select}; COMMENT ON TABLE figures IS 'What they are.'`);
  const relations = await readDictionary(database);
  database.close();
  const target = join(folder, 'x.xlsx');
  await writeWorkbook(
    (name, use) => runQuery(file, `FROM ${name}`, use),
    relations,
    [
      ['Snapshot', 'an id'],
      ['Rows', 3],
    ],
    target,
  );
  return { about: await readSheet(target, 'About'), figures: await readSheet(target, 'figures') };
}

describe('a cell of a workbook', () => {
  it.each<[string, unknown]>([
    ['999999999999999', 999_999_999_999_999],
    ['1000000000000000', '1000000000000000'],
    ['-1000000000000000', '-1000000000000000'],
    ['12.5::DOUBLE', 12.5],
    ["'nan'::DOUBLE", 'NaN'],
    ['true', true],
    ['NULL::INT', null],
    ["'001'", '001'],
    ["repeat('x', 32768)", 'x'.repeat(32_767)],
  ])('for %s', async (sql, expected) => {
    const { figures } = await sheetsOf(`SELECT ${sql} AS v, 1 AS one`);
    expect(figures).toEqual([
      ['v', 'one'],
      [expected, 1],
    ]);
  });
});

it('a workbook starts with its origin and every column of its tables', async () => {
  const { about } = await sheetsOf('SELECT 1 AS dapil_id, 0.5 AS turnout_pct');
  expect(about).toEqual([
    ['Snapshot', 'an id', null, null, null],
    ['Rows', 3, null, null, null],
    [null, null, null, null, null],
    ['Sheet', 'Column', 'Meaning', 'Unit', 'Source field'],
    ['figures', null, 'What they are.', null, null],
    ['figures', 'dapil_id', null, null, null],
    ['figures', 'turnout_pct', null, 'percent', null],
  ]);
});

it('begins with the sheet for readers, its origin, and a chart of the cells that it names', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'rekap.duckdb');
  const database = await openDatabase(file);
  await database.run(
    "CREATE TABLE places AS FROM (VALUES ('B & C', 2.5::DOUBLE, 3), ('A', 1.25, NULL)) t(name, men, women)",
  );
  const relations = await readDictionary(database);
  database.close();
  const target = join(folder, 'x.xlsx');
  const run: Parameters<typeof writeWorkbook>[4] = {
    title: 'By <place>',
    query: 'SELECT name AS "Place", women AS "Women", men AS "Men" FROM places ORDER BY name',
    chart: ['Men', 'Women'],
    read: (sql, use) => runQuery(file, sql, use),
  };
  await writeWorkbook(
    (name, use) => runQuery(file, `FROM ${name}`, use),
    relations,
    [['Source', 'a test']],
    target,
    run,
  );
  expect(await readSheet(target, 1)).toEqual([
    ['By <place>', null, null],
    [null, null, null],
    ['Place', 'Women', 'Men'],
    ['A', null, 1.25],
    ['B & C', 3, 2.5],
    [null, null, null],
    ['Source', 'a test', null],
  ]);
  expect(await readSheet(target, 'About')).toHaveLength(7);
  const parts = Object.entries(unzipSync(await readFile(target))).map(
    ([name, bytes]) => [name, strFromU8(bytes)] as const,
  );
  const chart = Object.fromEntries(parts)['xl/charts/chart1.xml']!;
  const cells = [...chart.matchAll(/<c:f>(.*?)<\/c:f>/g)].map(([, reference]) => reference!.replace(/^.*!/, ''));
  expect(cells).toEqual(['$B$3:$B$3', '$A$4:$A$5', '$B$4:$B$5', '$C$3:$C$3', '$A$4:$A$5', '$C$4:$C$5']);
  expect(chart).not.toContain('<place>');
  const references = parts.filter(([, text]) => text.includes('chart1.xml') || text.includes('rId-chart-1'));
  expect(references.map(([name]) => name)).toEqual([
    '[Content_Types].xml',
    'xl/drawings/drawing1.xml',
    'xl/drawings/_rels/drawing1.xml.rels',
  ]);
});
