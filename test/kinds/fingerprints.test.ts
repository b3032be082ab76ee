/** A table of fingerprints answers as a Map would, however it grows. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FingerprintTable, type Fingerprint } from '../../src/kinds/fingerprints.ts';
import { holds } from '../support/properties.ts';

/** Few values, so that many meet in one half and differ in the other. */
const half = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
const number = fc.integer({ min: 1, max: 5 });

holds(
  'says of each which number it got first',
  fc.property(fc.array(fc.tuple(half, half, number), { maxLength: 600, size: 'max' }), (meetings) => {
    const table = new FingerprintTable();
    const expected = new Map<string, number>();
    for (const [high, low, given] of meetings) {
      const name = `${high} ${low}`;
      expect(table.has({ high, low })).toBe(expected.has(name));
      expect(table.insert({ high, low }, given)).toBe(expected.get(name) ?? 0);
      if (!expected.has(name)) expected.set(name, given);
    }
    expect(table.size).toBe(expected.size);
    expect(meetings.every(([high, low]) => table.has({ high, low }))).toBe(true);
  }),
  { runs: 100 },
);

it('keeps the fingerprint of zeros, and takes both halves into account', () => {
  const table = new FingerprintTable();
  expect(table.has({ high: 0, low: 0 })).toBe(false);
  expect(table.insert({ high: 0, low: 0 }, 1)).toBe(0);
  expect(table.insert({ high: 0, low: 1 }, 2)).toBe(0);
  expect(table.insert({ high: 1, low: 0 }, 3)).toBe(0);
  expect(table.insert({ high: 0, low: 0 }, 4)).toBe(1);
});

it('takes the halves of a fingerprint for the same with a sign and without', () => {
  const table = new FingerprintTable();
  table.insert({ high: 2 ** 32 - 1, low: 2 ** 31 }, 1);
  expect(table.insert({ high: -1, low: -(2 ** 31) }, 2)).toBe(1);
});

it('keeps 60,000 members while it grows', () => {
  const table = new FingerprintTable();
  const members = Array.from({ length: 60_000 }, (_, n): Fingerprint => ({ high: n % 300, low: Math.floor(n / 300) }));
  expect(members.filter((print, n) => table.insert(print, n + 1) !== 0)).toEqual([]);
  expect(members.filter((print, n) => table.insert(print, 1) !== n + 1)).toEqual([]);
  expect(table.size).toBe(60_000);
});
