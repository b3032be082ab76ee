/** Tables for a terminal: thin, with columns that fit what they hold and the terminal that shows them. */

import { stripVTControlCharacters } from 'node:util';
import CliTable from 'cli-table3';
import { cutToWidth, displayWidth, fitWidths, shownWidth } from './fit-table.ts';
import { paint } from './terminal.ts';

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
 * A table with thin rules; cells are printed as they are, so texts from outside go through `printable` first. Where it is
 * wider than the terminal its texts are cut; where numbers alone are too wide it is turned, or each row becomes a block.
 */
export function renderTable(rows: readonly (readonly string[])[], options: TableOptions): string {
  const { head, right = [], whole = [], width = terminalWidth() } = options;
  if (width === Number.POSITIVE_INFINITY) return draw(rows, head, right);
  const widths = head.map((name, index) =>
    Math.max(displayWidth(name), ...rows.map((row) => shownWidth(row[index] ?? ''))),
  );
  const fitted = fitWidths(
    widths,
    head.map((_, index) => !right.includes(index) && !whole.includes(index)),
    width - gap * (head.length - 1),
  );
  if (fitted !== null) {
    const cut = (cells: readonly string[]): string[] => cells.map((cell, index) => cutCell(cell, fitted[index]!));
    return draw(rows.map(cut), cut(head), right);
  }
  return turn(rows, options, width) ?? writeBlocks(rows, head, width);
}

/** The columns of the terminal that stdout is; without bound where it is none. */
function terminalWidth(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
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

/** Each row by itself, a line per column. */
function writeBlocks(rows: readonly (readonly string[])[], head: readonly string[], width: number): string {
  const names = Math.max(...head.map(displayWidth));
  const blocks = rows.map((row) =>
    head
      .map((name, index) => {
        const padded = name + ' '.repeat(names - displayWidth(name));
        return `${paint('bold', padded)}  ${cutCell(row[index] ?? '', Math.max(1, width - names - gap))}`;
      })
      .join('\n'),
  );
  return blocks.length === 0 ? head.map((name) => paint('bold', name)).join('\n') : `${blocks.join('\n\n')}\n`;
}

function draw(rows: readonly (readonly string[])[], head: readonly string[], right: readonly number[]): string {
  const table = new CliTable({
    head: head.map((name) => paint('bold', name)),
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
