/** Runs a pipeline's row checks over the columns of a batch: a sum is compared for all rows at once, not record by record. */

import type { AnyPipeline, SumCheck } from '../pipeline.ts';
import type { Violation } from '../stages.ts';
import type { BatchBuilder, NumberColumn } from './batch-builder.ts';

/** Adds a violation per broken sum and marks the rows that break an error check as inconsistent. */
export function checkRows(pipeline: AnyPipeline, batch: BatchBuilder, violations: Violation[]): void {
  for (const check of pipeline.checks) checkSum(pipeline.table, check, batch, violations);
}

function checkSum(dataset: string, check: SumCheck, batch: BatchBuilder, violations: Violation[]): void {
  const { rows } = batch;
  const column = (name: string) => batch.numbers[batch.names.indexOf(name)]!;
  const whole = column(check.whole);
  /** Sums of two columns may not fit in 32 bits. */
  const sums = new Float64Array(rows);
  const known = whole.valid.slice(0, rows);
  for (const part of check.parts) addColumn(column(part), sums, known);
  for (let row = 0; row < rows; row += 1) {
    const sum = sums[row]!;
    const actual = whole.values[row]!;
    if (known[row] === 0 || sum === actual) continue;
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
