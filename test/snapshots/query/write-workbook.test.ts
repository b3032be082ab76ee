/** A workbook has exact numbers as numbers, longer ones as text, and no text beyond the limit of a cell. */

import { join } from 'node:path';
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
