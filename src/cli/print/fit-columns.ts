/** Chooses the columns of a result that a terminal has room for: a name for each row, and as many figures as fit. */

import { cutTable, draw, fits, gap, narrowest, turn, writeBlocks } from './table.ts';
import { shownWidth, terminalColumns } from './wrap-text.ts';

type Rows = readonly (readonly string[])[];

/** A column of a result, as a table shows it. */
export interface TableColumn {
  readonly head: string;
  readonly isNumber: boolean;
  /** Figures and names are shown rather than ids, dates and flags. */
  readonly kind: 'figure' | 'name' | 'other';
}

interface FittedTable {
  readonly text: string;
  /** Names of the columns that are left out. */
  readonly hidden: readonly string[];
}

/** A text that is wider than this is a sentence, and names nothing. */
const widestName = 40;

/**
 * Renders rows as columns. Cuts texts and breaks the names of columns first, then leaves out columns, the least useful ones first. Rows
 * become blocks if even one name and one figure don't fit.
 *
 * @param width Columns of the terminal; without one, that of stdout.
 */
export function renderColumns(
  rows: Rows,
  columns: readonly TableColumn[],
  width = terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY,
): FittedTable {
  const all = { ...layOut(columns), width };
  if (fits(rows, all)) return { text: draw(rows, all.head, all.right), hidden: [] };
  const blocks = () => ({ text: writeBlocks(rows, all, width).trimEnd(), hidden: [] });
  // One wide row is read best from top to bottom.
  if (rows.length === 1) return blocks();
  const order = orderToHide(rows, columns);
  // Most columns have no room even if they are cut as far as they may be.
  const least = columns.map(({ isNumber }, index) => {
    const widest = Math.max(0, ...rows.map((row) => shownWidth(row[index]!)));
    return gap + (isNumber ? widest : Math.min(narrowest, widest));
  });
  for (let count = 0; count <= order.length; count += 1) {
    const hidden = new Set(order.slice(0, count));
    const isShown = (_: unknown, index: number): boolean => !hidden.has(index);
    if (least.filter(isShown).reduce((sum, wide) => sum + wide, -gap) > width && count > 0) continue;
    const part = layOut(columns.filter(isShown));
    const cut = cutTable(
      rows.map((row) => row.filter(isShown)),
      part,
      width,
    );
    const text = cut ?? (count === 0 ? turn(rows, all, width) : null);
    if (text !== null) return { text, hidden: all.head.filter((_, index) => hidden.has(index)) };
  }
  return blocks();
}

/** Renders a block for each row. */
export function renderBlocks(
  rows: Rows,
  columns: readonly TableColumn[],
  width = terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY,
): string {
  return writeBlocks(rows, layOut(columns), width).trimEnd();
}

/** Returns the columns that say the same in every row of a table that doesn't fit with them. */
export function constantColumns(rows: Rows, columns: readonly TableColumn[], width?: number): number[] {
  const options = { ...layOut(columns), ...(width === undefined ? {} : { width }) };
  if (rows.length < 2 || fits(rows, options)) return [];
  const constant = columns.flatMap((_, index) => (rows.every((row) => row[index] === rows[0]![index]) ? [index] : []));
  return constant.length < columns.length ? constant : [];
}

function layOut(columns: readonly TableColumn[]) {
  return {
    head: columns.map(({ head }) => head),
    right: columns.flatMap(({ isNumber }, index) => (isNumber ? [index] : [])),
  };
}

/**
 * Orders the columns by how soon they are left out: columns that aren't needed to tell the rows apart, figures from the last to the second,
 * then the others. The name with the most values and the first figure are always shown. Sentences, ids, dates and flags are needed only if
 * the names don't tell the rows apart.
 */
function orderToHide(rows: Rows, columns: readonly TableColumn[]): number[] {
  const valuesOf = (indexes: readonly number[]): number =>
    new Set(rows.map((row) => JSON.stringify(indexes.map((index) => row[index])))).size;
  const figures = columns.flatMap(({ kind }, index) => (kind === 'figure' ? [index] : []));
  const others = columns
    .flatMap(({ kind }, index) =>
      kind === 'figure' ? [] : [{ index, values: valuesOf([index]), isName: kind === 'name' }],
    )
    .map((one) => ({ ...one, isName: one.isName && rows.every((row) => shownWidth(row[one.index]!) <= widestName) }))
    .toSorted((a, b) => Number(a.isName) - Number(b.isName) || a.values - b.values || b.index - a.index)
    .map(({ index }) => index);
  const apart = valuesOf(others);
  const needed: number[] = [];
  let known = 0;
  for (const index of others.toReversed()) {
    const told = valuesOf([...needed, index]);
    if (told > known || needed.length === 0) needed.push(index);
    known = told;
    if (known === apart) break;
  }
  const unneeded = others.filter((index) => !needed.includes(index));
  return [...unneeded, ...figures.slice(1).toReversed(), ...needed.slice(1).toReversed()];
}
