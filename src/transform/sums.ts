/** Checks the declared sums of each row, and sums up columns. */

import { type NumberColumn, SmallColumn } from '../kinds/column.ts';
import { formatDecimal } from '../kinds/decimal.ts';
import { type AnyPipeline, sumChecks } from '../project/declaration.ts';
import type { Violation } from '../stages.ts';
import type { BatchBuilder } from './batch-builder.ts';

/** Returns a violation for each declared sum that differs from its parts, with its row in the batch. */
export function findUnequalSums(pipeline: AnyPipeline, batch: BatchBuilder): { row: number; violation: Violation }[] {
  return sumChecks(pipeline).flatMap(({ name, severity, whole: wholeName, parts: partNames }) => {
    const whole = batch.numbers(wholeName);
    const parts = partNames.map((part) => batch.numbers(part));
    const unequal =
      whole instanceof SmallColumn && parts.every((part) => part instanceof SmallColumn)
        ? unequalSmall(whole, parts, batch.rows)
        : unequalUnits(
            whole,
            parts,
            [wholeName, ...partNames].map((column) => scaleOf(pipeline, column)),
            batch.rows,
          );
    return unequal.map(({ row, expected, actual }) => ({
      row,
      violation: {
        dataset: pipeline.table,
        place: batch.place(row),
        check_name: name,
        severity,
        column_name: wholeName,
        raw_value: null,
        expected,
        actual,
      },
    }));
  });
}

interface Unequal {
  readonly row: number;
  readonly expected: string;
  readonly actual: string;
}

/** Handles 32-bit columns, the most common case, four times as fast as `unequalUnits`. */
function unequalSmall(whole: SmallColumn, parts: readonly SmallColumn[], rows: number): Unequal[] {
  /** Float64, because sums may exceed 32 bits. */
  const sums = new Float64Array(rows);
  const summable = whole.valid.slice(0, rows);
  for (const part of parts) addColumn(part, sums, summable);
  return unequalRows(sums, whole.values, summable).map((row) => ({
    row,
    expected: String(sums[row]!),
    actual: String(whole.values[row]!),
  }));
}

/** A NULL part can't be summed. It already has a violation. */
function addColumn({ values, valid }: SmallColumn, sums: Float64Array, summable: Uint8Array): void {
  for (let row = 0; row < sums.length; row += 1) {
    sums[row]! += values[row]!;
    summable[row]! &= valid[row]!;
  }
}

/** Returns the rows whose sum differs from the actual value. A separate function, because the engine optimizes a small loop sooner. */
function unequalRows(sums: Float64Array, actual: Int32Array, summable: Uint8Array): number[] {
  const rows: number[] = [];
  for (let row = 0; row < sums.length; row += 1) if (summable[row] === 1 && sums[row] !== actual[row]) rows.push(row);
  return rows;
}

/**
 * Handles any numeric columns, with values converted to the smallest unit.
 * @param scales Digits after the point: of the whole, and of each part.
 */
function unequalUnits(whole: NumberColumn, parts: readonly NumberColumn[], scales: number[], rows: number): Unequal[] {
  const scale = Math.max(...scales);
  const [factorOfWhole, ...factors] = scales.map((own) => 10n ** BigInt(scale - own));
  const found: Unequal[] = [];
  for (let row = 0; row < rows; row += 1) {
    if (whole.valid[row] === 0 || parts.some(({ valid }) => valid[row] === 0)) continue;
    const expected = parts.reduce((sum, part, index) => sum + part.units(row) * factors[index]!, 0n);
    const actual = whole.units(row) * factorOfWhole!;
    if (expected !== actual)
      found.push({ row, expected: formatDecimal(expected, scale), actual: formatDecimal(actual, scale) });
  }
  return found;
}

function scaleOf({ columns }: AnyPipeline, name: string): number {
  const column = columns[name]!;
  return column.kind === 'decimal' ? column.scale : 0;
}

export function totalOf(column: NumberColumn, rows: number): bigint {
  if (column instanceof SmallColumn) return BigInt(sumOf(column.values, rows));
  let sum = 0n;
  for (let row = 0; row < rows; row += 1) sum += column.units(row);
  return sum;
}

function sumOf(values: Int32Array, rows: number): number {
  let sum = 0;
  for (let row = 0; row < rows; row += 1) sum += values[row]!;
  return sum;
}
