/** Checks the declared sums of each row, and sums up columns. */

import type { Column } from '../kinds/kind.ts';
import { DecimalColumn, formatDecimal } from '../kinds/decimal.ts';
import { LongColumn, SmallColumn } from '../kinds/whole-number.ts';
import { type AnyPipeline, type SumCheck, sumChecks } from '../project/declaration.ts';
import type { Violation } from '../stages.ts';
import type { BatchBuilder } from './batch-builder.ts';

export function checkSums(pipeline: AnyPipeline, batch: BatchBuilder, violations: Violation[]): void {
  for (const check of sumChecks(pipeline)) {
    const whole = batch.column(check.whole);
    const parts = check.parts.map((part) => batch.column(part));
    const unequal =
      whole instanceof SmallColumn && parts.every((part) => part instanceof SmallColumn)
        ? unequalSmall(whole, parts, batch.rows)
        : unequalUnits(whole, parts, batch.rows);
    for (const found of unequal) violations.push(violationOf(pipeline.table, check, batch, found));
  }
}

interface Unequal {
  readonly row: number;
  readonly expected: string;
  readonly actual: string;
}

function violationOf(
  dataset: string,
  check: SumCheck,
  batch: BatchBuilder,
  { row, expected, actual }: Unequal,
): Violation {
  if (check.severity === 'error') batch.consistent[row] = 0;
  return {
    dataset,
    place: batch.place(row),
    check_name: check.name,
    severity: check.severity,
    column_name: check.whole,
    raw_value: null,
    expected,
    actual,
  };
}

/** Handles 32-bit columns, the most common case, four times as fast as `unequalUnits`. */
function unequalSmall(whole: SmallColumn, parts: readonly SmallColumn[], rows: number): Unequal[] {
  /** Float64, because sums may exceed 32 bits. */
  const sums = new Float64Array(rows);
  const known = whole.valid.slice(0, rows);
  for (const part of parts) addColumn(part, sums, known);
  return unequalRows(sums, whole.values, known).map((row) => ({
    row,
    expected: String(sums[row]!),
    actual: String(whole.values[row]!),
  }));
}

/** An unknown part makes the sum unknown. It already has a violation. */
function addColumn({ values, valid }: SmallColumn, sums: Float64Array, known: Uint8Array): void {
  for (let row = 0; row < sums.length; row += 1) {
    sums[row]! += values[row]!;
    known[row]! &= valid[row]!;
  }
}

/** A separate function, because the engine optimizes a small loop sooner. */
function unequalRows(sums: Float64Array, actual: Int32Array, known: Uint8Array): number[] {
  const rows: number[] = [];
  for (let row = 0; row < sums.length; row += 1) if (known[row] === 1 && sums[row] !== actual[row]) rows.push(row);
  return rows;
}

/** Handles any numeric columns, with values converted to the smallest unit. */
function unequalUnits(whole: Column, parts: readonly Column[], rows: number): Unequal[] {
  const scale = Math.max(...[whole, ...parts].map(scaleOf));
  const factor = (column: Column): bigint => 10n ** BigInt(scale - scaleOf(column));
  const factors = parts.map(factor);
  const factorOfWhole = factor(whole);
  const found: Unequal[] = [];
  for (let row = 0; row < rows; row += 1) {
    if (whole.valid[row] === 0 || parts.some(({ valid }) => valid[row] === 0)) continue;
    const expected = parts.reduce((sum, part, index) => sum + unitsOf(part, row) * factors[index]!, 0n);
    const actual = unitsOf(whole, row) * factorOfWhole;
    if (expected !== actual)
      found.push({ row, expected: formatDecimal(expected, scale), actual: formatDecimal(actual, scale) });
  }
  return found;
}

function scaleOf(column: Column): number {
  return column instanceof DecimalColumn ? column.scale : 0;
}

function unitsOf(column: Column, row: number): bigint {
  if (column instanceof DecimalColumn || column instanceof LongColumn) return column.units(row);
  if (column instanceof SmallColumn) return BigInt(column.values[row]!);
  throw new TypeError('the column is not numeric');
}

export function totalOf(column: Column, rows: number): bigint {
  if (column instanceof SmallColumn) return BigInt(sumOf(column.values, rows));
  let sum = 0n;
  for (let row = 0; row < rows; row += 1) sum += unitsOf(column, row);
  return sum;
}

function sumOf(values: Int32Array, rows: number): number {
  let sum = 0;
  for (let row = 0; row < rows; row += 1) sum += values[row]!;
  return sum;
}
