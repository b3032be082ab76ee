/** Runs independent statements on several connections. DuckDB's own threads wait for each other more than they work. */

import type { Database } from './database.ts';

/** Opens connections until there are `count` of them, the given one first. */
export async function openLanes(database: Database, count: number): Promise<Database[]> {
  const lanes = [database];
  while (lanes.length < count) lanes.push(await database.beside());
  return lanes;
}

/** Works on the items in their order, one at a time per connection. After an error, no further item begins. Waits for those that began, then throws it. */
export async function inLanes<Item>(
  lanes: readonly Database[],
  items: Iterable<Item>,
  work: (lane: Database, item: Item) => Promise<unknown>,
): Promise<void> {
  const left = [...items];
  const ends = await Promise.allSettled(
    lanes.map(async (lane) => {
      try {
        for (let item = left.shift(); item !== undefined; item = left.shift()) await work(lane, item);
      } finally {
        left.length = 0;
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
