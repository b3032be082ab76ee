/** Writes a query's result as a table: on a terminal in its colours and width, into a file as plain text. */

import { stripVTControlCharacters } from 'node:util';
import { renderTable } from './table.ts';
import { paint, printable } from './terminal.ts';
import { RekapError } from '../../errors.ts';
import { displayText, type QueryResult } from '../../query/query-result.ts';
import type { Write } from '../../query/write-result.ts';
import { countOf, formatNumber } from '../../runtime/text.ts';

/** A table is for reading; whoever needs more rows, or longer texts whole, needs another format. */
const mostRows = 1000;
const longestCell = 1000;

/** The first rows of a result for a terminal, and how many there are. Gives the number of rows that are shown. */
export function writeTable(result: QueryResult, write: Write): Promise<number> {
  return drawTable(result, write, {});
}

/**
 * The same for a file: nobody knows how wide it will be shown, no colour is wanted in it, and none of its rows may be missing.
 *
 * @throws `usage` where there are more rows than a table shows.
 */
export function writePlainTable(result: QueryResult, write: Write): Promise<number> {
  // Texts of the result hold no control characters any more; the only ones are those of our colours.
  const plain: Write = (text) => write(stripVTControlCharacters(text));
  return drawTable(result, plain, { width: Number.POSITIVE_INFINITY, isWhole: true });
}

interface Bounds {
  /** Columns of the terminal; its own where this is not given. */
  readonly width?: number;
  /** Whether all rows must be shown. */
  readonly isWhole?: boolean;
}

/** Sets decimals below each other: 78 and 81.99 end in different places, and 78.00 would say more than there is. */
function alignPoints(rows: string[][], column: number): void {
  /** Characters from the point on; null for what is no plain number. */
  const fraction = (cell: string): number | null => {
    const match = /^-?\d+(\.\d+)?$/.exec(cell);
    return match === null ? null : (match[1]?.length ?? 0);
  };
  const most = Math.max(0, ...rows.map((row) => fraction(row[column]!) ?? 0));
  for (const row of rows) {
    const cell = row[column]!;
    const own = fraction(cell);
    if (own !== null) row[column] = cell + ' '.repeat(most - own);
  }
}

async function drawTable(result: QueryResult, write: Write, { isWhole = false, ...bound }: Bounds): Promise<number> {
  const { columns } = result;
  const rows: string[][] = [];
  let total = 0;
  for await (const group of result.groups()) {
    total += group.length;
    for (const row of group.slice(0, mostRows - rows.length)) {
      rows.push(
        row.map((value) => (value === null ? paint('dim', 'NULL') : printable(displayText(value), longestCell))),
      );
    }
  }
  if (isWhole && total > rows.length)
    throw new RekapError(
      'usage',
      `The result has ${countOf(total, 'row')}, and a table shows ${formatNumber(mostRows)} at most.`,
      'Let the name after --out end in .csv, .json, .parquet or .arrow, or say so by --format.',
    );
  const right = columns.flatMap(({ type }, index) => (/INT|DOUBLE|FLOAT|DECIMAL/.test(type) ? [index] : []));
  const head = columns.map(({ name }) => printable(name, longestCell));
  for (const [index, { type }] of columns.entries()) if (/^(DOUBLE|FLOAT)$/.test(type)) alignPoints(rows, index);
  await write(`${renderTable(rows, { head, right, ...bound })}\n`);
  const counted = countOf(total, 'row');
  await write(
    paint(
      'dim',
      total > rows.length
        ? `${counted}, of which the first ${formatNumber(rows.length)} are shown; --format csv gives all\n`
        : `${counted}\n`,
    ),
  );
  return rows.length;
}
