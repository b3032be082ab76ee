/** Runs a pipeline's row checks over the columns of a batch: a sum is compared for all rows at once, not record by record. */

import type { AnyPipeline, SumCheck } from '../pipeline.ts';
import type { Violation } from '../stages.ts';
import type { BatchBuilder, NumberColumn } from './batch-builder.ts';

/** Adds a violation per broken sum and marks the rows that break an error check as inconsistent. */
export function checkRows(pipeline: AnyPipeline, batch: BatchBuilder, violations: Violation[]): void {
  for (const check of pipeline.checks) checkSum(pipeline.table, check, batch, violations);
}

function checkSum(dataset: string, check: SumCheck, batch: BatchBuilder, violations: Violation[]): void {
  const column = (name: string) => batch.numbers[batch.names.indexOf(name)]!;
  const whole = column(check.whole);
  /** Sums of two columns may not fit in 32 bits. */
  const sums = new Float64Array(batch.rows);
  const known = whole.valid.slice(0, batch.rows);
  for (const part of check.parts) addColumn(column(part), sums, known);
  for (const row of unequalRows(sums, whole.values, known)) {
    const [sum, actual] = [sums[row]!, whole.values[row]!];
    if (check.severity === 'error') batch.consistent[row] = 0;
    violations.push({
      dataset,
      place: batch.place(row),
      check_name: check.name,
      severity: check.severity,
      column_name: check.whole,
      raw_value: null,
      expected: String(sum),
      actual: String(actual),
      message: `${check.whole} is ${actual}, but ${check.parts.join(' + ')} is ${sum}`,
    });
  }
}

/** An unknown part makes its row's sum unknown; its own violation has named it already. */
function addColumn({ values, valid }: NumberColumn, sums: Float64Array, known: Uint8Array): void {
  for (let row = 0; row < sums.length; row += 1) {
    sums[row]! += values[row]!;
    known[row]! &= valid[row]!;
  }
}

/** A function of its own, for one with a small loop alone is compiled soon and once. */
function unequalRows(sums: Float64Array, actual: Int32Array, known: Uint8Array): number[] {
  const rows: number[] = [];
  for (let row = 0; row < sums.length; row += 1) if (known[row] === 1 && sums[row] !== actual[row]) rows.push(row);
  return rows;
}
