/** The fingerprint of a key says which row of the table a record would be, and nothing else. */

import { expect, it } from 'vitest';
import { voters } from '../../pipelines/voters.ts';
import type { Fingerprint } from '../../src/records/fingerprints.ts';
import { createKeyReader } from '../../src/transform/record-key.ts';
import { pageOf, voterRecord } from '../support/pages.ts';
import { recordJson } from './support.ts';

const reader = createKeyReader(voters);

/** Fingerprints of the records of an answer's `data`. */
function printsOf(data: unknown): Fingerprint[] {
  const page = pageOf(voters, data);
  return Array.from({ length: page.records.length }, (_, row) => {
    const into = { high: row, low: -row };
    reader.fingerprint(page, row, into);
    return into;
  });
}

it.each(['IdDapil', 'TahunPemilu', 'NamaKabupaten', 'JenisPemilu'])(
  'tells keys apart by %s, in each of its halves',
  (field) => {
    const prints = printsOf(Array.from({ length: 2000 }, (_, place) => voterRecord({ [field]: String(place) })));
    // Of 2,000 values in 32 bits hardly any meet by chance; a half that says nothing would show at once.
    expect(new Set(prints.map(({ high }) => high)).size).toBeGreaterThan(1990);
    expect(new Set(prints.map(({ low }) => low)).size).toBeGreaterThan(1990);
  },
);

it('is that of the key as it is published, whatever else the record says and however the key is written', () => {
  const alike = [
    ...['"1101"', '1101', '"01101"', '"\\u0031101"'].map((json) => recordJson('IdDapil', json)),
    ...['"ACEH BARAT"', '"\\u0041CEH BARAT"'].map((json) => recordJson('NamaKabupaten', json)),
    JSON.stringify(voterRecord({ NamaDapil: 'another', JumlahSeluruhPemilih: undefined })),
  ];
  const [first, ...others] = printsOf(`[${alike.join(',')}]`);
  for (const other of others) expect(other).toEqual(first);
});
