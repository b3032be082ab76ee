/** Chooses the columns of a result that fit the terminal: a name for each row, and as many figures as possible. */

import { cutTable, draw, fits, gap, minColumnWidth, transpose, writeBlocks } from './table.ts';
import { shownWidth, terminalColumns } from './wrap-text.ts';

type Rows = readonly (readonly string[])[];

export interface TableColumn {
  readonly head: string;
  readonly isNumber: boolean;
  /** Figures and names take precedence over the others, such as IDs, dates and flags. */
  readonly kind: 'figure' | 'name' | 'other';
}

interface FittedTable {
  readonly text: string;
  readonly hidden: readonly string[];
}

/** Maximum width of a name. A wider text is a sentence. */
const maxNameWidth = 40;

/**
 * Renders rows as columns. To fit the width, cuts texts and wraps column names, then hides columns, the least useful first.
 * Renders blocks if even one name and one figure don't fit.
 */
export function renderColumns(
  rows: Rows,
  columns: readonly TableColumn[],
  width = terminalColumns(process.stdout) ?? Number.POSITIVE_INFINITY,
): FittedTable {
  const all = { ...layOut(columns), width };
  if (fits(rows, all)) return { text: draw(rows, all.head, all.right), hidden: [] };
  const blocks = () => ({ text: writeBlocks(rows, all, width).trimEnd(), hidden: [] });
  if (rows.length === 1) return blocks();
  const order = orderToHide(rows, columns);
  // Skips column sets that don't even fit with maximum cuts.
  const least = columns.map(({ isNumber }, index) => {
    const widest = Math.max(0, ...rows.map((row) => shownWidth(row[index]!)));
    return gap + (isNumber ? widest : Math.min(minColumnWidth, widest));
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
    const text = cut ?? (count === 0 ? transpose(rows, all, width) : null);
    if (text !== null) return { text, hidden: all.head.filter((_, index) => hidden.has(index)) };
  }
  return blocks();
}

/** Returns the columns with the same value in every row, if the table is too wide. */
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
 * Returns the order in which columns are hidden: first those that aren't needed to distinguish the rows, then figures, then the others.
 * The name with the most values and the first figure are never hidden.
 * Sentences, IDs, dates and flags are needed only if the names don't distinguish the rows.
 */
function orderToHide(rows: Rows, columns: readonly TableColumn[]): number[] {
  const valuesOf = (indexes: readonly number[]): number =>
    new Set(rows.map((row) => JSON.stringify(indexes.map((index) => row[index])))).size;
  const figures = columns.flatMap(({ kind }, index) => (kind === 'figure' ? [index] : []));
  const others = columns
    .flatMap(({ kind }, index) =>
      kind === 'figure' ? [] : [{ index, values: valuesOf([index]), isName: kind === 'name' }],
    )
    .map((one) => ({ ...one, isName: one.isName && rows.every((row) => shownWidth(row[one.index]!) <= maxNameWidth) }))
    .toSorted((a, b) => Number(a.isName) - Number(b.isName) || a.values - b.values || b.index - a.index)
    .map(({ index }) => index);
  const total = valuesOf(others);
  const needed: number[] = [];
  let distinct = 0;
  for (const index of others.toReversed()) {
    const count = valuesOf([...needed, index]);
    if (count > distinct || needed.length === 0) needed.push(index);
    distinct = count;
    if (distinct === total) break;
  }
  const unneeded = others.filter((index) => !needed.includes(index));
  return [...unneeded, ...figures.slice(1).toReversed(), ...needed.slice(1).toReversed()];
}
