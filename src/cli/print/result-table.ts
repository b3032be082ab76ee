/** Writes the result of a query as a table, to a terminal or a file. */

import { usageError } from '../options/usage-error.ts';
import { stripVTControlCharacters } from 'node:util';
import { renderTable } from './table.ts';
import { paint, printable } from './terminal.ts';
import { displayText, type QueryResult, type ResultColumn } from '../../snapshots/query/query-result.ts';
import type { Write } from '../../snapshots/query/write-result.ts';
import { countOf, formatNumber } from '../../runtime/text.ts';

const maxRows = 1000;
const maxCellLength = 1000;

/** Writes all rows to a file. @throws `usage` if there are more rows than a table shows. */
export function writePlainTable(result: QueryResult, write: Write): Promise<number> {
  // Cells are escaped already, so the only control characters are rekap's colors.
  const plain: Write = (text) => write(stripVTControlCharacters(text));
  return writeTable(result, plain, true);
}

/** Aligns decimal points with spaces, because added zeros would suggest a higher precision. */
function alignPoints(rows: string[][], column: number): void {
  /** Returns the length from the decimal point on; null if the cell isn't a plain number. */
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

/** Matches columns whose numbers identify something, which are not figures. */
const idName = /(^|_)(id|year|key|code)$/i;

const numberType = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL\([\d,]+\))$/;

/** Rounds to four decimals, unless that would give 0. */
function roundFraction(cell: string): string {
  if (!/^-?\d{1,12}\.\d{5,}$/.test(cell)) return cell;
  const rounded = Number(cell).toFixed(4);
  return Number(rounded) === 0 ? cell : rounded;
}

/** Adds thousands separators, except to IDs and years. */
function groupDigits(rows: string[][], columns: readonly ResultColumn[]): void {
  for (const [index, { name, type }] of columns.entries()) {
    if (!/INT/.test(type) || idName.test(name)) continue;
    const cells = rows.map((row) => row[index]!).filter((cell) => /^-?\d{1,15}$/.test(cell));
    if (cells.every((cell) => /^(19|20)\d\d$/.test(cell))) continue;
    for (const row of rows) if (/^-?\d{1,15}$/.test(row[index]!)) row[index] = formatNumber(Number(row[index]));
  }
}

/** Writes the first rows and the total. Returns the number of rows shown. */
export async function writeTable(result: QueryResult, write: Write, isWhole = false): Promise<number> {
  const { columns } = result;
  const rows: string[][] = [];
  let total = 0;
  for await (const group of result.groups()) {
    total += group.length;
    for (const row of group.slice(0, maxRows - rows.length)) {
      rows.push(
        row.map((value) => (value === null ? paint('dim', 'NULL') : printable(displayText(value), maxCellLength))),
      );
    }
  }
  if (isWhole && total > rows.length)
    throw usageError(
      `The result has ${countOf(total, 'row')}, but a table shows at most ${formatNumber(maxRows)}.`,
      'Use a file with the extension .csv, .json or .parquet, or choose the format with --format.',
    );
  for (const [index, { type }] of columns.entries()) {
    if (!/^(DOUBLE|FLOAT)$/.test(type)) continue;
    for (const row of rows) row[index] = roundFraction(row[index]!);
    alignPoints(rows, index);
  }
  if (!isWhole && process.stdout.isTTY) groupDigits(rows, columns);
  const head = columns.map(({ name }) => printable(name, maxCellLength));
  const right = columns.flatMap(({ type }, index) => (numberType.test(type) ? [index] : []));
  await write(`${renderTable(rows, { head, right, ...(isWhole && { width: Number.POSITIVE_INFINITY }) })}\n`);
  const only = `; only the first ${formatNumber(rows.length)} are shown. To see all, use --format csv.`;
  await write(paint('dim', `${countOf(total, 'row')}${total > rows.length ? only : ''}\n`));
  return rows.length;
}
