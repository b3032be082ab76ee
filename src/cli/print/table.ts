/** Renders tables that fit the terminal: as columns, or as a block per row if they are too wide. */

import { stripVTControlCharacters } from 'node:util';
import { paint } from './terminal.ts';
import { shownWidth, terminalColumns, wrap } from './wrap-text.ts';

type Rows = readonly (readonly string[])[];

interface TableOptions {
  readonly head: readonly string[];
  /** Columns of numbers, which are aligned on the right. */
  readonly right?: readonly number[];
  /** Maximum width; by default that of the terminal, or no limit if stdout isn't one. */
  readonly width?: number;
}

const gap = 2;
/** If less width remains beside a name, its text goes below the name. */
const minTextWidth = 20;

/** Renders a table, or a block per row if the table is too wide. Pass texts from outside through `printable` first. */
export function renderTable(rows: Rows, { head, right = [], width: given }: TableOptions): string {
  const width = given ?? terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY;
  const lines = [head, ...rows];
  const widths = head.map((_, index) => lines.reduce((most, row) => Math.max(most, shownWidth(row[index] ?? '')), 0));
  const needed = widths.reduce((sum, own) => sum + own + gap, -gap);
  return needed <= width ? drawColumns(rows, head, right, widths) : drawBlocks(rows, head, width);
}

function drawColumns(rows: Rows, head: readonly string[], right: readonly number[], widths: readonly number[]): string {
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

/** Renders each row as a block with one or more lines per column. Only texts with spaces are wrapped. */
function drawBlocks(rows: Rows, head: readonly string[], width: number): string {
  const names = Math.max(...head.map(shownWidth));
  const isBeside = width - names - gap >= minTextWidth;
  const indent = ' '.repeat(isBeside ? names + gap : gap);
  const room = Math.max(minTextWidth, width) - indent.length;
  const drawCell = (name: string, cell: string): string => {
    const text = shownWidth(cell) <= room ? [cell] : wrap(stripVTControlCharacters(cell), room);
    const label = paint('bold', name);
    if (!isBeside) return [label, ...text.map((line) => (indent + line).trimEnd())].join('\n');
    const [first = '', ...more] = text;
    const blank = ' '.repeat(indent.length - shownWidth(name));
    return [(label + blank + first).trimEnd(), ...more.map((line) => (indent + line).trimEnd())].join('\n');
  };
  const blocks = rows.map((row) => head.map((name, index) => drawCell(name, row[index] ?? '')).join('\n'));
  return blocks.length === 0 ? head.map((name) => paint('bold', name)).join('\n') : blocks.join('\n\n');
}
