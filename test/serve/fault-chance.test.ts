/** Chance in the fault kit: the same seed gives the same answers in whatever order they are asked for, and another one others. */

import { describe, expect, it } from 'vitest';
import { Chance } from '../../src/serve/faults/chance.ts';
import type { FaultName, FaultValues } from '../../src/serve/faults/fault-list.ts';
import type { Service } from '../../src/serve/service.ts';
import { manualClock } from '../support/manual-clock.ts';
import { serveBadly, start } from './support.ts';

describe('chance', () => {
  const values: FaultValues = { shuffle: 0.3, short: 0.3, restart: 0.3, 503: 0.2, html: 0.1, cut: 0.2, clamp: 6 };
  const queries = ['', '?limit=3', '?offset=7', '?limit=20&offset=4', '?id_dapil=12&limit=9', '?limit=8&offset=16'];
  const thrice = queries.flatMap((query) => [query, query, query]);

  /** What each query brought, in the order in which the same one was asked for again. */
  async function answersOf(
    seed: number,
    asked: readonly string[],
    inParallel: boolean,
  ): Promise<Record<string, string[]>> {
    const { get } = await serveBadly(values, seed);
    const read = async (query: string): Promise<string> => {
      const response = await get(query);
      return `${response.status} ${response.headers.get('x-rekap-fault')} ${await response.text()}`;
    };
    const answers = new Map<string, string[]>(queries.map((query) => [query, []]));
    if (inParallel) {
      // The same query is not asked for twice at a time: which of the two would be the first is not the client's to know.
      await Promise.all(
        queries.map(async (query) => {
          for (const each of asked) if (each === query) answers.get(query)!.push(await read(query));
        }),
      );
    } else for (const query of asked) answers.get(query)!.push(await read(query));
    return Object.fromEntries(answers);
  }

  it('gives the same answers for the same seed, in whatever order they are asked for', async () => {
    const first = await answersOf(4, thrice, false);
    expect(await answersOf(4, thrice.toReversed(), false)).toEqual(first);
    expect(await answersOf(4, thrice, true)).toEqual(first);
  });

  it('gives other answers for another seed', async () => {
    expect(await answersOf(5, thrice, false)).not.toEqual(await answersOf(4, thrice, false));
  });

  it('is drawn anew when the same is asked again, so that faults pass', async () => {
    const { get } = await serveBadly({ 503: 0.5 });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 16; attempt += 1) statuses.push((await get()).status);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
  });

  it('goes by what is asked for, not by how the URL is spelled', async () => {
    const spellings = ['?limit=10&offset=5', '?offset=5', '?offset=005&limit=10'];
    const bodies = await Promise.all(
      spellings.map(async (query) => (await (await serveBadly({ shuffle: 1 })).get(query)).text()),
    );
    expect(new Set(bodies).size).toBe(1);
  });

  it('strikes about as often as the rate says, each fault by itself', () => {
    const chances = Array.from(
      { length: 2000 },
      (_, turn) => new Chance({ values: { 503: 0.1, cut: 0.1 }, seed: 9 }, 'x', turn),
    );
    const struck = (name: FaultName): number => chances.filter((chance) => chance.strikes(name)).length;
    expect(struck('503') / 2000).toBeCloseTo(0.1, 1);
    expect(struck('cut') / 2000).toBeCloseTo(0.1, 1);
    expect(chances.filter((chance) => chance.strikes('503') && chance.strikes('cut')).length / 2000).toBeCloseTo(
      0.01,
      1,
    );
    expect(struck('drop')).toBe(0);
  });
});

describe('the settings', () => {
  it.each<[Partial<Record<FaultName, number>>, number, string]>([
    [{ stall: 1.1 }, 1, 'The fault stall cannot have the value "1.1".'],
    [{ 429: -0.1 }, 1, 'The fault 429 cannot have the value "-0.1".'],
    [{ cut: Number.NaN }, 1, 'The fault cut cannot have the value "NaN".'],
    [{ clamp: 0 }, 1, 'The fault clamp cannot have the value "0".'],
    [{ clamp: 2.5 }, 1, 'The fault clamp cannot have the value "2.5".'],
    [{ drop: 0.1 }, -1, 'The seed of the faults is -1.'],
    [{ drop: 0.1 }, 0.5, 'The seed of the faults is 0.5.'],
  ])('%j with seed %d are refused before the service starts', async (values, seed, message) => {
    const starting: Promise<Service> = start({ faults: { values, seed, clock: manualClock() } });
    await expect(starting).rejects.toThrow(message);
    await expect(starting).rejects.toMatchObject({ code: 'usage' });
  });
});
