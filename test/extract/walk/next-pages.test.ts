/** Which pages of a list are asked for at once, and what a wrong expectation costs. */

import { describe, expect, it } from 'vitest';
import { NextPages } from '../../../src/extract/walk/next-pages.ts';

interface List {
  readonly total: number;
  readonly expected?: number;
  readonly cap?: number;
  /** Pages from here on fail where they are asked for before their turn. */
  readonly failsFrom?: number;
  /** The page at this offset holds 60 records. */
  readonly shortAt?: number;
}

/** Walks a list of `total` records to its empty page; gives the offsets asked for at each step. */
async function walk({ total, expected = 0, cap = 100, failsFrom = Infinity, shortAt = -1 }: List) {
  const steps: number[][] = [];
  const fetch = async (asked: number): Promise<number> => {
    steps.at(-1)!.push(asked);
    return Math.max(0, Math.min(asked === shortAt ? 60 : cap, total - asked));
  };
  const pages = new NextPages<number>({
    pageSize: 100,
    expected,
    fetch,
    fetchEarly: async (asked) => (asked >= failsFrom ? fetch(asked).then(() => null) : fetch(asked)),
    unused: () => undefined,
  });
  let offset = 0;
  let length = 0;
  do {
    steps.push([]);
    length = await pages.at(offset, length);
    offset += length;
  } while (length > 0);
  await pages.settle();
  return steps;
}

describe('the pages of a list', () => {
  it.each<[string, List, number[][]]>([
    [
      'are asked for in pairs where nothing is known of its length',
      { total: 514 },
      [[0], [100, 200], [300], [400], [500], [600], [514]],
    ],
    [
      'are asked for all at once where so many are expected, as soon as the first has come full',
      { total: 514, expected: 514 },
      [[0], [100, 200, 300, 400, 500], [], [], [], [], [514]],
    ],
    [
      'are five at a time at most',
      { total: 900, expected: 900 },
      [[0], [100, 200, 300, 400, 500], [600], [700], [800], [], [], [], [], [900]],
    ],
    [
      'are asked for in pairs again where the list is longer than expected',
      { total: 750, expected: 250 },
      [[0], [100, 200], [], [300, 400], [500], [600], [700], [800], [750]],
    ],
    [
      'are asked for in vain four times at most where it is shorter',
      { total: 120, expected: 5000 },
      [[0], [100, 200, 300, 400, 500], [120]],
    ],
    [
      'are asked for before their turn no more once one was passed over',
      { total: 900, expected: 900, shortAt: 100 },
      [[0], [100, 200, 300, 400, 500], [160], [260], [360], [460], [560], [660], [760], [860], [900]],
    ],
    [
      'count as full where one is as long as the one before',
      { total: 150, expected: 150, cap: 40 },
      [[0], [40], [80, 120], [], [150]],
    ],
    [
      'are asked for once more in their turn where they fail before it, and no more before theirs',
      { total: 900, expected: 900, failsFrom: 300 },
      [[0], [100, 200, 300, 400, 500], [600], [700, 300], [400], [500], [600], [700], [800], [900]],
    ],
  ])('%s', async (_, list, steps) => {
    expect(await walk(list)).toEqual(steps);
  });

  it.each([
    ['behind the end', 0],
    ['passed over', 1],
  ])('are waited for in the end, also those asked for in vain: %s', async (_, further) => {
    let come: (page: null) => void = () => undefined;
    const pages = new NextPages<number>({
      pageSize: 100,
      expected: 0,
      fetch: async () => 100,
      fetchEarly: () => new Promise((resolve) => (come = resolve)),
      unused: () => undefined,
    });
    await pages.at(0, 0);
    await pages.at(100, 100);
    if (further > 0) await pages.at(250, 50);
    let settled = false;
    const settling = pages.settle().then(() => (settled = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(false);
    come(null);
    await settling;
  });
});
