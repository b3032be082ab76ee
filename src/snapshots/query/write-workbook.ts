/** Writes tables as an Excel workbook, with a first sheet that explains them. */

import type { ReaderSheet } from '../../project/declaration.ts';
import type { Relation } from '../../warehouse/read-dictionary.ts';
import { RekapError } from '../../errors.ts';
import { displayText, plainValue, type QueryResult, type ResultValue } from './query-result.ts';
import { formatNumber } from '../../runtime/text.ts';
import { chartFeature, type WorkbookFeature } from './workbook-chart.ts';

const maxRows = 1_048_575;
const maxCharacters = 32_767;
/** Excel keeps 15 digits of a number. */
const maxExact = 999_999_999_999_999;

type Cell = { value: string | number | boolean; fontWeight?: 'bold'; format?: string; wrap?: boolean } | null;

interface Sheet {
  readonly sheet: string;
  readonly data: Cell[][];
  readonly columns: { width: number }[];
  readonly stickyRowsCount?: number;
  readonly orientation?: 'landscape';
}

/** Reads a table by its name, or the result of a query by its SQL. */
export type ReadTable = <Value>(name: string, use: (result: QueryResult) => Promise<Value>) => Promise<Value>;

type About = readonly (readonly [string, string | number])[];

/** @param readers The sheet to begin with, or undefined. */
export async function writeWorkbook(
  read: ReadTable,
  relations: readonly Relation[],
  about: About,
  target: string,
  readers?: ReaderSheet & { readonly read: ReadTable },
): Promise<void> {
  const { default: writeExcelFile } = await import('write-excel-file/node');
  const sheets: Sheet[] = [aboutSheet(relations, about)];
  const features: WorkbookFeature[] = [];
  if (readers !== undefined) {
    const { title, query, chart } = readers;
    const sheet = await readers.read(query, (result) => readSheet(title, result));
    const [names = []] = sheet.data;
    const columns = names.flatMap((cell, index) => (chart.includes(String(cell?.value)) ? [index] : []));
    const head = 3;
    const place = { sheet: title, head, rows: sheet.data.length - 1, columns, beside: names.length + 1 };
    features.push(chartFeature(place));
    // This sheet may be passed on without the others.
    const data = [[bold(title)], [], ...sheet.data, [], ...originRows(about)];
    sheets.unshift({ ...sheet, data, stickyRowsCount: head, orientation: 'landscape' });
  }
  for (const relation of relations)
    sheets.push(await read(relation.name, (result) => readSheet(relation.name, result)));
  await writeExcelFile(sheets, { features }).toFile(target);
}

/** Writes the result of a query as a workbook, with a second sheet about it. Returns the number of rows. */
export async function writeResultWorkbook(result: QueryResult, about: About, target: string): Promise<number> {
  const { default: writeExcelFile } = await import('write-excel-file/node');
  const sheet = await readSheet('Result', result);
  await writeExcelFile([sheet, aboutSheet([], about)]).toFile(target);
  return sheet.data.length - 1;
}

/** The library counts strings in a plain object, which fails for "constructor". A NUL avoids this, and is dropped in XML. */
const text = (value: string) => ({ value: value in Object.prototype ? `${value}\0` : value });

const bold = (value: string): Cell => ({ ...text(value), fontWeight: 'bold' });

function originRows(about: About): Cell[][] {
  return about.map(([name, value]) => [bold(name), typeof value === 'string' ? text(value) : { value }]);
}

function aboutSheet(relations: readonly Relation[], about: About) {
  const data: Cell[][] = [
    ...originRows(about),
    ...(relations.length === 0
      ? []
      : [[], [bold('Sheet'), bold('Column'), bold('Meaning'), bold('Unit'), bold('Source field')]]),
    ...relations.flatMap(({ name, meaning, columns }) => [
      [bold(name), null, text(meaning)],
      ...columns.map((column): Cell[] =>
        [name, column.name, column.meaning, column.unit, column.field ?? ''].map(text),
      ),
    ]),
  ];
  return { sheet: 'About', data, columns: [24, 30, 90, 12, 50].map((width) => ({ width })) };
}

async function readSheet(name: string, result: QueryResult) {
  const { columns } = result;
  const data: Cell[][] = [columns.map((column) => bold(column.name))];
  const widths = columns.map((column) => column.name.length);
  for await (const group of result.groups())
    for (const row of group) {
      if (data.length > maxRows) {
        const what = `${name} has more than ${formatNumber(maxRows)} rows, the maximum of a sheet.`;
        const next = 'Use --format csv or parquet, or select some of the rows with "rekap query".';
        throw new RekapError('query', what, next);
      }
      const cells = row.map((value, index) => toCell(value, columns[index]!.name));
      for (const [index, cell] of cells.entries()) widths[index] = Math.max(widths[index]!, shownLength(cell));
      data.push(cells);
    }
  return {
    sheet: name,
    data,
    stickyRowsCount: 1,
    columns: widths.map((width) => ({ width: Math.min(60, width + 2) })),
  };
}

/** Numbers are shown with separators, and with two decimals if they have any. */
function shownLength(cell: Cell): number {
  if (typeof cell?.value !== 'number') return String(cell?.value ?? '').length;
  return formatNumber(Math.trunc(cell.value)).length + (Number.isInteger(cell.value) ? 0 : 3);
}

function toCell(value: ResultValue, column: string): Cell {
  const plain = plainValue(value);
  if (plain === null) return null;
  if (typeof plain === 'boolean') return { value: plain };
  const number = typeof plain === 'bigint' || typeof plain === 'number' ? Number(plain) : Number.NaN;
  if (Number.isFinite(number) && Math.abs(number) <= maxExact) {
    const isName = /(^|_)(id|year|key)$/.test(column);
    return { value: number, format: isName ? '0' : Number.isInteger(number) ? '#,##0' : '#,##0.00' };
  }
  return text(displayText(value).slice(0, maxCharacters));
}
