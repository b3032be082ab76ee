/** Tables for a terminal: thin, with columns that fit what they hold and the terminal that shows them. */

import CliTable from 'cli-table3';
import { stripVTControlCharacters } from 'node:util';
import { breakName, cutToWidth, displayWidth, fitWidths, shownWidth } from './fit-table.ts';
import { paint } from './terminal.ts';
import { breakText, terminalColumns } from './wrap-text.ts';

export interface TableOptions {
  readonly head: readonly string[];
  /** Columns that hold numbers: set flush right, and never cut. */
  readonly right?: readonly number[];
  /** Other columns that are of use only whole, such as ids. */
  readonly whole?: readonly number[];
  /** Columns of the terminal; without one, that of stdout, and no bound where it is none. */
  readonly width?: number;
}

/** Between two columns. */
const gap = 2;

/**
 * A table; cells are printed as they are, so texts from outside go through `printable` first. Where it is wider than the terminal, the
 * names of its columns are broken and its texts cut, as long as those that differ still do: a figure must not be read for another place's.
 * Else it is turned, or each row becomes a block.
 */
export function renderTable(rows: readonly (readonly string[])[], options: TableOptions): string {
  const { head, right = [], width = terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY } = options;
  const room = width - gap * (head.length - 1);
  const cells = head.map((_, index) => Math.max(0, ...rows.map((row) => shownWidth(row[index] ?? ''))));
  const widths = head.map((name, index) => Math.max(displayWidth(name), cells[index]!));
  if (widths.reduce((sum, wide) => sum + wide, 0) <= room) return draw(rows, head, right);
  return cutTable(rows, options, cells, room) ?? turn(rows, options, width) ?? writeBlocks(rows, options, width);
}

/** The table with texts cut to the room there is; null where that is too little, or two texts of a column would look the same. */
function cutTable(
  rows: readonly (readonly string[])[],
  { head, right = [], whole = [] }: TableOptions,
  cells: readonly number[],
  room: number,
): string | null {
  const fitted = fitWidths(
    head.map((name, index) => Math.max(cells[index]!, ...breakName(name, 0).map(displayWidth))),
    head.map((_, index) => !right.includes(index) && !whole.includes(index)),
    room,
  );
  if (fitted === null) return null;
  const cut = rows.map((row) => row.map((cell, index) => cutCell(cell, fitted[index]!)));
  const differing = (table: readonly (readonly string[])[], index: number) =>
    new Set(table.map((row) => row[index])).size;
  if (head.some((_, index) => differing(cut, index) < differing(rows, index))) return null;
  return draw(cut, breakNames(head, fitted, room), right);
}

/** Names of columns in as few lines as the room lets be, each right above its column. */
function breakNames(head: readonly string[], fitted: readonly number[], room: number): string[] {
  const widths = [...fitted];
  const broken = head.map((name, index) => breakName(name, widths[index]!));
  for (let spare = room - widths.reduce((sum, wide) => sum + wide, 0); spare > 0; spare -= 1) {
    const most = Math.max(...broken.map(({ length }) => length));
    if (most === 1) break;
    const index = broken.findIndex(({ length }) => length === most);
    widths[index]! += 1;
    broken[index] = breakName(head[index]!, widths[index]!);
  }
  const most = Math.max(...broken.map(({ length }) => length));
  return broken.map((lines, index) =>
    [...Array<string>(most - lines.length).fill(''), ...lines.map((line) => cutCell(line, widths[index]!))].join('\n'),
  );
}

/** A cell that is too wide loses its colours too. */
function cutCell(cell: string, width: number): string {
  const plain = stripVTControlCharacters(cell);
  return displayWidth(plain) <= width ? cell : cutToWidth(plain, width);
}

/** A table of figures with a name in front, its rows as columns; null where it is none, or still too wide. */
function turn(rows: readonly (readonly string[])[], { head, right = [] }: TableOptions, width: number): string | null {
  if (rows.length === 0 || right.length < head.length - 1 || right.includes(0)) return null;
  const [corner = '', ...names] = head;
  const turned = names.map((name, index) => [name, ...rows.map((row) => row[index + 1] ?? '')]);
  const turnedHead = [corner, ...rows.map(([name = '']) => name)];
  const drawn = draw(
    turned,
    turnedHead,
    rows.map((_, index) => index + 1),
  );
  return drawn.split('\n').every((line) => shownWidth(line) <= width) ? drawn : null;
}

/** In less room than this a text is set below its name. */
const leastBeside = 20;

/** Each row by itself, a line or more per column. Texts are broken, numbers and ids never. */
function writeBlocks(
  rows: readonly (readonly string[])[],
  { head, right = [], whole = [] }: TableOptions,
  width: number,
): string {
  const names = Math.max(...head.map(displayWidth));
  const isBeside = width - names - gap >= leastBeside;
  const indent = isBeside ? names + gap : gap;
  const room = Math.max(leastBeside, width) - indent;
  const linesOf = (cell: string, index: number): string[] =>
    shownWidth(cell) <= room || right.includes(index) || whole.includes(index)
      ? [cell]
      : breakText(stripVTControlCharacters(cell), room);
  const blocks = rows.map((row) =>
    head
      .map((name, index) => {
        const lines = linesOf(row[index] ?? '', index).map((line) => ' '.repeat(indent) + line);
        const padded = paint('bold', name) + ' '.repeat(names - displayWidth(name));
        return isBeside
          ? [padded + lines[0]!.slice(names), ...lines.slice(1)].map((line) => line.trimEnd()).join('\n')
          : [paint('bold', name), ...lines].join('\n');
      })
      .join('\n'),
  );
  return blocks.length === 0 ? head.map((name) => paint('bold', name)).join('\n') : `${blocks.join('\n\n')}\n`;
}

function draw(rows: readonly (readonly string[])[], head: readonly string[], right: readonly number[]): string {
  const table = new CliTable({
    head: head.map((name) =>
      name
        .split('\n')
        .map((line) => (line === '' ? '' : paint('bold', line)))
        .join('\n'),
    ),
    colAligns: head.map((_, index) => (right.includes(index) ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': gap },
    chars: {
      top: '',
      'top-mid': '',
      'top-left': '',
      'top-right': '',
      bottom: '',
      'bottom-mid': '',
      'bottom-left': '',
      'bottom-right': '',
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: '',
    },
  });
  table.push(...rows.map((row) => [...row]));
  const lines = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  return [lines[0], ...lines.slice(1).filter((line) => line !== '')].join('\n');
}
