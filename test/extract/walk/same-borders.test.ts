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

/** Pages of `cap` at most, and from `at` on they begin so many records too late, once or at each border. */
function skipping(cap: number, { at = cap, by = 1, each = false }) {
  return ({ offset, limit }: PageRequest): Partial<PageRequest> => ({
    offset: offset + by * (each ? Math.floor(offset / at) : Number(offset >= at)),
    limit: Math.min(cap, limit),
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
  const caps = fc.integer({ min: 2, max: 20 });
  const skips = fc.record({ by: fc.integer({ min: 1, max: 3 }), each: fc.boolean(), isShifted: fc.boolean() });

  holds(
    'is never published as if it were not there, whatever the districts, the pages and the skip',
    fc.asyncProperty(sizes, caps, skips, async (lengths, cap, { by, each, isShifted }) => {
      const records = recordsOf(Object.fromEntries(lengths.map((length, place) => [1101 + place, length])));
      const skip = skipping(cap, { at: isShifted ? cap + 1 : cap, by, each });
      const { lost } = await lostBy(twisted(records, skip), records);
      expect(lost).toEqual([]);
    }),
    { runs },
  );
});
