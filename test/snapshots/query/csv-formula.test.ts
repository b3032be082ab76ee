/** Texts in CSV that a spreadsheet could run as formulas get an apostrophe, and nothing else changes. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResultValue } from '../../../src/snapshots/query/query-result.ts';
import { writeCsv } from '../../../src/snapshots/query/write-result.ts';
import { holds } from '../../support/properties.ts';
import { textOf, textResult } from './support.ts';

const csvOf = (values: readonly ResultValue[], name = 'name'): Promise<string> =>
  textOf(
    {
      ...textResult([name], []),
      groups: async function* () {
        yield values.map((value) => [value]);
      },
    },
    writeCsv,
  );

/** The text as the CSV of one cell has it, without quotes. */
async function cellOf(value: ResultValue): Promise<string> {
  const [, ...lines] = (await csvOf([value])).split('\n');
  const cell = lines.join('\n').slice(0, -1);
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

describe('a text', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['-5', "'-5"],
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
    ['\tACEH', "'\tACEH"],
    ['\nACEH', "'\nACEH"],
    ['  =1', "'  =1"],
    ['\u00a0\u200b\ufeff=1', "'\u00a0\u200b\ufeff=1"],
    ['＝1', "'＝1"],
    ['＠A', "'＠A"],
    ['ACEH;=1', "ACEH;'=1"],
    ['ACEH; "=1', `ACEH;' "=1`],
    ['ACEH\n=1', "ACEH\n'=1"],
    ['ACEH\r\n-1', "ACEH\r\n'-1"],
    ['ACEH\t@A', "ACEH\t'@A"],
  ])('writes %j as %j', async (text, cell) => {
    expect(await cellOf(text)).toBe(cell);
  });

  it.each(['PANGKAJENE - KEPULAUAN', 'a=b', "'=1", 'A; B', ' ACEH', '', '[-1]'])('keeps %j', async (text) => {
    expect(await cellOf(text)).toBe(text);
  });

  it('is also escaped in a list or in the name of a column', async () => {
    expect(await cellOf(['a;=1', '-2'])).toBe(`["a;'=1","-2"]`);
    expect((await csvOf([], '=1+1')).trim()).toBe("'=1+1");
  });

  const text = fc.string({
    unit: fc.constantFrom('=', '-', '＝', '"', ',', ';', '\t', '\n', '\r', ' ', "'", 'a', '\u200b'),
    maxLength: 12,
  });

  holds(
    'never starts a cell that would run, whichever separator a spreadsheet uses',
    fc.asyncProperty(text, async (value) => {
      const csv = await csvOf([value]);
      for (const separator of [/[;\n\r]/, /[\t\n\r]/]) {
        // With another separator, the quotes of CSV are part of the cells.
        for (const cell of csv.split(separator)) expect(cell.replace(/^["\s\u200b]+/, '')).not.toMatch(/^[=\-＝]/);
      }
    }),
    { runs: 60 },
  );

  // A quadratic search would run into the timeout.
  it('of any length is escaped in linear time', async () => {
    const long = `a${';\n '.repeat(1_000_000)}`;
    expect(await cellOf(`${long}=1`)).toHaveLength(long.length + 3);
    expect(await cellOf(long)).toBe(long);
  });
});

it('keeps numbers, also below zero', async () => {
  expect(await csvOf([-5, -5n, -0.25, true, null])).toBe('name\n-5\n-5\n-0.25\ntrue\n\n');
});
