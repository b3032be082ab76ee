/** Decides where windows of an incremental sync begin, and whether one joins the rows of the previous snapshot. Pure, so that a simulation can try it. */

/** A row of the previous snapshot: its key, and the value of its cursor in the smallest unit of its kind. */
export interface KnownRow {
  readonly key: string;
  readonly cursor: bigint;
}

/** The newest rows of the previous snapshot. */
export interface KnownRows {
  /** Sorted by the cursor, the newest first. */
  readonly newest: readonly KnownRow[];
  /** False if the table has older rows. */
  readonly areAll: boolean;
}

export interface Window {
  /** The requests filter for records above this value. */
  readonly above: bigint;
  /** The window has every record from this value on, if it joins. */
  readonly from: bigint;
  /** The known rows from there on. */
  readonly required: readonly KnownRow[];
}

/** A window, with the parameter that requests it. */
export interface RequestedWindow extends Window {
  readonly name: string;
  readonly since: string;
}

/** Lengths in the unit of the cursor. */
export interface TimeSteps {
  /** Latest value that counts as the newest: a wrong time in the future would make every window empty. */
  readonly latest: bigint;
  readonly lookback: bigint;
  /** Precision of the parameter. A window begins one step earlier, because the source may leave out the time itself. */
  readonly precision: bigint;
}

/**
 * Yields windows before the newest row, each with twice the lookback of the one before, while the known rows reach that far. A window begins at a
 * known row. So if the source takes the parameter for a later time, that row is missing.
 */
export function* windowsOfTimes({ newest, areAll }: KnownRows, steps: TimeSteps): Generator<Window> {
  const { latest, lookback, precision } = steps;
  const last = newest.find(({ cursor }) => cursor <= latest);
  if (last === undefined) return;
  for (let length = lookback; ; length *= 2n) {
    const before = newest.find(({ cursor }) => cursor <= last.cursor - length);
    // In a short list, the first window has all rows. Longer ones would read the list without proving it whole.
    const begin = before ?? (areAll && length === lookback ? newest.at(-1) : undefined);
    // Of rows with the oldest known time, some may be unknown.
    if (begin === undefined || (!areAll && begin.cursor === newest.at(-1)!.cursor)) return;
    yield windowOf(newest, floor(begin.cursor, precision) - precision, begin.cursor);
  }
}

/** Rows before the end of a list that only grows there. */
const rowsBack = 100;

/** Yields windows of the last 100 rows, the last 200, and so on, while the known rows reach that far. */
export function* windowsOfRows({ newest }: KnownRows): Generator<Window> {
  for (let rows = rowsBack; rows < newest.length; rows *= 2)
    yield windowOf(newest, newest[rows]!.cursor, newest[rows - 1]!.cursor);
}

function windowOf(newest: readonly KnownRow[], above: bigint, from: bigint): Window {
  return { above, from, required: newest.filter(({ cursor }) => cursor >= from) };
}

/**
 * Returns a row of the previous snapshot that the window should have, but doesn't: it was deleted, or the source hides it. A later value of
 * its cursor is right, because the record changed; an earlier one isn't. Null if the window joins.
 *
 * @param found The records of the window: their keys and cursors.
 */
export function missingIn({ required }: Window, found: ReadonlyMap<string, bigint>): KnownRow | null {
  return required.find((row) => isMissing(row, found)) ?? null;
}

export function isMissing({ key, cursor }: KnownRow, found: ReadonlyMap<string, bigint>): boolean {
  return (found.get(key) ?? cursor - 1n) < cursor;
}

function floor(value: bigint, step: bigint): bigint {
  const rest = value % step;
  return value - (rest < 0n ? rest + step : rest);
}
