/** Chooses the memory and the threads that DuckDB gets during a load. */

import { maxMemory } from '../runtime/database.ts';

/** Leaves memory for pages. Beyond the limit, DuckDB spills to disk. A second thread of DuckDB waits for locks more than it works; see `runtime/lanes.ts`. */
export const firstMemory = 48e6;
export const loadSettings = { threads: '1', preserve_insertion_order: 'true' };
/** Above this number of rows, freed memory is returned to the system after each task. Otherwise it counts as used until the load ends. */
export const manyRows = 122_880;
export const settingsOfManyRows = {
  allocator_flush_threshold: '1MB',
  allocator_bulk_deallocation_flush_threshold: '1MB',
};
/** Above this number of rows, a statement needs all of the memory. They run one after the other, each with two threads. */
export const rowsOfLanes = 368_640;

/**
 * Returns the default memory limit in bytes. More makes a load of a million rows 10 % faster, for up to twice the memory of the process.
 * @param longest Characters of the longest texts. DuckDB sorts blocks of 2,048 rows, which it can't divide.
 */
export function memoryFor(rows: number, longest: number): number {
  return Math.min(maxMemory, Math.max(192e6, rows * 32, longest * 2048 * 16));
}
