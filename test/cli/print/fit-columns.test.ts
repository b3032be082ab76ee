/** A table with too many columns keeps a name for each row and as many figures as fit. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderColumns, type TableColumn } from '../../../src/cli/print/fit-columns.ts';
import { shownWidth } from '../../../src/cli/print/wrap-text.ts';
import { holds } from '../../support/properties.ts';

const column = (head: string, kind: TableColumn['kind']): TableColumn => ({ head, kind, isNumber: kind === 'figure' });
const figures = ['users', 'voters', 'male', 'female', 'percent'];
const columns = [
  column('dapil_id', 'other'),
  column('province', 'name'),
  column('regency', 'name'),
  ...figures.map((head) => column(head, 'figure')),
];
const row = (province: string, regency: string): string[] => [
  '1101',
  province,
  regency,
  ...figures.map(() => '1234567'),
];
const rows = [
  row('NUSA TENGGARA TIMUR', 'SUMBA BARAT DAYA'),
  row('NUSA TENGGARA TIMUR', 'TIMOR TENGAH SELATAN'),
  row('NUSA TENGGARA BARAT', 'BIMA'),
];
const render = (width: number, shown = rows) => renderColumns(shown, columns, width);

describe('columns that do not fit', () => {
  it('hide redundant texts before figures', () => {
    expect(render(65)).toMatchObject({ hidden: ['dapil_id', 'province'] });
    expect(render(65).text).toContain('percent');
  });

  it('hide the last figures, but never the first one or the name', () => {
    expect(render(40).hidden).toEqual(['dapil_id', 'province', 'female', 'percent']);
    expect(render(24).text).toMatch(/^regency +users\n/);
  });

  it('shorten a name with an ellipsis to make room for a figure', () => {
    expect(render(22).text).toContain('TIMOR TENGAH…  1234567\n');
  });

  it('keep a text that distinguishes two rows', () => {
    const twice = [...rows, row('MALUKU', 'BIMA')];
    const { text, hidden } = render(70, twice);
    expect(hidden).toEqual(['dapil_id', 'percent']);
    expect(text).toContain('MALUKU');
  });

  it('hide a sentence first', () => {
    const sentences = rows.map(([, , name = ''], index) => [`${'long '.repeat(20)}${index}`, name, '7']);
    const shown = [column('message', 'name'), column('regency', 'name'), column('errors', 'figure')];
    expect(renderColumns(sentences, shown, 36).hidden).toEqual(['message']);
  });

  it('become blocks if a name and a figure do not fit', () => {
    expect(render(12).text).toMatch(/^dapil_id\n {2}1101\nprovince\n/);
  });

  holds(
    'leave a table within its width, with a name and a figure',
    fc.property(
      fc.array(fc.tuple(fc.stringMatching(/^[A-Z ]{1,30}$/), fc.stringMatching(/^[A-Z]{1,30}$/)), { minLength: 2 }),
      fc.integer({ min: 45, max: 130 }),
      (places, width) => {
        const { text, hidden } = render(
          width,
          places.map(([province, regency]) => row(province, regency)),
        );
        for (const line of text.split('\n')) expect(shownWidth(line)).toBeLessThanOrEqual(width);
        expect(hidden).not.toContain('users');
        expect(hidden.includes('province') && hidden.includes('regency')).toBe(false);
      },
    ),
    { runs: 60 },
  );
});
