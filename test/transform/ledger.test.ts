/** Each record is counted once: published, in quarantine, or a duplicate. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { pageOf, voterRecord } from '../support/pages.ts';
import { dptMale, place, recordJson, transform } from './support.ts';
import { holds } from '../support/properties.ts';

const first = voterRecord();
const other = voterRecord({ [dptMale]: '1' });
const named = (NamaProvinsi: string, NamaKabupaten: string) => voterRecord({ NamaProvinsi, NamaKabupaten });
const jsons = (...records: readonly string[]): string => `[${records.join(',')}]`;

it.each<[string, unknown[], [published: number, quarantined: number, duplicates: number]]>([
  ['an identical record is a duplicate, on any page', [[first, first], [first]], [1, 0, 2]],
  ['a record with the same key and other values is quarantined', [[first, other]], [1, 1, 0]],
  ['a repeated conflicting record is a duplicate', [[first, other, other]], [1, 1, 1]],
  [
    'a number and the same digits as a text are different values',
    [jsons(recordJson(dptMale, '5'), recordJson(dptMale, '"5"'))],
    [1, 1, 0],
  ],
  [
    'a key with half a surrogate pair is not usable, and two halves are different records',
    [jsons(...['"A\\ud800"', '"A\\udfff"', '"A\\ud800"'].map((json) => recordJson('NamaKabupaten', json)))],
    [0, 2, 1],
  ],
  ['a key depends on where one text ends', [[named('AB', 'C'), named('A', 'BC')]], [2, 0, 0]],
  [
    'a key depends on each of its columns',
    [
      [
        first,
        ...['IdDapil', 'TahunPemilu', 'NamaKabupaten', 'JenisPemilu'].map((field) => voterRecord({ [field]: '7' })),
      ],
    ],
    [5, 0, 0],
  ],
  ['a text can contain a zero byte', [[named('A\0B', 'C'), named('A', 'B\0C')]], [2, 0, 0]],
  ['0 is valid in a key', [[voterRecord({ IdDapil: '0' }), voterRecord({ TahunPemilu: 0 })]], [2, 0, 0]],
])('%s', (_what, pages, [published, quarantined, duplicates]) => {
  const { totals } = transform(...pages);
  const fetched = published + quarantined + duplicates;
  expect(totals.ledger).toEqual({ fetched, published, quarantined, duplicates });
});

it('keeps the first of two records with one key, and reports the other', () => {
  const { rows, violations, quarantined } = transform([first, other]);
  expect(rows).toMatchObject([{ dpt_male: 70_800 }]);
  expect(violations).toMatchObject([{ place, check_name: 'conflicting_records', severity: 'error' }]);
  expect(quarantined).toMatchObject([{ dataset: 'voters', record: JSON.stringify(other) }]);
});

it('compares every value of two records with one key', () => {
  const values = Object.entries(voters.columns).filter(([name]) => !voters.key.some((key) => key === name));
  for (const [name, { field }] of values)
    expect(transform([first, voterRecord({ [field]: '3' })]).totals.ledger, name).toMatchObject({ quarantined: 1 });
});

it('quarantines what has no usable key, byte for byte, with its request', () => {
  const spaced = '{ "IdDapil" : 9007199254740993 ,"x":0.10000000000000000001}';
  const keyless = recordJson('NamaKabupaten', '""');
  const records = ['5', '9007199254740993', '1e400', '"ACEH"', 'true', 'null', '[1, 2]', '{}', spaced, keyless];
  const { rows, quarantined, violations } = transform(`[${records.join(', ')}]`);
  expect([rows, violations]).toEqual([[], []]);
  expect(quarantined.map(({ record }) => record)).toEqual(records);
  expect(quarantined[0]!.reason).toBe('not an object');
  for (const { request } of quarantined) expect(request).toBe('/api/datapemilihdpr?id_dapil=1101&limit=20&offset=40');
});

it('ignores other fields and how the key is written, so that such records share a row', () => {
  const alike = [
    ...['"1101"', '1101', '"01101"', '"\\u0031101"'].map((json) => recordJson('IdDapil', json)),
    ...['"ACEH BARAT"', '"\\u0041CEH BARAT"'].map((json) => recordJson('NamaKabupaten', json)),
    JSON.stringify(voterRecord({ NamaDapil: 'another', JumlahSeluruhPemilih: undefined })),
  ];
  const { rows, quarantined } = transform(jsons(...alike));
  expect(rows).toHaveLength(1);
  expect(new Set(quarantined.map(({ reason }) => reason))).toEqual(new Set(['same key, other values']));
});

it.each([
  ['IdDapil', undefined, 'is missing'],
  ['IdDapil', 'null', 'is null'],
  ['IdDapil', '"x"', 'is not a whole number'],
  ['TahunPemilu', '2147483648', 'is not between 0 and 2147483647'],
  ['NamaKabupaten', '""', 'is empty'],
  ['JenisPemilu', '["DPR-RI"]', 'is not valid text'],
])('quarantines a record whose %s is %s', (field, json, reason) => {
  const data = json === undefined ? [voterRecord({ [field]: undefined })] : jsons(recordJson(field, json));
  const { rows, quarantined } = transform(data);
  expect(rows).toEqual([]);
  expect(quarantined).toMatchObject([{ reason: expect.stringMatching(`${field}.*${reason}`) }]);
});

it('reports each quarantined record once, in batches of limited size', () => {
  const whole = JSON.stringify(voterRecord({ NamaKabupaten: '#' }));
  const records = Array.from({ length: 16_384 + 1 }, (_, at) => whole.replace('#', `R${at}`));
  const { quarantined, batches, totals } = transform(`["no record",${records.join(',')}]`);
  expect(batches.length).toBeGreaterThan(1);
  expect(quarantined.map(({ record }) => record)).toEqual(['"no record"']);
  expect(totals.ledger).toMatchObject({ published: records.length, quarantined: 1 });
  const texts = Array.from({ length: 20_000 }, (_, at) => `no record ${at}`);
  const full = transform(texts).batches.map((batch) => batch.quarantined.length);
  expect(full).toEqual([16_384, 20_000 - 16_384]);
});

it('counts a record without a key once in each partition, and not again if the full listing repeats it', () => {
  const transformer = new Transformer(voters);
  const keyless = voterRecord({ IdDapil: null });
  const pages: [string | null, unknown[]][] = [
    ['1101', [keyless, keyless]],
    ['1102', [keyless]],
    [null, [keyless, voterRecord({ IdDapil: 'x' })]],
  ];
  for (const [partition, records] of pages) {
    transformer.beginPartition();
    transformer.addPage(pageOf(voters, records, { partition }));
  }
  const partitions = transformer.finish().quarantined.map(({ request }) => /id_dapil=(\d+)/.exec(request)?.[1]);
  expect(partitions).toEqual(['1101', '1102', undefined]);
  expect(transformer.totals().ledger).toEqual({ fetched: 5, published: 0, quarantined: 3, duplicates: 2 });
});

const nearly = fc.record({
  NamaKabupaten: fc.constantFrom('A', 'B', 'C', '', null, 5),
  IdDapil: fc.constantFrom('1101', 1101, '1102', 'x', undefined),
  [dptMale]: fc.constantFrom('1', '2', 'x', null),
});
const record = fc.oneof(fc.jsonValue({ maxDepth: 3 }), nearly.map(voterRecord));

holds(
  'balances for any list of JSON values on any pages, and publishes each key once',
  fc.property(fc.array(fc.array(record, { maxLength: 12 }), { maxLength: 4 }), (pages) => {
    const { rows, quarantined, totals } = transform(...pages);
    const { fetched, published, quarantined: held, duplicates } = totals.ledger;
    expect(fetched).toBe(pages.flat().length);
    expect(fetched).toBe(published + held + duplicates);
    expect([rows.length, quarantined.length]).toEqual([published, held]);
    expect(new Set(rows.map((row) => `${String(row['dapil_id'])} ${String(row['regency'])}`)).size).toBe(published);
  }),
  { runs: 50 },
);
