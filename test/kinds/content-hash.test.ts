/** Two records have the same hash only if they have the same values. */

import { expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { ContentHash } from '../../src/kinds/content.ts';
import { type Fingerprint, fingerprintBytes, fingerprintContent } from '../../src/kinds/fingerprints.ts';
import type { Page } from '../../src/stages.ts';
import { pageOf, voterRecord } from '../support/pages.ts';
import { dptMale, recordJson } from '../transform/support.ts';

function hashedBy(write: (page: Page, row: number, into: Fingerprint) => void): Hash {
  return (page, row) => {
    const into = { high: 0, low: 0 };
    write(page, row, into);
    return `${into.high} ${into.low}`;
  };
}

type Hash = (page: Page, row: number) => string;
const contents = new ContentHash('0123456789abcdef');
const byValues = { fingerprint: hashedBy(fingerprintContent), 'content hash': contents.of.bind(contents) };

/** The number of different hashes of these records. */
function hashes(records: readonly string[], hash: Hash): number {
  const page = pageOf(voters, `[${records.join(',')}]`);
  return new Set(records.map((_, row) => hash(page, row))).size;
}

it.each<[string, Hash]>([...Object.entries(byValues), ['fingerprint of bytes', hashedBy(fingerprintBytes)]])(
  'the %s differs among 100,000 texts',
  (_name, hash) => {
    // A hash of 32 bits would be the same for about one pair.
    const records = Array.from({ length: 100_000 }, (_, place) => {
      const mixed = Math.imul(place, 0x9e3779b1) >>> 0;
      return `{"${dptMale}":"${mixed.toString(36)}${place % 10}${(mixed ^ 0x5bd1e995).toString(36)}"}`;
    });
    expect(hashes(records, hash)).toBe(records.length);
  },
);

const record = voterRecord();
const turned = Object.fromEntries(Object.entries(record).toReversed());
const { NamaProvinsi, NamaKabupaten } = record;

it.each<[string, string[], number]>([
  [
    'differs between a number, a text, null, an empty text and a missing field',
    [
      ...['"5"', '5', '"null"', 'null', '""', '"true"', 'true', '[]', '"[]"'].map((json) => recordJson(dptMale, json)),
      JSON.stringify(voterRecord({ [dptMale]: undefined })),
    ],
    10,
  ],
  [
    'ignores escapes',
    ['"ACEH/BÉ"', '"ACEH\\/BÉ"', '"\\u0041CEH/B\\u00c9"'].map((json) => recordJson('NamaProvinsi', json)),
    1,
  ],
  [
    'reads escapes exactly',
    ['"ACEH/BÉ"', '"ACEH\\\\/BÉ"', '"ACEH/BE"'].map((json) => recordJson('NamaProvinsi', json)),
    3,
  ],
  [
    'ignores order, spaces and undeclared fields',
    [
      JSON.stringify(record),
      JSON.stringify(record, null, 2),
      JSON.stringify(turned),
      JSON.stringify({ ...record, Note: 'x' }),
    ],
    1,
  ],
  [
    'depends on which field has which value',
    [JSON.stringify(record), JSON.stringify({ ...record, NamaProvinsi: NamaKabupaten, NamaKabupaten: NamaProvinsi })],
    2,
  ],
  [
    'depends on where one field ends and the next begins',
    [
      ['A', 'BC'],
      ['AB', 'C'],
      ['ABC', ''],
      // The bytes between look like the kind of a text.
      ['AAAA\u0001\0\0\0BBBB', 'CCCC'],
      ['AAAA', 'BBBB\u0001\0\0\0CCCC'],
    ].map(([first, next]) => JSON.stringify({ ...record, NamaProvinsi: first, NamaKabupaten: next })),
    5,
  ],
  ['differs between items that are not objects', ['"A"', '12', 'null', '[]', '{}'], 5],
  [
    'reads long texts to their end, and forgets them',
    ['a', 'b'].flatMap((end) => [
      JSON.stringify({ ...record, NamaProvinsi: `${'x'.repeat(9000)}${end}` }),
      JSON.stringify(record),
    ]),
    3,
  ],
])('%s', (_what, records, different) => {
  for (const [name, hash] of Object.entries(byValues)) expect(hashes(records, hash), name).toBe(different);
});
