/** A reader by RFC 4180 and DuckDB's reader get from CSV what was written. */

import fc from 'fast-check';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Database, openDatabase, quoteText } from '../../../src/runtime/database.ts';
import { writeCsv } from '../../../src/snapshots/query/write-result.ts';
import { databaseOf, parseCsv, textOf, textResult } from './support.ts';
import { holds } from '../../support/properties.ts';

const { folder } = databaseOf();
let database: Database;
beforeAll(async () => void (database = await openDatabase(':memory:')));
afterAll(() => database.close());

type Cell = string | null;

const marks = ['"', '""', ',', '\n', '\r\n', ';', "'", '#', '\\N', 'NULL', ' ', 'a', '😀', '\ufeff', '1'];
/** What a spreadsheet may take for a formula, which is made harmless by apostrophes. */
const formulaMarks = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
const couldRun = (text: string): boolean => /^[\t\r\n]/.test(text) || formulaMarks.some((mark) => text.includes(mark));

const texts = fc.oneof(
  fc.array(fc.constantFrom(...marks), { maxLength: 6 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
);
const plainText = texts.filter((text) => !couldRun(text));
const anyText = fc
  .array(fc.oneof(texts, fc.constantFrom(...formulaMarks, '\t', ';')), { maxLength: 4 })
  .map((parts) => parts.join(''));

/** The names of some columns, and groups of rows of them. */
function resultsOf(text: fc.Arbitrary<string>, leastWidth: number) {
  return fc.integer({ min: leastWidth, max: 4 }).chain((width) => {
    const row = fc.array(fc.option(text, { freq: 3 }), { minLength: width, maxLength: width });
    const name = text.map((rest) => `n${rest}`);
    const names = fc.uniqueArray(name, { minLength: width, maxLength: width, selector: (each) => each.toLowerCase() });
    return fc.tuple(names, fc.array(fc.array(row, { maxLength: 4 }), { maxLength: 3 }));
  });
}

/** The header and the rows as DuckDB reads them, with everything said about the form so that nothing is guessed. */
async function readByDuckDb(csv: string): Promise<Cell[][]> {
  const file = join(folder, 'result.csv');
  await writeFile(file, csv);
  const form = String.raw`delim = ',', quote = '"', escape = '"', new_line = '\n', nullstr = '', allow_quoted_nulls = false`;
  const reader = await database.connection.runAndReadAll(
    `FROM read_csv(${quoteText(file)}, auto_detect = false, header = false, skip = 0, all_varchar = true, ${form}, columns = ${columnsOf(csv)})`,
  );
  return reader.getRowsJS() as Cell[][];
}

/** As many columns as the header has; it is read as a row like any other, so that its names come back too. */
function columnsOf(csv: string): string {
  return `{${parseCsv(csv)[0]!
    .map((_, index) => `'c${index}': 'VARCHAR'`)
    .join(', ')}}`;
}

describe('CSV', () => {
  holds(
    'keeps every text by RFC 4180 and for DuckDB, and distinguishes NULL from the empty text',
    // DuckDB skips empty lines, such as a row of one NULL, and doesn't read NUL.
    fc.asyncProperty(resultsOf(plainText, 1), async ([names, groups]) => {
      const csv = await textOf(textResult(names, groups), writeCsv);
      const rows = [names, ...groups.flat()];
      expect(parseCsv(csv)).toEqual(rows);
      if (names.length > 1 && !csv.includes('\0')) expect(await readByDuckDb(csv)).toEqual(rows);
    }),
    { runs: 100 },
  );

  holds(
    'keeps any text, apart from apostrophes before possible formulas',
    fc.asyncProperty(resultsOf(anyText, 1), async ([names, groups]) => {
      const read = parseCsv(await textOf(textResult(names, groups), writeCsv));
      const bare = (row: readonly Cell[]): Cell[] => row.map((cell) => cell?.replaceAll("'", '') ?? null);
      expect(read.map(bare)).toEqual([names, ...groups.flat()].map(bare));
    }),
    { runs: 100 },
  );
});
