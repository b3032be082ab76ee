/** Tables for a terminal: thin, with columns that fit what they hold and the terminal that shows them. */

import { stripVTControlCharacters } from 'node:util';
import { paint } from './terminal.ts';
import { breakText, cutToWidth, shownWidth, terminalColumns } from './wrap-text.ts';

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
export const gap = 2;

/**
 * A table; cells are printed as they are, so texts from outside go through `printable` first. Where it is wider than the terminal, the
 * names of its columns are broken and its texts cut, as long as those that differ still do: a figure must not be read for another place's.
 * Else it is turned, or each row becomes a block.
 */
export function renderTable(rows: readonly (readonly string[])[], options: TableOptions): string {
  const { head, right = [], width = terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY } = options;
  if (fits(rows, { ...options, width })) return draw(rows, head, right);
  return cutTable(rows, options, width) ?? turn(rows, options, width) ?? writeBlocks(rows, options, width);
}

/** Whether a table needs no more room than there is. */
export function fits(rows: readonly (readonly string[])[], { head, right = [], width }: TableOptions): boolean {
  const room = width ?? terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY;
  return draw(rows, head, right)
    .split('\n')
    .every((line) => shownWidth(line) <= room);
}

/** The table with texts cut to the room there is; null where that is too little, or two texts of a column would look the same. */
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
    [...Array<string>(most - lines.length).fill(''), ...lines.map((line) => cutToWidth(line, widths[index]!))].join(
      '\n',
    ),
  );
}

/** A table of figures with a name in front, its rows as columns; null where it is none, or still too wide. */
export function turn(
  rows: readonly (readonly string[])[],
  { head, right = [] }: TableOptions,
  width: number,
): string | null {
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
export function writeBlocks(
  rows: readonly (readonly string[])[],
  { head, right = [], whole = [] }: TableOptions,
  width: number,
): string {
  const names = Math.max(...head.map(shownWidth));
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
        const padded = paint('bold', name) + ' '.repeat(names - shownWidth(name));
        return isBeside
          ? [padded + lines[0]!.slice(names), ...lines.slice(1)].map((line) => line.trimEnd()).join('\n')
          : [paint('bold', name), ...lines].join('\n');
      })
      .join('\n'),
  );
  return blocks.length === 0 ? head.map((name) => paint('bold', name)).join('\n') : `${blocks.join('\n\n')}\n`;
}

/** Columns side by side, as wide as what they hold; a name may take several lines. */
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

/** The name of a column in lines of at most `width`, broken after underscores and spaces alone: a part that is wider stays whole. */
function breakName(name: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of name.split(/(?<=[_ ])/)) {
    const longer = (lines.at(-1) ?? '') + part;
    if (lines.length > 0 && shownWidth(longer.trimEnd()) <= width) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines.map((line) => line.trimEnd());
}

/** Columns narrower than this say nothing any more. */
export const narrowest = 8;

/**
 * Widths that add up to at most `room`: the widest of the columns that may be cut are cut first. Null where that is not
 * enough.
 */
function fitWidths(widths: readonly number[], mayCut: readonly boolean[], room: number): number[] | null {
  const fitted = [...widths];
  let over = fitted.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const open = fitted.flatMap((width, index) => (mayCut[index] === true && width > narrowest ? [index] : []));
    if (open.length === 0) return null;
    const widest = Math.max(...open.map((index) => fitted[index]!));
    const those = open.filter((index) => fitted[index] === widest);
    // Down to the next widest, or by what is still too much, all of the widest alike.
    const next = Math.max(narrowest, ...open.map((index) => fitted[index]!).filter((width) => width < widest));
    const by = Math.min(widest - next, Math.ceil(over / those.length));
    for (const index of those) fitted[index]! -= by;
    over -= by * those.length;
  }
  return fitted;
}
