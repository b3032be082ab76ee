/** Fingerprints depend on every bit, and a table of them returns what a Map would, however large it is. */

import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { FingerprintHash, FingerprintTable, type Fingerprint } from '../../src/kinds/fingerprints.ts';
import { holds } from '../support/properties.ts';

/** Few values, so that many fingerprints agree in one half and differ in the other. */
const half = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));

holds(
  'returns the number that each fingerprint was first inserted with',
  fc.property(
    fc.array(fc.record({ high: half, low: half, number: fc.integer({ min: 1, max: 5 }) }), {
      maxLength: 300,
      size: 'max',
    }),
    (inserts) => {
      const table = new FingerprintTable();
      const map = new Map<string, number>();
      const found = inserts.map((print) => [table.has(print), table.insert(print, print.number)]);
      const expected = inserts.map(({ high, low, number }) => {
        const before = map.get(`${high} ${low}`);
        map.set(`${high} ${low}`, before ?? number);
        return [before !== undefined, before ?? 0];
      });
      expect(found).toEqual(expected);
      expect([table.size, inserts.every((print) => table.has(print))]).toEqual([map.size, true]);
    },
  ),
  { runs: 50 },
);

it('stores the fingerprint of zeros, and ignores how a half is signed', () => {
  const table = new FingerprintTable();
  expect(table.has({ high: 0, low: 0 })).toBe(false);
  expect([table.insert({ high: 0, low: 0 }, 1), table.insert({ high: 0, low: 0 }, 2)]).toEqual([0, 1]);
  table.insert({ high: -1, low: -(2 ** 31) }, 3);
  expect(table.insert({ high: 2 ** 32 - 1, low: 2 ** 31 }, 4)).toBe(3);
});

it('keeps 60,000 members while it grows', () => {
  const table = new FingerprintTable();
  const members = Array.from({ length: 60_000 }, (_, n): Fingerprint => ({ high: n % 300, low: Math.floor(n / 300) }));
  expect(members.filter((print, n) => table.insert(print, n + 1) !== 0)).toEqual([]);
  expect(members.filter((print, n) => table.insert(print, 1) !== n + 1)).toEqual([]);
  expect(table.size).toBe(60_000);
});

function printOf(value: Uint8Array, hash = new FingerprintHash()): Fingerprint {
  const into = { high: 0, low: 0 };
  hash.begin();
  hash.add(1, value, 0, value.length);
  hash.finish(into);
  return into;
}

it.each(['high', 'low'] as const)('flips half of the bits of its %s half if one bit of a value flips', (side) => {
  const values = Array.from({ length: 300 }, (_, n) => Buffer.from(`${1_000_000_000 + n * 7919}`));
  const bitsOf = (word: number) => (word >>> 0).toString(2).replaceAll('0', '').length;
  const means = Array.from({ length: 80 }, (_, bit) => {
    const flips = values.map((value) => {
      const changed = Buffer.from(value);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      return bitsOf(printOf(value)[side] ^ printOf(changed)[side]);
    });
    return flips.reduce((sum, flipped) => sum + flipped, 0) / values.length;
  });
  expect(means.filter((mean) => Math.abs(mean - 16) > 1.5)).toEqual([]);
});

it('differs between processes, so a source cannot choose values with the same fingerprint', async () => {
  vi.resetModules();
  const other = await import('../../src/kinds/fingerprints.ts');
  const value = Buffer.from('1101');
  expect(printOf(value, new other.FingerprintHash())).not.toEqual(printOf(value));
});
