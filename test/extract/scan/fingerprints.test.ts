/** Fingerprints tell records apart by their key, all of it and nothing else, however many there are. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { voters } from '../../../pipelines/voters.ts';
import { fingerprintContent, fingerprintRecord, type Fingerprint } from '../../../src/extract/scan/fingerprints.ts';
import { Tally } from '../../../src/extract/walk/tally.ts';
import { pageOf, voterRecord } from '../../support/pages.ts';
import { holds } from '../../support/properties.ts';

/** What a tally makes of these records, one after another. */
function tally(records: readonly unknown[]): { news: boolean[]; distinct: number; total: number } {
  const counted = new Tally(voters);
  const page = pageOf(voters, records);
  const news = records.map((_, row) => counted.add(page, row));
  return { news, distinct: counted.distinct, total: counted.total };
}

const keyFields = voters.key.map((column) => voters.columns[column].field);

describe('Tally', () => {
  it('counts a key once, whatever the counts beside it and the order of the fields', () => {
    const turned = Object.fromEntries(Object.entries(voterRecord()).toReversed());
    const counts = voterRecord({
      JumlahSeluruhPemilih: '1',
      JumlahTotalPemilihLakiLaki: undefined,
      NamaDapil: 'other',
    });
    expect(tally([voterRecord(), counts, turned, voterRecord()])).toEqual({
      news: [true, false, false, false],
      distinct: 1,
      total: 4,
    });
  });

  it('counts a key and its values once, however their texts are escaped', () => {
    const plain = JSON.stringify(voterRecord({ NamaKabupaten: 'ACEH/BÉ', NamaDapil: 'ACEH "I"' }));
    const escaped = plain.replace('ACEH/BÉ', '\\u0041CEH\\/B\\u00c9').replace('ACEH \\"I\\"', 'ACEH \\u0022I\\u0022');
    expect(JSON.parse(escaped)).toEqual(JSON.parse(plain));
    const page = pageOf(voters, `[${plain},${escaped}]`);
    const counted = new Tally(voters);
    expect([0, 1].map((row) => counted.add(page, row))).toEqual([true, false]);
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
      Array.from({ length: 80 }, (_, district) => 1101 + district).flatMap((dapil) =>
        names.flatMap((province) =>
          Array.from({ length: 50 }, (_, place) => ({
            TahunPemilu,
            JenisPemilu: 'DPR-RI',
            IdDapil: String(dapil),
            NamaProvinsi: province,
            NamaKabupaten: `${names[place % 5]} ${Math.floor(place / 5)}`,
          })),
        ),
      ),
    );
    expect(records).toHaveLength(60_000);
    expect(tally([...records, ...records])).toMatchObject({ distinct: 60_000, total: 120_000 });
  });
});

