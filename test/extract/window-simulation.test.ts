/**
 * Nights of a simulated source, whose rows come late, change without a new time, disappear, and have wrong times. After each night, what is
 * published may differ from the source only before the window, and not at all after the whole list was read.
 */

import { expect, it } from 'vitest';
import { type KnownRow, missingIn, windowsOfTimes } from '../../src/extract/windows.ts';

interface Row extends KnownRow {
  readonly value: number;
}

const hour = 3600n;
const day = 24n * hour;
/** Nights between two readings of the whole list. */
const wholeEvery = 7;
const knownRows = 60;

/** Numbers from 0 to 1 (exclusive) that depend only on the seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function simulate(seed: number, nights: number) {
  const random = createRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const precision = [1n, 60n, hour][below(3)]!;
  const lookback = [hour, 6n * hour, 2n * day][below(3)]!;
  const isInclusive = below(2) === 0;
  const source = new Map<string, Row>();
  let published = new Map<string, Row>();
  let now = 1_000_000n;
  let readAt = now;
  let nextKey = 1;
  /** What the clock of the source is ahead by. */
  let ahead = 0n;
  const counts = { windows: 0, wholes: 0, missed: 0 };

  const put = (key: string, cursor: bigint): void => void source.set(key, { key, cursor, value: below(1_000_000) });
  const someKey = (): string | undefined => [...source.keys()][below(source.size)];
  const act = (): void => {
    const key = someKey();
    switch (below(12)) {
      case 0: // A row that was committed late, with an earlier time.
        return put(String(nextKey++), now + ahead - BigInt(below(20)) * hour);
      case 1: // A change without a new time.
        if (key !== undefined) put(key, source.get(key)!.cursor);
        return;
      case 2:
        if (key !== undefined) source.delete(key);
        return;
      case 3: // A restatement.
      case 4:
        if (key !== undefined) put(key, now + ahead);
        return;
      case 5:
        if (below(20) === 0) put(String(nextKey++), now + 10_000n * day);
        return;
      case 6:
        if (below(10) === 0) ahead = BigInt(below(10) - 5) * hour;
        return;
      default:
        return put(String(nextKey++), now + ahead);
    }
  };
  for (let row = 0; row < 40; row += 1) put(String(nextKey++), now - BigInt(below(100)) * hour);

  for (let night = 0; night < nights; night += 1) {
    const actions = below(12);
    for (let action = 0; action < actions; action += 1) {
      now += day / BigInt(actions);
      act();
    }
    now = 1_000_000n + BigInt(night + 1) * day;
    // The source may take the parameter for another time zone, for a night.
    const shift = below(8) === 0 ? BigInt(below(28) - 14) * hour : 0n;
    const request = (above: bigint): Map<string, Row> =>
      new Map(
        [...source].filter(([, { cursor }]) => cursor > above + shift || (isInclusive && cursor === above + shift)),
      );
    const newest = [...published.values()].toSorted((a, b) => (a.cursor < b.cursor ? 1 : a.cursor > b.cursor ? -1 : 0));
    const known = { newest: newest.slice(0, knownRows), areAll: newest.length <= knownRows };
    const windows = night % wholeEvery === 0 ? [] : windowsOfTimes(known, { latest: readAt, lookback, precision });
    let from: bigint | null = null;
    for (const window of windows) {
      const found = request(window.above);
      if (missingIn(window, new Map([...found].map(([key, { cursor }]) => [key, cursor]))) !== null) continue;
      from = window.from;
      published = new Map([...published, ...found]);
      break;
    }
    if (from === null) published = new Map(source);
    counts[from === null ? 'wholes' : 'windows'] += 1;
    readAt = now;

    for (const key of new Set([...published.keys(), ...source.keys()])) {
      const [ours, theirs] = [published.get(key), source.get(key)];
      if (ours === theirs) continue;
      counts.missed += 1;
      // Only what lies before the window may differ.
      const isBefore = from !== null && [ours, theirs].every((row) => row === undefined || row.cursor < from);
      if (!isBefore)
        throw new Error(`seed ${seed}, night ${night}: ${key} is ${ours?.cursor}, not ${theirs?.cursor}, from ${from}`);
    }
  }
  return counts;
}

it('differs from the source only before its window, and not at all after the whole list', () => {
  const seeds = Number(process.env['REKAP_WINDOW_SEEDS'] ?? 300);
  const sum = { windows: 0, wholes: 0, missed: 0 };
  for (let seed = 1; seed <= seeds; seed += 1) {
    const counts = simulate(seed, 60);
    for (const name of ['windows', 'wholes', 'missed'] as const) sum[name] += counts[name];
  }
  // The simulation shows something only if windows join, and miss rows.
  expect(sum.windows).toBeGreaterThan(seeds * 5);
  expect(sum.missed).toBeGreaterThan(seeds * 5);
});

const row = (key: string, cursor: number): KnownRow => ({ key, cursor: BigInt(cursor) });

it('a window begins at a known row, the declared time back at least', () => {
  const steps = { latest: 100n, lookback: 10n, precision: 5n };
  const newest = [row('future', 900), row('a', 99), row('b', 92), row('c', 87), row('d', 60)];
  const begins = (known: KnownRow[], areAll: boolean) =>
    [...windowsOfTimes({ newest: known, areAll }, steps)].map(({ above, from }) => [Number(above), Number(from)]);
  expect(begins(newest, true)).toEqual([
    [80, 87],
    [55, 60],
  ]);
  // Without a row that far back, only a list that is known whole has a window.
  expect(begins(newest.slice(0, 3), true)).toEqual([[85, 92]]);
  expect(begins(newest.slice(0, 3), false)).toEqual([]);
});

it('a record with an earlier time than the known one is a stale copy, and does not join', () => {
  const [window] = windowsOfTimes(
    { newest: [row('a', 99), row('b', 80)], areAll: true },
    {
      latest: 100n,
      lookback: 10n,
      precision: 1n,
    },
  );
  expect(
    missingIn(
      window!,
      new Map([
        ['a', 98n],
        ['b', 80n],
      ]),
    ),
  ).toEqual(row('a', 99));
  expect(
    missingIn(
      window!,
      new Map([
        ['a', 120n],
        ['b', 80n],
      ]),
    ),
  ).toBeNull();
});

it('begins at no row with the oldest known time, because others with that time may be unknown', () => {
  const newest = [30n, 10n, 10n].map((cursor, index) => ({ key: String(index), cursor }));
  const steps = { latest: 30n, lookback: 5n, precision: 1n };
  expect([...windowsOfTimes({ newest, areAll: false }, steps)]).toEqual([]);
  expect([...windowsOfTimes({ newest, areAll: true }, steps)].map(({ from }) => from)).toContain(10n);
});
