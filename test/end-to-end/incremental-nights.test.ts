/** Random nights of a feed over HTTP: what is published differs from the source only before the window, and `missed` counts it. */

import { expect, it } from 'vitest';
import { type FeedRow, hourlyRows, startFeed } from '../support/feed.ts';

const seeds = Number(process.env['REKAP_NIGHT_SEEDS'] ?? 1);
const nights = 10;

/** Numbers below a limit that depend only on the seed. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const keysOf = (rows: readonly FeedRow[]): Map<number, FeedRow> => new Map(rows.map((row) => [row.id, row]));

it.each(Array.from({ length: seeds }, (_, index) => index + 1))(
  'nights of seed %d',
  async (seed) => {
    const below = createRandom(seed);
    let shift = 0;
    const feed = await startFeed(hourlyRows(300), { sinceOf: (text) => Date.parse(text) + shift });
    let next = 1000;
    const put = (id: number, hoursAgo: number): void => {
      const row = { id, value: `v${below(1e6)}`, updated_at: feed.ago(hoursAgo) };
      feed.state.rows = [...feed.state.rows.filter((one) => one.id !== id), row];
    };
    const scopes = new Set<string>();
    for (let night = 0; night <= nights; night += 1) {
      await feed.nextNight();
      const some = (): FeedRow => feed.state.rows[below(feed.state.rows.length)]!;
      for (let act = 0; act < 3 + below(8); act += 1)
        switch (below(9)) {
          case 0:
            put(next++, 24 + below(200));
            break;
          case 1: {
            const { id } = some();
            feed.state.rows = feed.state.rows.filter((row) => row.id !== id);
            break;
          }
          case 2: {
            const row = some();
            feed.state.rows = feed.state.rows.map((one) => (one === row ? { ...row, value: `silent ${night}` } : one));
            break;
          }
          case 3:
            put(some().id, below(24));
            break;
          default:
            put(next++, below(24));
        }
      shift = below(5) === 0 ? (below(28) - 14) * 3_600_000 : 0;
      const { reading, partitions, rows } = await feed.sync();
      scopes.add(reading!.scope);
      const since = partitions[0]!.window?.since ?? null;
      const [ours, theirs] = [keysOf(await feed.published()), keysOf(feed.state.rows)];
      const wrong = [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((id) => {
        const [mine, its] = [ours.get(id), theirs.get(id)];
        return JSON.stringify(mine) === JSON.stringify(its) ? [] : [mine?.updated_at ?? '', its?.updated_at ?? ''];
      });
      expect(rows).toBe(ours.size);
      // Within the lookback before the newest row, nothing is missed; without a window, nothing at all.
      const begin = since === null ? '' : new Date(Date.parse(since) + 2000).toISOString();
      expect(wrong.filter((at) => at >= begin && (at !== '' || since === null))).toEqual([]);
    }
    expect(scopes).toEqual(new Set(['whole', 'window']));
  },
  120_000,
);
