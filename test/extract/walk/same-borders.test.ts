/**
 * Sources that pass over records at the borders of their pages, in the list of all districts as in a district's own: where both have their
 * borders at the same places, both lack the same, and agree.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PageRequest } from '../../../src/stages.ts';
import { holds } from '../../support/properties.ts';
import { lostBy, recordsOf, twisted } from './lossy-source.ts';

const runs = 150;

/** Pages of `cap` at most, a district's own of `ownCap`; from `at` on they begin so many records too late, once or at each border. */
function skipping(cap: number, { at = cap, by = 1, each = false, ownCap = cap }) {
  return ({ dapil, offset, limit }: PageRequest): Partial<PageRequest> => ({
    offset: offset + by * (each ? Math.floor(offset / at) : Number(offset >= at)),
    limit: Math.min(dapil === null ? cap : ownCap, limit),
  });
}

describe('a record that both accounts pass over at a border of their pages', () => {
  it.each([
    ['where the list holds of its first district just a page', { 1101: 11, 1102: 8, 1201: 4, 1202: 9 }, {}],
    ['of several records', { 1101: 13, 1102: 8, 1201: 4, 1202: 9 }, { by: 3 }],
    ['at every border of the first district', { 1101: 34, 1102: 8 }, { each: true }],
    [
      'where every district begins a page of the list',
      { 1101: 11, 1102: 22, 1201: 11, 1202: 33 },
      { each: true, at: 10 },
    ],
  ])('is found, %s', async (_where, sizes, skip) => {
    const records = recordsOf(sizes);
    const { lost, verdicts } = await lostBy(twisted(records, skipping(10, skip)), records);
    expect(lost).toEqual([]);
    expect(verdicts).toHaveLength(Object.keys(sizes).length);
  });

  it('is found though a later reading has its borders where the list has them', async () => {
    const records = recordsOf({ 1101: 7, 1102: 3 });
    const { lost } = await lostBy(twisted(records, skipping(3, { at: 4, by: 3 })), records);
    expect(lost).toEqual([]);
  });

  it.each([
    ['half as long', { 1101: 12, 1102: 8, 1201: 4, 1202: 9 }, 10, { ownCap: 5 }],
    ['shorter, and the district begins further on', { 1101: 3, 1102: 12, 1201: 4 }, 10, { ownCap: 7, at: 7 }],
    ['longer', { 1101: 2, 1102: 12, 1201: 4 }, 3, { ownCap: 10, at: 10 }],
  ])('is found where the pages of a district are %s than the list has them', async (_pages, sizes, cap, skip) => {
    const records = recordsOf(sizes);
    expect((await lostBy(twisted(records, skipping(cap, skip)), records)).lost).toEqual([]);
  });

  it('is found where it has stood in an answer beyond what that counted for', async () => {
    const records = recordsOf({ 1101: 20, 1102: 8, 1201: 4 });
    const lacking = twisted(
      records.filter(({ dapil, regency }) => dapil !== 1101 || regency !== 'R7'),
      ({ limit }) => ({ limit: Math.min(10, limit) }),
    );
    const whole = twisted(records, ({ limit }) => ({ limit: Math.min(10, limit) }));
    const fetchPage: typeof whole.fetchPage = (pipeline, request) =>
      (request.dapil === 1101 && request.offset === 0 ? whole : lacking).fetchPage(pipeline, request);
    expect((await lostBy({ ...whole, fetchPage }, records)).lost).toEqual([]);
  });

  it('is found where it is a whole district that nothing else names, and the probe of the list has shown it', async () => {
    const records = recordsOf({ 9001: 7, 9002: 3, 9003: 1, 9004: 5 });
    const { verdicts } = await lostBy(twisted(records, skipping(10, {})), records, { reference: [] });
    expect(verdicts.map(({ dapil }) => dapil)).toContain(9003);
  });

  it('is found where the source takes no other limit than the usual one', async () => {
    const records = recordsOf({ 1: 15, 2: 8, 3: 1 });
    const source = twisted(records, skipping(10, {}));
    const limits = new Set<number>();
    const fetchPage: typeof source.fetchPage = (pipeline, request) => {
      limits.add(request.limit);
      return source.fetchPage(pipeline, request);
    };
    const { lost, proved } = await lostBy({ ...source, fetchPage }, records);
    expect(lost).toEqual([]);
    expect(proved).toContain(1);
    expect([...limits]).toEqual([100]);
  });

  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });
  const caps = fc.tuple(fc.integer({ min: 2, max: 20 }), fc.option(fc.integer({ min: 2, max: 20 })));
  const skips = fc.record({ by: fc.integer({ min: 1, max: 3 }), each: fc.boolean(), isShifted: fc.boolean() });

  holds(
    'is never published as if it were not there, whatever the districts, the pages and the skip',
    fc.asyncProperty(sizes, caps, skips, async (lengths, [cap, ownCap], { by, each, isShifted }) => {
      const records = recordsOf(Object.fromEntries(lengths.map((length, place) => [1101 + place, length])));
      // A skip at every border of a length that is not the pages' own may meet the same record in any pages.
      const isEach = each && ownCap === null;
      const skip = skipping(cap, { at: isShifted ? cap + 1 : cap, by, each: isEach, ownCap: ownCap ?? cap });
      const { lost } = await lostBy(twisted(records, skip), records);
      expect(lost).toEqual([]);
    }),
    { runs },
  );
});
