/** Fingerprints tell records apart by their key, all of it and nothing else, however many there are. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { voters } from '../../support/bundled.ts';
import { PassDigest, KeyOccurrences, RecordReader } from '../../../src/extract/prove.ts';
import { sliceRecords } from '../../../src/source/decode/record-index-builder.ts';
import { fingerprintContent, fingerprintRecord, FingerprintTable } from '../../../src/kinds/fingerprints.ts';
import { pageOf, voterRecord } from '../../support/pages.ts';
import { holds } from '../../support/properties.ts';

/** Which of these records have a key that none before had, and how many keys there are. */
function tally(records: readonly unknown[]): { news: boolean[]; distinct: number } {
  const page = pageOf(voters, records);
  const reader = new RecordReader(voters);
  const met = new FingerprintTable();
  const news = records.map((_, row) => {
    reader.read(page, row);
    return met.insert(reader.key, 1) === 0;
  });
  return { news, distinct: met.size };
}

const keyFields = voters.key.map((column) => voters.columns[column].field);

describe('a key', () => {
  it('is the same, whatever the counts beside it and the order of the fields', () => {
    const turned = Object.fromEntries(Object.entries(voterRecord()).toReversed());
    const counts = voterRecord({
      JumlahSeluruhPemilih: '1',
      JumlahTotalPemilihLakiLaki: undefined,
      NamaDapil: 'other',
    });
    expect(tally([voterRecord(), counts, turned, voterRecord()])).toEqual({
      news: [true, false, false, false],
      distinct: 1,
    });
  });

  it('and its values are the same, however their texts are escaped', () => {
    const plain = JSON.stringify(voterRecord({ NamaKabupaten: 'ACEH/BÉ', NamaDapil: 'ACEH "I"' }));
    const escaped = plain.replace('ACEH/BÉ', '\\u0041CEH\\/B\\u00c9').replace('ACEH \\"I\\"', 'ACEH \\u0022I\\u0022');
    expect(JSON.parse(escaped)).toEqual(JSON.parse(plain));
    const page = pageOf(voters, `[${plain},${escaped}]`);
    const contents = [0, 1].map((row) => {
      const [key, content] = [
        { high: 0, low: 0 },
        { high: 0, low: 0 },
      ];
      fingerprintRecord(page, row, [0], key);
      fingerprintContent(page, row, key, [...voters.key.keys(), 3, 4, 5], content);
      return content;
    });
    expect(contents[0]).toEqual(contents[1]);
  });

  it.each(keyFields)('tells records apart by %s', (field) => {
    expect(tally([voterRecord(), voterRecord({ [field]: '9' })]).distinct).toBe(2);
  });

  it.each([
    ['AB', 'C', 'A', 'BC'],
    ['', 'ABC', 'ABC', ''],
    ['ACEH', 'ACEH BARAT', 'ACEHACEH', ' BARAT'],
  ])('tells ("%s", "%s") from ("%s", "%s")', (province, regency, otherProvince, otherRegency) => {
    const one = voterRecord({ NamaProvinsi: province, NamaKabupaten: regency });
    const other = voterRecord({ NamaProvinsi: otherProvince, NamaKabupaten: otherRegency });
    expect(tally([one, other]).distinct).toBe(2);
  });

  holds(
    'tells a key apart wherever the boundary between its names stands',
    fc.property(fc.string({ minLength: 1, maxLength: 12 }), fc.nat(12), fc.nat(12), (text, first, second) => {
      const cuts = [first, second].map((cut) => cut % (text.length + 1));
      const records = cuts.map((cut) =>
        voterRecord({ NamaProvinsi: text.slice(0, cut), NamaKabupaten: text.slice(cut) }),
      );
      expect(tally(records).distinct).toBe(new Set(cuts).size);
    }),
    { runs: 1000 },
  );

  it('goes by the whole record where a part of the key is missing', () => {
    const keyless = (overrides: object): object => voterRecord({ NamaKabupaten: undefined, ...overrides });
    expect(tally([keyless({}), keyless({ JumlahSeluruhPemilih: '1' }), keyless({})]).news).toEqual([true, true, false]);
  });

  it('goes by the whole text of what is no record', () => {
    expect(tally(['A', 'B', 'A', 12, null, [], null]).news).toEqual([true, true, false, true, true, true, false]);
  });

  it('keeps 60,000 keys of a nation apart', () => {
    const years = ['2014', '2019', '2024'];
    const names = ['ACEH', 'ACEH BARAT', 'KOTA', 'KOTA BARAT', 'KEPULAUAN RIAU'];
    const records = years.flatMap((TahunPemilu) =>
      Array.from({ length: 80 }, (_, partition) => 1101 + partition).flatMap((partition) =>
        names.flatMap((province) =>
          Array.from({ length: 50 }, (_, place) => ({
            TahunPemilu,
            JenisPemilu: 'DPR-RI',
            IdDapil: String(partition),
            NamaProvinsi: province,
            NamaKabupaten: `${names[place % 5]} ${Math.floor(place / 5)}`,
          })),
        ),
      ),
    );
    expect(records).toHaveLength(60_000);
    expect(tally([...records, ...records])).toMatchObject({ distinct: 60_000 });
  });
});

describe('what two readings are compared by', () => {
  const accountOf = (names: string, people = '1') => {
    const account = new PassDigest();
    const reader = new RecordReader(voters);
    const page = pageOf(
      voters,
      Array.from(names, (name) => voterRecord({ NamaKabupaten: name, JumlahSeluruhPemilih: people })),
    );
    for (let row = 0; row < page.records.length; row += 1) {
      reader.read(page, row);
      account.add(reader.content);
    }
    return account.content;
  };

  it('is the same in any order, and another for another record, number of records or value', () => {
    expect(accountOf('abcd')).toBe(accountOf('dcab'));
    for (const other of [accountOf('abce'), accountOf('abc'), accountOf('abcdd'), accountOf('abcd', '2')])
      expect(accountOf('abcd')).not.toBe(other);
  });

  it('tells a record that comes twice from one that comes once', () => {
    const [once, twice] = [new KeyOccurrences(), new KeyOccurrences()];
    const key = { high: 1, low: 2 };
    const first = { ...once.add(key) };
    expect({ ...twice.add(key) }).toEqual(first);
    const second = { ...twice.add(key) };
    expect([once.has(first), once.has(second), twice.has(second)]).toEqual([true, false, true]);
  });
});

it('a slice of a page has the same records, whatever they are', () => {
  const page = pageOf(voters, [
    'a',
    voterRecord({ NamaKabupaten: 'b', NamaDapil: null, IdDapil: 7 }),
    12,
    voterRecord(),
  ]);
  const slice = sliceRecords(page, 1, 2).records;
  expect(slice.length).toBe(2);
  const { records } = page;
  for (const part of ['recordStart', 'recordEnd', 'isObject'] as const)
    expect([...slice[part]]).toEqual([...records[part].subarray(1, 3)]);
  for (const part of ['fieldStart', 'fieldEnd', 'fieldKind'] as const)
    expect([...slice[part]]).toEqual([...records[part].subarray(records.width, 3 * records.width)]);
  expect(sliceRecords(page, 0, 4)).toBe(page);
});
