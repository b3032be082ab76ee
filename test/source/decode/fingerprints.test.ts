/** Fingerprints identify records by their whole key and nothing else, however many there are. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { voters } from '../../support/bundled.ts';
import { KeyOccurrences, RecordReader } from '../../../src/extract/prove.ts';
import { sliceRecords } from '../../../src/source/decode/record-index-builder.ts';
import { FingerprintTable } from '../../../src/kinds/fingerprints.ts';
import { pageOf, voterRecord } from '../../support/pages.ts';
import { holds } from '../../support/properties.ts';

/** True for each record whose key is new. */
function newKeys(records: readonly unknown[] | string): boolean[] {
  const page = pageOf(voters, records);
  const reader = new RecordReader(voters);
  const seen = new FingerprintTable();
  return Array.from({ length: page.records.length }, (_, row) => {
    reader.read(page, row);
    return seen.insert(reader.key, 1) === 0;
  });
}

const [one, other] = ['JumlahSeluruhPemilih', 'NamaDapil'];
const keyFields = voters.key.map((column) => voters.columns[column].field);
const keyless = (overrides = {}) => voterRecord({ NamaKabupaten: undefined, ...overrides });

describe('a key', () => {
  it.each<[string, unknown[], boolean[]]>([
    [
      'ignores other fields and the order of fields',
      [
        voterRecord(),
        voterRecord({ [one]: '1', [other]: undefined }),
        Object.fromEntries(Object.entries(voterRecord()).toReversed()),
      ],
      [true, false, false],
    ],
    [
      'contains every key column',
      [voterRecord(), ...keyFields.map((field) => voterRecord({ [field]: '9' }))],
      [true, ...keyFields.map(() => true)],
    ],
    [
      'is the whole record if a key column is missing',
      [keyless(), keyless({ [one]: '1' }), keyless()],
      [true, true, false],
    ],
    [
      'is the whole text of an item that is not an object',
      ['A', 'B', 'A', 12, null, [], null],
      [true, true, false, true, true, true, false],
    ],
  ])('%s', (_what, records, expected) => {
    expect(newKeys(records)).toEqual(expected);
  });

  it('is the same however texts are escaped', () => {
    const plain = JSON.stringify(voterRecord({ NamaKabupaten: 'ACEH/BÉ' }));
    const escaped = plain.replace('ACEH/BÉ', '\\u0041CEH\\/B\\u00c9');
    expect(newKeys(`[${plain},${escaped}]`)).toEqual([true, false]);
  });

  holds(
    'depends on where one name ends and the next begins',
    fc.property(fc.string({ minLength: 1, maxLength: 12 }), fc.nat(12), fc.nat(12), (text, first, second) => {
      const cuts = [first, second].map((cut) => cut % (text.length + 1));
      const records = cuts.map((cut) =>
        voterRecord({ NamaProvinsi: text.slice(0, cut), NamaKabupaten: text.slice(cut) }),
      );
      expect(newKeys(records)).toEqual([true, cuts[0] !== cuts[1]]);
    }),
    { runs: 100 },
  );
});

it('counts a repeated key as another record', () => {
  const [once, twice] = [new KeyOccurrences(), new KeyOccurrences()];
  const key = { high: 1, low: 2 };
  const first = { ...once.add(key) };
  expect({ ...twice.add(key) }).toEqual(first);
  const second = { ...twice.add(key) };
  expect([once.has(first), once.has(second), twice.has(second)]).toEqual([true, false, true]);
});

it('a slice of a page has the same records', () => {
  const named = voterRecord({ NamaKabupaten: 'b', NamaDapil: null, IdDapil: 7 });
  const page = pageOf(voters, ['a', named, 12, voterRecord()]);
  const { records } = page;
  const slice = sliceRecords(page, 1, 2).records;
  expect(slice.length).toBe(2);
  for (const part of ['recordStart', 'recordEnd', 'isObject'] as const)
    expect([...slice[part]]).toEqual([...records[part].subarray(1, 3)]);
  for (const part of ['fieldStart', 'fieldEnd', 'fieldKind'] as const)
    expect([...slice[part]]).toEqual([...records[part].subarray(records.width, 3 * records.width)]);
});
