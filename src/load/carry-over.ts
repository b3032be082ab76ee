/** What a snapshot takes over from the one before, and the SQL conditions that say so. */

import type { AnyPipeline } from '../pipeline.ts';

/** What is taken over from the snapshot before instead of being read anew. */
export interface CarryOver {
  /** By table: the districts that were read anew, all others being carried over; null where the whole dataset was. */
  readonly replaced: ReadonlyMap<string, readonly number[] | null>;
}

/** Whether any of a dataset's rows are carried over. */
export function isCarried(carryOver: CarryOver | null, pipeline: AnyPipeline): carryOver is CarryOver {
  return carryOver !== null && (carryOver.replaced.get(pipeline.table) ?? null) !== null;
}

/** SQL condition on the rows of the snapshot before that are carried over. */
export function carriedCondition(carryOver: CarryOver, pipeline: AnyPipeline, district: string): string {
  const replaced = carryOver.replaced.get(pipeline.table) ?? null;
  if (replaced === null) return 'false';
  return replaced.length === 0 ? 'true' : `${district} NOT IN (${replaced.join(', ')})`;
}
