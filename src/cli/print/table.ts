/** Renders tables that fit the terminal. */

import { stripVTControlCharacters } from 'node:util';
import { paint } from './terminal.ts';
import { breakText, cutToWidth, shownWidth, terminalColumns } from './wrap-text.ts';

export interface TableOptions {
  readonly head: readonly string[];
  /** Number columns: right-aligned and never cut. */
  readonly right?: readonly number[];
  /** Other columns that are never cut, such as IDs. */
  readonly whole?: readonly number[];
  /** Maximum width; by default that of the terminal, or no limit if stdout isn't one. */
  readonly width?: number;
}

export const gap = 2;

/**
 * Renders a table. Pass texts from outside through `printable` first.
 * If the table is too wide, wraps column names and cuts texts, unless different texts would look the same.
 * Otherwise transposes the table, or renders a block per row.
 */
export function renderTable(rows: readonly (readonly string[])[], options: TableOptions): string {
  const { head, right = [], width = terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY } = options;
  if (fits(rows, { ...options, width })) return draw(rows, head, right);
  return cutTable(rows, options, width) ?? transpose(rows, options, width) ?? writeBlocks(rows, options, width);
}

export function fits(rows: readonly (readonly string[])[], { head, right = [], width }: TableOptions): boolean {
  const room = width ?? terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY;
  return draw(rows, head, right)
    .split('\n')
    .every((line) => shownWidth(line) <= room);
}

/** Renders a table with cut texts. Returns null if it is still too wide, or if different texts of a column would look the same. */
export function cutTable(
  rows: readonly (readonly string[])[],
  { head, right = [], whole = [] }: TableOptions,
  width: number,
): string | null {
  const room = width - gap * (head.length - 1);
  const cells = head.map((_, index) => Math.max(0, ...rows.map((row) => shownWidth(row[index] ?? ''))));
  const fitted = fitWidths(
    head.map((name, index) => Math.max(cells[index]!, ...breakName(name, 0).map(shownWidth))),
    head.map((_, index) => !right.includes(index) && !whole.includes(index)),
    room,
  );
  if (fitted === null) return null;
  const cut = rows.map((row) => row.map((cell, index) => cutToWidth(cell, fitted[index]!)));
  const differing = (table: readonly (readonly string[])[], index: number) =>
    new Set(table.map((row) => row[index])).size;
  if (head.some((_, index) => differing(cut, index) < differing(rows, index))) return null;
  return draw(cut, breakNames(head, fitted, room), right);
}

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
    [...Array<string>(most - lines.length).fill(''), ...lines.map((line) => cutToWidth(line, widths[index]!))].join(
      '\n',
    ),
  );
}

/** Renders the rows as columns. Returns null if not all columns but the first hold numbers, or if the result is too wide. */
export function transpose(
  rows: readonly (readonly string[])[],
  { head, right = [] }: TableOptions,
  width: number,
): string | null {
  if (rows.length === 0 || right.length < head.length - 1 || right.includes(0)) return null;
  const [corner = '', ...names] = head;
  const transposed = names.map((name, index) => [name, ...rows.map((row) => row[index + 1] ?? '')]);
  const transposedHead = [corner, ...rows.map(([name = '']) => name)];
  const text = draw(
    transposed,
    transposedHead,
    rows.map((_, index) => index + 1),
  );
  return text.split('\n').every((line) => shownWidth(line) <= width) ? text : null;
}

/** If less width remains beside a name, its text goes below the name. */
const minTextWidth = 20;

/** Renders each row as a block with one or more lines per column. Wraps texts, but never numbers and IDs. */
export function writeBlocks(
  rows: readonly (readonly string[])[],
  { head, right = [], whole = [] }: TableOptions,
  width: number,
): string {
  const names = Math.max(...head.map(shownWidth));
  const isBeside = width - names - gap >= minTextWidth;
  const indent = isBeside ? names + gap : gap;
  const room = Math.max(minTextWidth, width) - indent;
  const linesOf = (cell: string, index: number): string[] =>
    shownWidth(cell) <= room || right.includes(index) || whole.includes(index)
      ? [cell]
      : breakText(stripVTControlCharacters(cell), room);
  const blocks = rows.map((row) =>
    head
      .map((name, index) => {
        const lines = linesOf(row[index] ?? '', index).map((line) => ' '.repeat(indent) + line);
        const padded = paint('bold', name) + ' '.repeat(names - shownWidth(name));
        return isBeside
          ? [padded + lines[0]!.slice(names), ...lines.slice(1)].map((line) => line.trimEnd()).join('\n')
          : [paint('bold', name), ...lines].join('\n');
      })
      .join('\n'),
  );
  return blocks.length === 0 ? head.map((name) => paint('bold', name)).join('\n') : `${blocks.join('\n\n')}\n`;
}

export function draw(rows: readonly (readonly string[])[], head: readonly string[], right: readonly number[]): string {
  const names = head.map((name) => name.split('\n'));
  const headLines = (names[0] ?? []).map((_, line) => names.map((lines) => paint('bold', lines[line] ?? '')));
  const all = [...headLines, ...rows];
  const widths = head.map((_, index) => Math.max(...all.map((row) => shownWidth(row[index] ?? ''))));
  return all
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

/** Wraps a column name after underscores and spaces. A part that is wider than `width` stays whole. */
function breakName(name: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of name.split(/(?<=[_ ])/)) {
    const longer = (lines.at(-1) ?? '') + part;
    if (lines.length > 0 && shownWidth(longer.trimEnd()) <= width) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines.map((line) => line.trimEnd());
}

export const minColumnWidth = 8;

/** Reduces the widest columns that may be cut until all fit in `room`. Returns null if they can't. */
function fitWidths(widths: readonly number[], mayCut: readonly boolean[], room: number): number[] | null {
  const fitted = [...widths];
  let over = fitted.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const open = fitted.flatMap((width, index) => (mayCut[index] === true && width > minColumnWidth ? [index] : []));
    if (open.length === 0) return null;
    const widest = Math.max(...open.map((index) => fitted[index]!));
    const widestColumns = open.filter((index) => fitted[index] === widest);
    // Shrink all of the widest columns equally, at most to the next widest.
    const next = Math.max(minColumnWidth, ...open.map((index) => fitted[index]!).filter((width) => width < widest));
    const by = Math.min(widest - next, Math.ceil(over / widestColumns.length));
    for (const index of widestColumns) fitted[index]! -= by;
    over -= by * widestColumns.length;
  }
  return fitted;
}