describe('Tally over pages', () => {
  /** A tally of pages whose records are named by single letters. */
  function tallyOf(...pages: readonly string[]): Tally {
    const counted = new Tally(voters);
    for (const names of pages) {
      counted.beginPage();
      const page = pageOf(
        voters,
        names.split('').map((NamaKabupaten) => voterRecord({ NamaKabupaten })),
      );
      for (let row = 0; row < names.length; row += 1) counted.add(page, row);
    }
    return counted;
  }

  it('tells a record that two pages bring from one that stands twice in a page', () => {
    expect(tallyOf('abc', 'cd').overlaps).toBe(true);
    expect(tallyOf('abc', 'de', 'a').overlaps).toBe(true);
    expect(tallyOf('abbc', 'dd').overlaps).toBe(false);
    expect(tallyOf('abc', 'def').overlaps).toBe(false);
  });

  it('compares sets of records whatever their order, and orders whatever the pages', () => {
    expect(tallyOf('abc', 'd').set).toBe(tallyOf('dc', 'ab').set);
    expect(tallyOf('abc', 'd').set).not.toBe(tallyOf('abc', 'e').set);
    expect(tallyOf('abc', 'd').order).toBe(tallyOf('a', 'bcd').order);
    expect(tallyOf('abcd').order).not.toBe(tallyOf('abdc').order);
    expect(tallyOf('abbc').order).not.toBe(tallyOf('abcc').order);
  });

  it('tells districts apart whose names are the same but paired otherwise', () => {
    const set = (pairs: readonly (readonly [string, string])[]): string => {
      const counted = new Tally(voters);
      const records = pairs.map(([NamaProvinsi, NamaKabupaten]) => voterRecord({ NamaProvinsi, NamaKabupaten }));
      const page = pageOf(voters, records);
      counted.beginPage();
      for (let row = 0; row < records.length; row += 1) counted.add(page, row);
      return counted.set;
    };
    const provinces = Array.from({ length: 200 }, (_, place) => `PROVINSI ${place}`);
    const alike = provinces.slice(1).filter((province, place) => {
      const other = provinces[place]!;
      return (
        set([
          [province, 'KOTA A'],
          [other, 'KOTA B'],
        ]) ===
        set([
          [province, 'KOTA B'],
          [other, 'KOTA A'],
        ])
      );
    });
    expect(alike).toEqual([]);
  });
});

describe('fingerprintRecord', () => {
  const printOf = (record: unknown, from: Fingerprint): Fingerprint => {
    const into = { ...from };
    fingerprintRecord(pageOf(voters, [record]), 0, [0, 2, 5], into);
    return into;
  };

  it('depends on the record alone, not on the fingerprint written before', () => {
    expect(printOf(voterRecord(), { high: 0, low: 0 })).toEqual(printOf(voterRecord(), { high: 1, low: -1 }));
  });

  it('tells records apart by each of its halves alone', () => {
    const prints = Array.from({ length: 2000 }, (_, place) =>
      printOf(voterRecord({ IdDapil: String(place) }), { high: 0, low: 0 }),
    );
    // Of 2,000 values in 32 bits hardly any meet by chance; a half that says nothing would show at once.
    expect(new Set(prints.map(({ high }) => high)).size).toBeGreaterThan(1990);
    expect(new Set(prints.map(({ low }) => low)).size).toBeGreaterThan(1990);
  });
});

describe('fingerprintContent', () => {
  const keyNames: readonly string[] = voters.key;
  const others = Object.keys(voters.columns).flatMap((name, column) => (keyNames.includes(name) ? [] : [column]));
  const contentOf = (record: unknown, key: Fingerprint = { high: 1, low: 2 }): Fingerprint => {
    const into = { high: 3, low: 4 };
    fingerprintContent(pageOf(voters, [record]), 0, key, others, into);
    return into;
  };

  it.each(others.map((column) => Object.values(voters.columns)[column]!.field))(
    'depends on %s: its text, and whether it is a text',
    (field) => {
      const values = ['null', null, undefined, '', '1', '11', '12', '1234', '1235', '12345', '12346', '123456789'];
      const contents = values.map((value) => contentOf(voterRecord({ [field]: value })));
      expect(new Set(contents.map(({ high }) => high)).size).toBe(values.length);
      expect(new Set(contents.map(({ low }) => low)).size).toBe(values.length);
    },
  );

  it('depends on the kind of the key too, whose bytes may be alike', () => {
    const [asText, asNull] = [
      contentOf(voterRecord({ NamaProvinsi: 'null' })),
      contentOf(voterRecord({ NamaProvinsi: null })),
    ];
    expect(asText.high).not.toBe(asNull.high);
    expect(asText.low).not.toBe(asNull.low);
  });

  it('depends on the key, in each of its halves', () => {
    const record = voterRecord();
    expect(contentOf(record, { high: 1, low: 2 }).high).not.toBe(contentOf(record, { high: 9, low: 2 }).high);
    expect(contentOf(record, { high: 1, low: 2 }).low).not.toBe(contentOf(record, { high: 1, low: 9 }).low);
  });
});
