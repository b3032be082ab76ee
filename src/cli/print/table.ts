/** Renders tables that fit the terminal: as columns, or as a block per row if the columns are too wide. */

import { stripVTControlCharacters } from 'node:util';
import { paint } from './terminal.ts';
import { breakText, cutToWidth, shownWidth, terminalColumns } from './wrap-text.ts';

type Rows = readonly (readonly string[])[];

export interface TableOptions {
  readonly head: readonly string[];
  /** Number columns: right-aligned and never cut. */
  readonly right?: readonly number[];
  /** Other columns that are never cut, such as IDs. */
  readonly whole?: readonly number[];
  /** Maximum width; by default that of the terminal, or no limit if stdout isn't one. */
  readonly width?: number;
}

const gap = 2;
const minColumnWidth = 8;
/** If less width remains beside a name, its text goes below the name. */
const minTextWidth = 20;

/**
 * Renders a table. Pass texts from outside through `printable` first.
 * If the table is too wide, cuts texts. Renders a block per row if that isn't enough, or if different texts would look the same.
 */
export function renderTable(rows: Rows, options: TableOptions): string {
  const { head, right = [], whole = [], width = terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY } = options;
  const widths = widthsOf(head, rows);
  // Names of columns stay whole.
  const least = head.map((name, index) =>
    right.includes(index) || whole.includes(index) ? widths[index]! : Math.max(minColumnWidth, shownWidth(name)),
  );
  const fitted = fitWidths(widths, least, width - gap * (head.length - 1));
  const cut = rows.map((row) => row.map((cell, index) => cutToWidth(cell, fitted?.[index] ?? 0)));
  const isAmbiguous = head.some((_, index) => countTexts(cut, index) < countTexts(rows, index));
  return fitted === null || isAmbiguous ? drawBlocks(rows, options, width) : drawColumns(cut, head, right);
}

function countTexts(rows: Rows, index: number): number {
  return new Set(rows.map((row) => row[index])).size;
}

function widthsOf(head: readonly string[], rows: Rows): number[] {
  return head.map((name, index) =>
    rows.reduce((most, row) => Math.max(most, shownWidth(row[index] ?? '')), shownWidth(name)),
  );
}

/** Reduces the widest column again and again until all fit in `room`. Returns null if they can't. */
function fitWidths(widths: readonly number[], least: readonly number[], room: number): number[] | null {
  const fitted = [...widths];
  for (let over = fitted.reduce((sum, width) => sum + width, 0) - room; over > 0; over -= 1) {
    const open = fitted.map((width, index) => (width > least[index]! ? width : 0));
    const widest = Math.max(...open);
    if (widest === 0) return null;
    fitted[open.indexOf(widest)]! -= 1;
  }
  return fitted;
}

function drawColumns(rows: Rows, head: readonly string[], right: readonly number[]): string {
  const widths = widthsOf(head, rows);
  return [head.map((name) => paint('bold', name)), ...rows]
    .map((row) =>
      widths
        .map((width, index) => {
          const cell = row[index] ?? '';
          const blank = ' '.repeat(width - shownWidth(cell));
          return right.includes(index) ? blank + cell : cell + blank;
        })
        .join(' '.repeat(gap))
        .trimEnd(),
    )
    .join('\n');
}

/** Renders each row as a block with one or more lines per column. Wraps texts, but never numbers and IDs. */
function drawBlocks(rows: Rows, { head, right = [], whole = [] }: TableOptions, width: number): string {
  const names = Math.max(...head.map(shownWidth));
  const isBeside = width - names - gap >= minTextWidth;
  const indent = isBeside ? names + gap : gap;
  const room = Math.max(minTextWidth, width) - indent;
  const drawCell = (name: string, cell: string, isWhole: boolean): string => {
    const text = isWhole || shownWidth(cell) <= room ? [cell] : breakText(stripVTControlCharacters(cell), room);
    const lines = text.map((line) => (' '.repeat(indent) + line).trimEnd());
    if (!isBeside) return [paint('bold', name), ...lines].join('\n');
    const [first = '', ...more] = lines;
    return [(paint('bold', name) + ' '.repeat(names - shownWidth(name)) + first.slice(names)).trimEnd(), ...more].join(
      '\n',
    );
  };
  const blocks = rows.map((row) =>
    head
      .map((name, index) => drawCell(name, row[index] ?? '', right.includes(index) || whole.includes(index)))
      .join('\n'),
  );
  return blocks.length === 0 ? head.map((name) => paint('bold', name)).join('\n') : blocks.join('\n\n');
}
