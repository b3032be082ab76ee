/** Runs a pipeline's row checks over the columns of a batch: a sum is compared for all rows at once, not record by record. */

import type { AnyPipeline, SumCheck } from '../pipeline.ts';
import type { Violation } from '../stages.ts';
import type { BatchBuilder } from './batch-builder.ts';

/** Adds a violation per broken sum and marks the rows that break an error check as inconsistent. */
export function checkRows(pipeline: AnyPipeline, batch: BatchBuilder, violations: Violation[]): void {
  for (const check of pipeline.checks) checkSum(pipeline.table, check, batch, violations);
}

function checkSum(dataset: string, check: SumCheck, batch: BatchBuilder, violations: Violation[]): void {
  const column = (name: string) => batch.numbers[batch.names.indexOf(name)]!;
  const parts = check.parts.map(column);
  const whole = column(check.whole);
  for (let row = 0; row < batch.rows; row += 1) {
    let sum = 0;
    let known = whole.valid[row]!;
    for (const part of parts) {
      // An unknown part makes the sum unknown; its own violation has named it already.
      known &= part.valid[row]!;
      sum += part.values[row]!;
    }
    const actual = whole.values[row]!;
    if (known === 0 || sum === actual) continue;
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
