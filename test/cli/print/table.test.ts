/** Tables fit the terminal: texts are cut, numbers and ids never, and what still does not fit is turned or put line by line. */

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
  it('is as wide as it is where there is no terminal', () => {
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

  it('takes from the widest texts first', () => {
    expect(linesOf(110)[1]).toContain('PANGKAJENE DAN KEPULAUAN');
    expect(linesOf(80)[1]).not.toContain('PANGKAJENE DAN KEPULAUAN');
  });

  it('that cannot be cut enough becomes a block of lines per row', () => {
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
      '',
    ]);
  });

  it('in blocks breaks texts alone, below their names where there is little room beside', () => {
    const ids = ['20261120T030000Z-abcdef', '20261120T030000Z-abcdee'];
    const narrow = { head: ['snapshot', 'a_very_long_name_of_a_column', 'people'], right: [2], whole: [0], width: 30 };
    const [first, second] = ids.map((id) => [id, 'one two three four five six seven', '123456789']);
    expect(renderTable([first!, second!], narrow).split('\n').slice(0, 7)).toEqual([
      'snapshot',
      '  20261120T030000Z-abcdef',
      'a_very_long_name_of_a_column',
      '  one two three four five six',
      '  seven',
      'people',
      '  123456789',
    ]);
  });

  it('breaks the names of its columns before it cuts a text', () => {
    const places = [
      ['KALIMANTAN TENGAH', '1558848', '78.74'],
      ['KALIMANTAN TIMUR', '2253464', '78.58'],
    ];
    const shares = { head: ['province', 'users', 'users_per_dpt_and_dpk_pct'], right: [1, 2] };
    expect(renderTable(places, { ...shares, width: 44 }).split('\n')).toEqual([
      '                            users_per_dpt_',
      'province             users     and_dpk_pct',
      'KALIMANTAN TENGAH  1558848           78.74',
      'KALIMANTAN TIMUR   2253464           78.58',
    ]);
    expect(renderTable(places, { ...shares, width: 60 })).toMatch(/^province +users +users_per_dpt_and_dpk_pct\n/);
  });

  it('cuts no two texts of a column to the same: its rows become blocks, whole', () => {
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

  it('of figures is turned', () => {
    const figures = { head: ['dataset', 'partitions', 'records', 'quarantined'], right: [1, 2, 3], width: 35 };
    const table = [
      ['voters', '84', '514', '0'],
      ['users', '84', '1,514', '0'],
    ];
    expect(renderTable(table, figures).split('\n')).toEqual([
      'dataset      voters  users',
      'partitions       84     84',
      'records         514  1,514',
      'quarantined       0      0',
    ]);
    expect(renderTable([], figures)).toContain('quarantined');
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
    'hold what is cut to them',
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, width) => {
      const cut = cutToWidth(text, width);
      expect(shownWidth(cut)).toBeLessThanOrEqual(width);
      expect(cut === text || (cut.endsWith('…') && text.startsWith(cut.slice(0, -1)))).toBe(true);
    }),
    { runs: 300 },
  );
});

describe('a text from outside', () => {
  holds(
    'is printed without anything that steers a terminal or deceives its reader',
    fc.property(fc.string({ unit: fc.nat(0x10ffff).map((code) => String.fromCodePoint(code)) }), (text) => {
      expect(printable(`\u001b[2J\u009b\u202e\u{e0041}${text}`)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
    }),
    { runs: 300 },
  );

  it('is printed with all that steers made visible', () => {
    expect(printable('a\u001b[31m\nb\u202e\ud800\u{e0041}')).toBe('a\\u001b[31m⏎b\\u202e\\ud800\\u{e0041}');
  });

  it('is cut where it is very long, between characters', () => {
    expect(printable('x'.repeat(1e7)).length).toBeLessThan(3_000);
    expect(printable('ab😀', 3)).toBe('ab…');
    expect(printable('abc', 3)).toBe('abc');
  });
});
