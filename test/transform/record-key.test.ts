/** The fingerprint of a key identifies the row of a record, and a record without a usable key has none. */

import { expect, it } from 'vitest';
import { kindOf } from '../../src/kinds/kinds.ts';
import { keyPlaces } from '../../src/project/declaration.ts';
import { type Fingerprint, FingerprintHash } from '../../src/kinds/fingerprints.ts';
import { voters } from '../support/bundled.ts';
import { pageOf, voterRecord } from '../support/pages.ts';
import { recordJson, transform } from './support.ts';

const places = keyPlaces(voters);

/** Fingerprints of the keys of records, mixed column by column like in the transformation. */
function printsOf(data: unknown): Fingerprint[] {
  const page = pageOf(voters, data);
  const columns = voters.key.map((name) => kindOf(voters.columns[name]).newColumn(page.records.length));
  const hash = new FingerprintHash();
  return Array.from({ length: page.records.length }, (_, row) => {
    const into = { high: row, low: -row };
    hash.begin();
    for (const [index, column] of columns.entries()) {
      if (column.fill(page, row, places[index]!, row) !== 0) throw new Error('the key is not usable');
      column.mix(row, hash);
    }
    hash.finish(into);
    return into;
  });
}

it.each(['IdDapil', 'TahunPemilu', 'NamaKabupaten', 'JenisPemilu'])('depends on %s in each half', (field) => {
  const prints = printsOf(Array.from({ length: 1000 }, (_, place) => voterRecord({ [field]: String(place) })));
  // Of 1,000 values in 32 bits, hardly any are equal by chance.
  expect(new Set(prints.map(({ high }) => high)).size).toBeGreaterThan(995);
  expect(new Set(prints.map(({ low }) => low)).size).toBeGreaterThan(995);
});

it('ignores other fields and how the key is written, so that such records share a row', () => {
  const alike = [
    ...['"1101"', '1101', '"01101"', '"\\u0031101"'].map((json) => recordJson('IdDapil', json)),
    ...['"ACEH BARAT"', '"\\u0041CEH BARAT"'].map((json) => recordJson('NamaKabupaten', json)),
    JSON.stringify(voterRecord({ NamaDapil: 'another', JumlahSeluruhPemilih: undefined })),
  ];
  const [first, ...others] = printsOf(`[${alike.join(',')}]`);
  for (const other of others) expect(other).toEqual(first);
  const { rows, quarantined } = transform(`[${alike.join(',')}]`);
  expect(rows).toHaveLength(1);
  expect(new Set(quarantined.map(({ reason }) => reason))).toEqual(new Set(['same key, other values']));
});

it.each([
  ['IdDapil', undefined, 'is missing'],
  ['IdDapil', 'null', 'is null'],
  ['IdDapil', '""', 'is empty'],
  ['IdDapil', '"x"', 'is not a whole number'],
  ['IdDapil', '-1', 'is not a whole number'],
  ['TahunPemilu', '2147483648', 'is not between 0 and 2147483647'],
  ['NamaKabupaten', undefined, 'is missing'],
  ['NamaKabupaten', '""', 'is empty'],
  ['NamaProvinsi', '5', 'is not valid text'],
  ['JenisPemilu', '["DPR-RI"]', 'is not valid text'],
  ['NamaKabupaten', '"A\\ud800"', 'is not valid text'],
])('quarantines a record whose %s is %s', (field, json, reason) => {
  const data = json === undefined ? [voterRecord({ [field]: undefined })] : `[${recordJson(field, json)}]`;
  const { rows, quarantined } = transform(data);
  expect(rows).toEqual([]);
  expect(quarantined).toMatchObject([{ reason: expect.stringContaining(field) }]);
  expect(quarantined[0]!.reason).toContain(reason);
});
