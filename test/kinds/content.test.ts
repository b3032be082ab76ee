/** Two lists have the same content only if they have the same records, in any order. */

import { expect, it } from 'vitest';
import { ContentHash, PassDigest } from '../../src/kinds/content.ts';
import { voters } from '../support/bundled.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

const key = '0123456789abcdef';

function contentOf(records: readonly unknown[], contents = new ContentHash(key)): string {
  const page = pageOf(voters, records);
  const digest = new PassDigest(contents);
  for (let row = 0; row < page.records.length; row += 1) digest.add(contents.of(page, row));
  return digest.content;
}

const named = (names: string, people = '1') =>
  Array.from(names, (name) => voterRecord({ NamaKabupaten: name, JumlahSeluruhPemilih: people }));

it('ignores the order, but not a record, a repeat or a value', () => {
  const content = contentOf(named('abcd'));
  expect(contentOf(named('dcab'))).toBe(content);
  for (const changed of [named('abce'), named('abc'), named('abcdd'), named('abcd', '2')])
    expect(contentOf(changed)).not.toBe(content);
  // Hashes that are linear in the last value would cancel in the sum.
  const last = Object.values(voters.columns).at(-1)!.field;
  const pair = (first: number, second: number) =>
    contentOf([
      voterRecord({ NamaKabupaten: 'a', [last]: first }),
      voterRecord({ NamaKabupaten: 'b', [last]: second }),
    ]);
  expect(pair(1, 2)).not.toBe(pair(2, 1));
});

it('contains the key, the number of records, and a sum that depends on the key', () => {
  const [one, other] = [key, 'fedcba9876543210'].map((each) =>
    contentOf(named('ab'), new ContentHash(each)).split('-'),
  );
  expect([one, other].map((parts) => parts!.slice(0, 2))).toEqual([
    [key, '2'],
    ['fedcba9876543210', '2'],
  ]);
  expect(one![2]).not.toBe(other![2]);
});

it('adds the first 128 bits of each hash exactly, for more than two million records', () => {
  const digest = new PassDigest({ key });
  const hash = Buffer.from('fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0aa', 'hex');
  const records = 2 ** 21 + 3;
  for (let record = 0; record < records; record += 1) digest.add(hash.toString('latin1'));
  const sum = BigInt(`0x${hash.toString('hex', 0, 16)}`) * BigInt(records);
  expect(digest.content).toBe(`${key}-200003-${sum.toString(16)}`);
});
