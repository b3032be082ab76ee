/** A result table fits the terminal and has colors; in a file it is complete plain text. */

import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writePlainTable, writeTable } from '../../../src/cli/print/result-table.ts';
import { textOf, textResult } from '../../snapshots/query/support.ts';

const { isTTY, columns } = process.stdout;
const long = 'PANGKAJENE DAN KEPULAUAN';

// Stdout is a terminal that takes colours and is narrower than the table.
beforeEach(() => {
  Object.assign(process.stdout, { isTTY: true, columns: 24 });
  vi.stubEnv('FORCE_COLOR', '1');
});
afterEach(() => {
  Object.assign(process.stdout, { isTTY, columns });
  vi.unstubAllEnvs();
});

describe("a result's table", () => {
  const result = () => textResult(['regency', 'note'], [[[long, null]], [['ACEH', '\u001b[31mred']]]);

  it('is cut to the width of a terminal and has colors', async () => {
    const text = await textOf(result(), writeTable);
    expect(text).toContain('\u001b[1mregency');
    expect(text).not.toContain(long);
  });

  it('aligns decimals without adding digits', async () => {
    const values = [[78], [81.99], [null], [-0.5], [1e30]];
    const percent = {
      columns: [{ name: 'percent', type: 'DOUBLE' }],
      async *groups() {
        yield values;
      },
    };
    const [, ...lines] = (await textOf(percent, writePlainTable)).split('\n');
    expect(lines.slice(0, 5).map((line) => line.trimEnd())).toEqual([
      '  78',
      '  81.99',
      '   NULL',
      '  -0.5',
      '  1e+30',
    ]);
  });

  it('has neither colors nor a width in a file', async () => {
    expect((await textOf(result(), writePlainTable)).split('\n')).toEqual([
      'regency                   note',
      `${long}  NULL`,
      'ACEH                      \\u001b[31mred',
      '2 rows',
      '',
    ]);
  });

  it('shows the first 1,000 rows on a terminal, and says so', async () => {
    const many = textResult(['n'], [Array.from({ length: 1500 }, (_, n) => [`${n}`])]);
    let text = '';
    expect(await writeTable(many, async (piece) => void (text += piece))).toBe(1000);
    expect(stripVTControlCharacters(text)).toMatch(
      /999\s*\n1,500 rows; only the first 1,000 are shown. To see all, use --format csv.\n$/,
    );
  });

  it('is refused in a file if it is not complete', async () => {
    const many = textResult(['n'], [Array.from({ length: 1001 }, (_, n) => [`${n}`])]);
    let text = '';
    const written = writePlainTable(many, async (piece) => void (text += piece));
    await expect(written).rejects.toThrow('The result has 1,001 rows, but a table shows at most 1,000.');
    expect(text).toBe('');
  });
});
