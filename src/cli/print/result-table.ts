/** Writes a query's result as a table: on a terminal in its colours and width, into a file as plain text. */

import { stripVTControlCharacters } from 'node:util';
import { constantColumns, renderBlocks, renderColumns, type TableColumn } from './fit-columns.ts';
import { widthOf, wrap } from './wrap-text.ts';
import { paint, printable } from './terminal.ts';
import { RekapError } from '../../errors.ts';
import { displayText, type QueryResult, type ResultColumn } from '../../snapshots/query/query-result.ts';
import type { Write } from '../../snapshots/query/write-result.ts';
import { countOf, formatNumber } from '../../runtime/text.ts';

/** A table is for reading; whoever needs more rows, or longer texts whole, needs another format. */
const mostRows = 1000;
const longestCell = 1000;

/** How a person sees what a table leaves out: every column of a row, and every row. */
export interface Ways {
  readonly lines: string;
  readonly all: string;
}

const waysOfQuery: Ways = { lines: '--layout blocks', all: '--format csv' };

/** The first rows of a result for a terminal, and how many there are. Gives the number of rows that are shown. */
export function writeTable(
  layout: TableLayout,
  ways = waysOfQuery,
): (result: QueryResult, write: Write) => Promise<number> {
  return (result, write) => drawTable(result, write, { layout, ways });
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

/** Rows below each other, or a block for each row. */
export type TableLayout = 'columns' | 'blocks';

interface Bounds {
  /** Columns of the terminal; its own where this is not given. */
  readonly width?: number;
  /** Whether all rows must be shown. */
  readonly isWhole?: boolean;
  readonly layout?: TableLayout;
  readonly ways?: Ways;
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

/** Numbers by which something is known, rather than counted. */
const idName = /(^|_)(id|year|key|code)$/i;

const numberType = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL\([\d,]+\))$/;

/** A fraction with more than four decimals, rounded to four; one that would become 0 stays as it is. */
function roundFraction(cell: string): string {
  if (!/^-?\d{1,12}\.\d{5,}$/.test(cell)) return cell;
  const rounded = Number(cell).toFixed(4);
  return Number(rounded) === 0 ? cell : rounded;
}

/** Describes how a table shows a column of a result. */
function describeColumn({ name, type }: ResultColumn): TableColumn {
  const isNumber = numberType.test(type);
  const kind = isNumber && !idName.test(name) ? 'figure' : type === 'VARCHAR' ? 'name' : 'other';
  return { head: printable(name, longestCell), isNumber, kind };
}

/** 204,807,222 for a person at a terminal; ids and years stay as they are. */
function groupDigits(rows: string[][], columns: readonly ResultColumn[]): void {
  for (const [index, { name, type }] of columns.entries()) {
    if (!/INT/.test(type) || idName.test(name)) continue;
    const cells = rows.map((row) => row[index]!).filter((cell) => /^-?\d{1,15}$/.test(cell));
    if (cells.every((cell) => /^(19|20)\d\d$/.test(cell))) continue;
    for (const row of rows) if (/^-?\d{1,15}$/.test(row[index]!)) row[index] = formatNumber(Number(row[index]));
  }
}

async function drawTable(
  result: QueryResult,
  write: Write,
  { isWhole = false, layout = 'columns', ways = waysOfQuery, width }: Bounds,
): Promise<number> {
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
      `The result has ${countOf(total, 'row')}, but a table shows at most ${formatNumber(mostRows)}.`,
      'Use a file with the extension .csv, .json, .parquet or .arrow, or choose the format with --format.',
    );
  for (const [index, { type }] of columns.entries()) {
    if (!/^(DOUBLE|FLOAT)$/.test(type)) continue;
    for (const row of rows) row[index] = roundFraction(row[index]!);
    alignPoints(rows, index);
  }
  if (layout === 'columns' && !isWhole && process.stdout.isTTY) groupDigits(rows, columns);
  const described = columns.map(describeColumn);
  const note = (text: string): Promise<void> =>
    write(
      `${wrap(text, widthOf(process.stdout))
        .map((line) => paint('dim', line))
        .join('\n')}\n`,
    );
  const constant = layout === 'blocks' ? [] : constantColumns(rows, described, width);
  if (constant.length > 0)
    await note(constant.map((index) => `${described[index]!.head} ${rows[0]![index]}`).join(', '));
  const varies = (_: unknown, index: number): boolean => !constant.includes(index);
  const varying = rows.map((row) => row.filter(varies));
  if (layout === 'blocks') await write(`${renderBlocks(varying, described, width)}\n`);
  else {
    const { text, hidden } = renderColumns(varying, described.filter(varies), width);
    await write(`${text}\n`);
    if (hidden.length > 0)
      await note(
        `${countOf(hidden.length, 'column')} hidden: ${hidden.join(', ')}. To see them, select fewer columns, or use ${ways.lines} or ${ways.all}.`,
      );
  }
  const counted = countOf(total, 'row');
  await write(
    paint(
      'dim',
      total > rows.length
        ? `${counted}; only the first ${formatNumber(rows.length)} are shown. To see all, use ${ways.all}.\n`
        : `${counted}\n`,
    ),
  );
  return rows.length;
}
