/** A table that is wider than the terminal is printed in blocks, and nothing is cut. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToWidth, shownWidth } from '../../../src/cli/print/wrap-text.ts';
import { renderTable } from '../../../src/cli/print/table.ts';
import { printable } from '../../../src/cli/print/terminal.ts';
import { holds } from '../../support/properties.ts';

const rows = [
  ['PANGKAJENE DAN KEPULAUAN', `${'long '.repeat(9)}end`, '1,234,567,890'],
  ['ACEH', 'x'.repeat(40), '1'],
];
const shape = { head: ['regency', 'message', 'people'], right: [2] };

describe('a table', () => {
  it('has a line per row if it fits', () => {
    const lines = renderTable(rows, { ...shape, width: 100 }).split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^PANGKAJENE DAN KEPULAUAN {2}(long ){9}end {2}1,234,567,890$/);
    expect(renderTable(rows, shape)).toBe(lines.join('\n'));
  });

  it('has a block per row otherwise', () => {
    expect(renderTable(rows, { ...shape, width: 40 }).split('\n')).toEqual([
      'regency  PANGKAJENE DAN KEPULAUAN',
      'message  long long long long long long',
      '         long long long end',
      'people   1,234,567,890',
      '',
      'regency  ACEH',
      `message  ${'x'.repeat(40)}`,
      'people   1',
    ]);
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
