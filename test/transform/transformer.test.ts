/** Records become exact integers in Arrow batches; what cannot be read is NULL and named, and so is every sum that does not add up. */

import { describe, expect, it } from 'vitest';
import { sumChecks } from '../../src/project/declaration.ts';
import { voters } from '../support/bundled.ts';
import { hostileTexts } from '../support/hostile-texts.ts';
import { voterRecord } from '../support/pages.ts';
import { dptMale, place, recordJson, transform } from './support.ts';

const countColumns = Object.entries(voters.columns).filter(([, { kind }]) => kind === 'count');

const malformedTexts =
  '144.19|1,000|1 000|-1|+1| 12|12 |1e3|0x1A|1_000|٣|１２|2147483648|99999999999999999999|7:|7/|-|nihil|😀';
const malformedJson = ['1.0', '1e3', '-0', '2147483648', '9007199254740993', 'true', '{"a":1}', '[70800]'];
/** The name of what is wrong with a count, its JSON (undefined where it is missing), and the raw text that is kept. */
const noCounts: [name: string, json: string | undefined, raw: string | null][] = [
  ['missing', undefined, null],
  ['null', 'null', null],
  ['empty', '""', ''],
  ...malformedTexts.split('|').map((text): [string, string, string] => ['malformed', JSON.stringify(text), text]),
  ...malformedJson.map((json): [string, string, string] => ['malformed', json, json]),
];

describe('a record', () => {
  it('becomes a row of exact values, its columns in the order of the pipeline', () => {
    const { rows, violations, batches } = transform([voterRecord()]);
    expect(batches[0]!.rows.schema.fields.map(({ name }) => name)).toEqual([
      ...Object.keys(voters.columns),
      'is_consistent',
    ]);
    expect(rows).toEqual([
      {
        ...place,
        dapil_name: 'ACEH I',
        ...Object.fromEntries(countColumns.map(([name, { field }]) => [name, Number(voterRecord()[field])])),
        is_consistent: true,
      },
    ]);
    expect(violations).toEqual([]);
  });

  it.each([
    ['"0"', 0],
    ['"2147483647"', 2_147_483_647],
    ['"0070800"', 70_800],
    ['"\\u0037"', 7],
    ['0', 0],
    ['2147483647', 2_147_483_647],
  ])('that holds the count %s holds %i', (json, count) => {
    expect(transform(`[${recordJson(dptMale, json)}]`).rows[0]!['dpt_male']).toBe(count);
  });

  it.each(noCounts)('with a %s count %s keeps its row, NULL and not 0, and the raw text', (name, json, raw) => {
    const data = json === undefined ? [voterRecord({ [dptMale]: undefined })] : `[${recordJson(dptMale, json)}]`;
    const { rows, violations, totals, batches } = transform(data);
    expect(rows).toMatchObject([{ ...place, dpt_male: null, dpt_female: 72_616, is_consistent: false }]);
    expect(batches[0]!.rows.getChild('dpt_male')!.nullCount).toBe(1);
    // The sums that the unknown count is part of are not evaluated: nothing else is named.
    expect(violations).toMatchObject([
      { dataset: 'voters', place, check_name: name, severity: 'error', column_name: 'dpt_male', raw_value: raw },
    ]);
    expect(totals.nulls).toMatchObject({ dpt_male: 1, dpt_female: 0 });
    expect(totals.sums).toMatchObject({ dpt_male: 0n, dpt_female: 72_616n });
  });

  it('with an empty text that is no part of the key has NULL there, and the violation says so', () => {
    const { field } = voters.columns.dapil_name;
    const { rows, violations } = transform([voterRecord({ [field]: '' })]);
    expect(rows).toMatchObject([{ ...place, dapil_name: null, is_consistent: false }]);
    expect(violations).toMatchObject([{ check_name: 'empty', raw_value: '', column_name: 'dapil_name' }]);
  });

  it.each(['5', '2147483648', 'true'])('with %s where a text should be says that it is no text', (json) => {
    const { field } = voters.columns.dapil_name;
    const { rows, violations } = transform(`[${recordJson(field, json)}]`);
    expect(rows).toMatchObject([{ ...place, dapil_name: null }]);
    expect(violations).toMatchObject([{ check_name: 'malformed', raw_value: json }]);
  });
});

