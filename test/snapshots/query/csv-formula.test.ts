/** No spreadsheet runs what a source wrote: texts in CSV that look like formulas get an apostrophe, and nothing else changes. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QueryResult, ResultValue } from '../../../src/snapshots/query/query-result.ts';
import { writeCsv } from '../../../src/snapshots/query/write-result.ts';
import { holds } from '../../support/properties.ts';

async function csvOf(values: readonly ResultValue[], name = 'name'): Promise<string> {
  const result: QueryResult = {
    columns: [{ name, type: 'VARCHAR' }],
    groups: async function* () {
      yield values.map((value) => [value]);
    },
  };
  let text = '';
  await writeCsv(result, async (piece) => void (text += piece));
  return text;
}

/** The text as the CSV of one cell has it, without quotes. */
async function cellOf(value: ResultValue): Promise<string> {
  const [, ...lines] = (await csvOf([value])).split('\n');
  const cell = lines.join('\n').slice(0, -1);
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

describe('a text', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+62', "'+62"],
    ['-5', "'-5"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
    ['\tACEH', "'\tACEH"],
    ['\rACEH', "'\rACEH"],
    ['\nACEH', "'\nACEH"],
    ['  =1', "'  =1"],
    ['\u00a0\u200b\ufeff=1', "'\u00a0\u200b\ufeff=1"],
    ['\0=1', "'\0=1"],
    ['＝1', "'＝1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠A', "'＠A"],
    ['ACEH;=1', "ACEH;'=1"],
    ['ACEH; "=1', `ACEH;' "=1`],
    ['ACEH\n=1', "ACEH\n'=1"],
    ['ACEH\r\n-1', "ACEH\r\n'-1"],
    ['ACEH\t@A', "ACEH\t'@A"],
  ])('%j becomes %j', async (text, cell) => {
    expect(await cellOf(text)).toBe(cell);
  });

  it.each(['ACEH', 'PANGKAJENE - KEPULAUAN', 'a=b', 'x@y', "'=1", 'A; B', '1-2', ' ACEH', '', '[-1]'])(
    '%j stays',
    async (text) => {
      expect(await cellOf(text)).toBe(text);
    },
  );

  it('in a list or in the name of a column is looked at too', async () => {
    expect(await cellOf(['a;=1', '-2'])).toBe(`["a;'=1","-2"]`);
    expect((await csvOf([], '=1+1')).trim()).toBe("'=1+1");
  });

  const text = fc.string({
    unit: fc.constantFrom('=', '-', '＝', '"', ',', ';', '\t', '\n', '\r', ' ', "'", 'a', '\u200b'),
    maxLength: 12,
  });

  holds(
    'never begins a cell that would run, wherever a spreadsheet separates',
    fc.asyncProperty(text, async (value) => {
      const csv = await csvOf([value]);
      for (const separator of [/[;\n\r]/, /[\t\n\r]/]) {
        // Separated there, our quotes are part of the cells; the first of two is taken for one that opens.
        for (const cell of csv.split(separator)) expect(cell.replace(/^["\s\u200b]+/, '')).not.toMatch(/^[=\-＝]/);
      }
    }),
    { runs: 100 },
  );

  it('of any length takes time in proportion', async () => {
    const long = `a${';\n '.repeat(1_000_000)}`;
    expect(await cellOf(`${long}=1`)).toHaveLength(long.length + 3);
    expect(await cellOf(long)).toBe(long);
  });
});

it('a number stays one, below zero too', async () => {
  expect(await csvOf([-5, -5n, -0.25, true, null])).toBe('name\n-5\n-5\n-0.25\ntrue\n\n');
});
