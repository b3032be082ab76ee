/** Runs independent statements on several connections. DuckDB's own threads wait for each other more than they work. */

import type { Database } from './database.ts';

/** Opens connections until there are `count` of them, the given one first. */
export async function openLanes(database: Database, count: number): Promise<Database[]> {
  const lanes = [database];
  while (lanes.length < count) lanes.push(await database.beside());
  return lanes;
}

/** Works on the items in their order, one at a time per connection. Waits for all that began, then throws the first error. */
export async function inLanes<Item>(
  lanes: readonly Database[],
  items: Iterable<Item>,
  work: (lane: Database, item: Item) => Promise<unknown>,
): Promise<void> {
  const left = [...items].values();
  const ends = await Promise.allSettled(
    lanes.map(async (lane) => {
      for (const item of left) await work(lane, item);
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