describe('a row check', () => {
  const figure = (column: keyof typeof voters.columns) => voters.columns[column].field;
  const cases = [
    ['dpt_sexes_sum', 'dpt_total', '143416', '143417', { [figure('dpt_total')]: '143417' }],
    ['dptb_sexes_sum', 'dptb_total', '699', '0', { [figure('dptb_total')]: '0' }],
    ['dpk_sexes_sum', 'dpk_total', '1689', '1688', { [figure('dpk_total')]: '1688' }],
    [
      'male_lists_sum',
      'male_total',
      '72225',
      '72224',
      { [figure('male_total')]: '72224', [figure('grand_total')]: '145803' },
    ],
    [
      'female_lists_sum',
      'female_total',
      '73579',
      '73580',
      { [figure('female_total')]: '73580', [figure('grand_total')]: '145805' },
    ],
    ['grand_total_sum', 'grand_total', '145804', '2147483647', { [figure('grand_total')]: '2147483647' }],
  ] as const;

  it.each(cases)('%s is named with what it expects and what stands there', (name, column, expected, actual, change) => {
    const { rows, violations } = transform([voterRecord(), voterRecord({ NamaKabupaten: 'X', ...change })]);
    const there = { ...place, regency: 'X' };
    expect(violations).toMatchObject([
      { place: there, check_name: name, severity: 'error', column_name: column, raw_value: null, expected, actual },
    ]);
    expect(rows.map((row) => row['is_consistent'])).toEqual([true, false]);
  });

  it('that the pipeline declares is among those broken above', () => {
    expect(cases.map(([name]) => name)).toEqual(sumChecks(voters).map(({ name }) => name));
  });

  it('adds up beyond 32 bits without overflow', () => {
    const big = { [figure('dpt_male')]: '2147483647', [figure('dpt_female')]: '2147483647' };
    const { violations, totals } = transform([voterRecord({ ...big, NamaKabupaten: 'A' }), voterRecord(big)]);
    expect(violations[0]).toMatchObject({ check_name: 'dpt_sexes_sum', expected: '4294967294', actual: '143416' });
    expect(totals.sums['dpt_male']).toBe(4_294_967_294n);
  });
});

describe('the batches', () => {
  it('carry any text unaltered', () => {
    const { rows } = transform(hostileTexts.map((text) => voterRecord({ NamaKabupaten: text, NamaDapil: text })));
    expect(rows.map((row) => row['regency'])).toEqual(hostileTexts);
    expect(rows.map((row) => row['dapil_name'])).toEqual(hostileTexts);
  });

  it('carry half a surrogate pair as the replacement character', () => {
    const { rows } = transform(`[${recordJson('NamaKabupaten', '"A\\ud800B"')}]`);
    expect(rows).toMatchObject([{ regency: 'A\ufffdB' }]);
  });

  it('are handed on before their texts become too long, though none is full of rows', () => {
    const names = Array.from({ length: 5 }, (_, index) => `${index}${'x'.repeat(6 << 20)}`);
    const { batches, rows } = transform(...names.map((NamaKabupaten) => [voterRecord({ NamaKabupaten })]));
    expect(batches.map(({ rows: { numRows } }) => numRows)).toEqual([3, 2]);
    expect(rows.map((row) => row['regency'])).toEqual(names);
  });

  it('are as many as the rows need, no row lost, doubled or moved where one ends', () => {
    const total = 2 * 16_384 + 1;
    const counts = Array.from({ length: total }, (_, index) => (index % 16_384 < 2 ? 'x' : String(index)));
    const record = JSON.stringify(voterRecord({ NamaKabupaten: '#', [dptMale]: '@' }));
    const data = counts.map((count, index) => record.replace('#', `R${index}`).replace('@', count));
    const { batches, rows, totals, violations } = transform(`[${data.join(',')}]`);
    expect(batches.length).toBeGreaterThan(2);
    expect(rows.map((row) => row['regency'])).toEqual(counts.map((_, index) => `R${index}`));
    expect(rows.map((row) => row['dpt_male'])).toEqual(counts.map((count) => (count === 'x' ? null : Number(count))));
    const known = counts.filter((count) => count !== 'x').map(BigInt);
    expect(totals.sums['dpt_male']).toBe(known.reduce((sum, count) => sum + count, 0n));
    expect(totals.nulls['dpt_male']).toBe(total - known.length);
    expect(violations.filter(({ check_name }) => check_name === 'malformed')).toHaveLength(total - known.length);
    expect(totals.ledger.published).toBe(total);
  });
});
