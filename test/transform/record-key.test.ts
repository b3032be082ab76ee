/** The fingerprint of a key says which row of the table a record would be, and nothing else; a record without a usable key says why. */

import { describe, expect, it } from 'vitest';
import { kindOf } from '../../src/kinds/kinds.ts';
import { keyPlaces } from '../../src/project/declaration.ts';
import { begin, type Fingerprint } from '../../src/kinds/fingerprints.ts';
import { voters } from '../support/bundled.ts';
import { pageOf, voterRecord } from '../support/pages.ts';
import { recordJson, transform } from './support.ts';

const places = keyPlaces(voters);

/** Fingerprints of the keys of an answer's records, each mixed column by column as the transformation does. */
function printsOf(data: unknown): Fingerprint[] {
  const page = pageOf(voters, data);
  const columns = voters.key.map((name) => kindOf(voters.columns[name]).newColumn(page.records.length));
  return Array.from({ length: page.records.length }, (_, row) => {
    const into = { high: row, low: -row };
    begin(into);
    for (const [index, column] of columns.entries()) {
      expect(column.fill(page, row, places[index]!, row)).toBe(0);
      column.mix(row, into);
    }
    return into;
  });
}

describe('the fingerprint of a key', () => {
  it.each(['IdDapil', 'TahunPemilu', 'NamaKabupaten', 'JenisPemilu'])(
    'tells keys apart by %s, in each of its halves',
    (field) => {
      const prints = printsOf(Array.from({ length: 2000 }, (_, place) => voterRecord({ [field]: String(place) })));
      // Of 2,000 values in 32 bits hardly any meet by chance; a half that says nothing would show at once.
      expect(new Set(prints.map(({ high }) => high)).size).toBeGreaterThan(1990);
      expect(new Set(prints.map(({ low }) => low)).size).toBeGreaterThan(1990);
    },
  );

  const alike = [
    ...['"1101"', '1101', '"01101"', '"\\u0031101"'].map((json) => recordJson('IdDapil', json)),
    ...['"ACEH BARAT"', '"\\u0041CEH BARAT"'].map((json) => recordJson('NamaKabupaten', json)),
    JSON.stringify(voterRecord({ NamaDapil: 'another', JumlahSeluruhPemilih: undefined })),
  ];

  it('is that of the key as it is published, whatever else the record says and however the key is written', () => {
    const [first, ...others] = printsOf(`[${alike.join(',')}]`);
    for (const other of others) expect(other).toEqual(first);
  });

  it('gives records of one key one row', () => {
    const { rows, quarantined } = transform(`[${alike.join(',')}]`);
    expect(rows).toHaveLength(1);
    expect(new Set(quarantined.map(({ reason }) => reason))).toEqual(new Set(['same key, other values']));
  });
});

describe('a record has no row', () => {
  const noNumber = 'is not a whole number in digits, or is more than 2147483647';

  it.each([
    ['IdDapil', undefined, 'is missing'],
    ['IdDapil', 'null', 'is null'],
    ['IdDapil', '""', 'is empty'],
    ['IdDapil', '"x"', noNumber],
    ['IdDapil', '-1', noNumber],
    ['TahunPemilu', '2147483648', noNumber],
    ['TahunPemilu', 'true', noNumber],
    ['NamaKabupaten', undefined, 'is missing'],
    ['NamaKabupaten', 'null', 'is null'],
    ['NamaKabupaten', '""', 'is empty'],
    ['NamaProvinsi', '5', 'is not text'],
    ['JenisPemilu', '["DPR-RI"]', 'is not text'],
  ])('where its %s is %s, and the quarantine says why', (field, json, reason) => {
    const data = json === undefined ? [voterRecord({ [field]: undefined })] : `[${recordJson(field, json)}]`;
    const { rows, quarantined } = transform(data);
    expect(rows).toEqual([]);
    expect(quarantined.map((each) => each.reason)).toEqual([`${field} ${reason}`]);
  });

  it('where it is not an object', () => {
    expect(transform([5]).quarantined.map(({ reason }) => reason)).toEqual(['not an object']);
  });
});
