/** Decides which partitions are closed: those whose year, month or day ended long ago. */

import type { AnyPipeline } from './declaration.ts';
import { durationOf } from './duration.ts';
import { partitionParameters, splitPartition } from './partition-list.ts';

/** Returns whether a partition of a pipeline with `closed` no longer changes. */
export function isClosed(pipeline: AnyPipeline, partition: string, now: Date): boolean {
  const { closed } = pipeline.partition!;
  const place = partitionParameters(pipeline).findIndex(({ column }) => column === closed!.column);
  const end = endOfPeriod(splitPartition(pipeline, partition)[place] ?? '');
  return end !== null && end + durationOf(closed!.after) <= now.getTime();
}

/** Returns when a year (2024), month (2024-02 or 202402) or day (2024-02-14) ends, in milliseconds since 1970; null for another text. */
export function endOfPeriod(text: string): number | null {
  const [, year, month, day] = /^(\d{4})(?:-?(0[1-9]|1[0-2])(?:-?(0[1-9]|[12]\d|3[01]))?)?$/.exec(text) ?? [];
  if (year === undefined) return null;
  if (month === undefined) return Date.UTC(Number(year) + 1, 0, 1);
  return day === undefined
    ? Date.UTC(Number(year), Number(month), 1)
    : Date.UTC(Number(year), Number(month) - 1, Number(day) + 1);
}
