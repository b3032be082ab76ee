/** Tables fit the terminal: texts are cut, but numbers and ids aren't. Otherwise a table is printed in blocks. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToWidth, shownWidth } from '../../../src/cli/print/wrap-text.ts';
import { renderTable } from '../../../src/cli/print/table.ts';
import { printable } from '../../../src/cli/print/terminal.ts';
import { holds } from '../../support/properties.ts';

const head = ['id', 'regency', 'message', 'people'];
const rows = [
  ['20261120T030000Z-abcdef', 'PANGKAJENE DAN KEPULAUAN', `${'long '.repeat(40)}end`, '1,234,567,890'],
  ['20261120T030000Z-abcdee', 'ACEH', 'short', '1'],
];
const shape = { head, right: [3], whole: [0] };
const linesOf = (width?: number): string[] =>
  renderTable(rows, width === undefined ? shape : { ...shape, width }).split('\n');

describe('a table', () => {
  it('is not cut without a terminal', () => {
    expect(linesOf()[1]).toContain('long long end');
    expect(linesOf(1000)).toEqual(linesOf());
  });

  it.each([60, 70, 80, 100, 200])('fits %i columns, with ids and numbers whole', (width) => {
    const lines = linesOf(width);
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(shownWidth(line)).toBeLessThanOrEqual(width);
    expect(lines[1]).toMatch(/^20261120T030000Z-abcdef .*….* 1,234,567,890$/);
    expect(lines[2]).toMatch(/short/);
  });

  it('is printed as one block per row if it cannot be cut enough', () => {
    expect(linesOf(40)).toEqual([
      'id       20261120T030000Z-abcdef',
      'regency  PANGKAJENE DAN KEPULAUAN',
      'message  long long long long long long',
      ...Array.from({ length: 5 }, () => '         long long long long long long'),
      '         long long long long end',
      'people   1,234,567,890',
      '',
      'id       20261120T030000Z-abcdee',
      'regency  ACEH',
      'message  short',
      'people   1',
    ]);
  });

  it('is printed in blocks if two texts of a column would be cut to the same text', () => {
    const tengah = ['KALIMANTAN TENGAH', 'x'.repeat(40), '1'];
    const shares = { head: ['province', 'text', 'users'], right: [2], width: 30 };
    expect(
      renderTable([tengah, ['KALIMANTAN TIMUR', 'y'.repeat(60), '2']], shares)
        .split('\n')
        .slice(0, 4),
    ).toEqual([
      'province  KALIMANTAN TENGAH',
      `text      ${'x'.repeat(20)}`,
      `          ${'x'.repeat(20)}`,
      'users     1',
    ]);
    expect(renderTable([tengah, ['SULAWESI TENGGARA', 'z', '2']], shares)).toMatch(/\nKALIMA.*… .*x…/);
  });
});

describe('widths', () => {
  it.each([
    ['KOTA', 4],
    ['漢字', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['😀', 2],
    ['', 0],
  ])('of %j are what a terminal shows', (text, width) => {
    expect(shownWidth(text)).toBe(width);
  });

  holds(
    'limit what is cut to them',
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, width) => {
      const cut = cutToWidth(text, width);
      expect(shownWidth(cut)).toBeLessThanOrEqual(width);
      expect(cut === text || (cut.endsWith('…') && text.startsWith(cut.slice(0, -1)))).toBe(true);
    }),
    { runs: 100 },
  );
});

it('cuts a very long text between characters', () => {
  expect(printable('x'.repeat(1e7)).length).toBeLessThan(3_000);
  expect(printable('ab😀', 3)).toBe('ab…');
  expect(printable('abc', 3)).toBe('abc');
});
