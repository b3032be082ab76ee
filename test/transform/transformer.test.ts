/** Records become exact values in Arrow batches. A value that can't be read is null and a violation, and so is a wrong sum. */

import { expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { hostileTexts } from '../support/hostile-texts.ts';
import { voterRecord } from '../support/pages.ts';
import { dptMale, place, recordJson, transform } from './support.ts';

it('a record becomes a row of exact values, with the columns in the order of the pipeline', () => {
  const { rows, violations, batches } = transform([voterRecord()]);
  const names = batches[0]!.rows.schema.fields.map(({ name }) => name);
  expect(names).toEqual([...Object.keys(voters.columns), 'is_consistent']);
  const counts = Object.entries(voters.columns).filter(([, { kind }]) => kind === 'count');
  const values = Object.fromEntries(counts.map(([name, { field }]) => [name, Number(voterRecord()[field])]));
  expect(rows).toEqual([{ ...place, dapil_name: 'ACEH I', ...values, is_consistent: true }]);
  expect(violations).toEqual([]);
});

/** The check, the JSON (undefined if the field is missing), and the stored raw text. */
it.each<[check: string, json: string | undefined, raw: string | null]>([
  ['missing', undefined, null],
  ['null', 'null', null],
  ['empty', '""', ''],
  ['malformed', '"144.19"', '144.19'],
  ['malformed', '9007199254740993', '9007199254740993'],
  ['malformed', '{"a":1}', '{"a":1}'],
  ['malformed', `"12","${dptMale}":"13"`, `"12","${dptMale}":"13"`],
])('a count that is %s (%s) is null, not 0, and its raw text is kept', (check, json, raw) => {
  const data = json === undefined ? [voterRecord({ [dptMale]: undefined })] : `[${recordJson(dptMale, json)}]`;
  const { rows, violations, totals, batches } = transform(data);
  expect(rows).toMatchObject([{ ...place, dpt_male: null, dpt_female: 72_616, is_consistent: false }]);
  expect(batches[0]!.rows.getChild('dpt_male')!.nullCount).toBe(1);
  // Sums with the unknown count aren't checked, so there are no other violations.
  expect(violations).toMatchObject([
    { dataset: 'voters', place, check_name: check, severity: 'error', column_name: 'dpt_male', raw_value: raw },
  ]);
  expect(totals.nulls).toMatchObject({ dpt_male: 1, dpt_female: 0 });
  expect(totals.sums).toMatchObject({ dpt_male: 0n, dpt_female: 72_616n });
});

it('sums do not overflow 32 bits', () => {
  const big = { [dptMale]: '2147483647', [voters.columns.dpt_female.field]: '2147483647' };
  const { violations, totals } = transform([voterRecord({ ...big, NamaKabupaten: 'A' }), voterRecord(big)]);
  expect(violations[0]).toMatchObject({ check_name: 'dpt_sexes_sum', expected: '4294967294', actual: '143416' });
  expect(totals.sums['dpt_male']).toBe(4_294_967_294n);
});

it('batches contain any text unchanged', () => {
  const { rows } = transform(hostileTexts.map((text) => voterRecord({ NamaKabupaten: text, NamaDapil: text })));
  expect(rows.map((row) => [row['regency'], row['dapil_name']])).toEqual(hostileTexts.map((text) => [text, text]));
});

it('a batch ends before its texts become too long', () => {
  const names = ['A', 'B', 'C'].map((name, index) => name.repeat(index < 2 ? 9 << 20 : 1));
  const { batches } = transform(...names.map((NamaKabupaten) => [voterRecord({ NamaKabupaten })]));
  expect(batches.map(({ rows: { numRows } }) => numRows)).toEqual([2, 1]);
  const found = batches.flatMap(({ rows }) => [...rows.getChild('regency')!]);
  expect(found.every((name, row) => name === names[row])).toBe(true);
});

it('no row is lost, repeated or moved where a batch ends', () => {
  const total = 2 * 16_384 + 1;
  const counts = Array.from({ length: total }, (_, index) => (index % 16_384 < 2 ? 'x' : String(index)));
  const record = JSON.stringify(voterRecord({ NamaKabupaten: '#', [dptMale]: '@' }));
  const data = counts.map((count, index) => record.replace('#', `R${index}`).replace('@', count));
  const { batches, totals } = transform(`[${data.join(',')}]`);
  expect(batches.length).toBeGreaterThan(2);
  const columnOf = (name: string) => batches.flatMap(({ rows }) => [...rows.getChild(name)!]);
  expect(columnOf('regency').join()).toBe(counts.map((_, index) => `R${index}`).join());
  expect(columnOf('dpt_male').join()).toBe(counts.map((count) => (count === 'x' ? '' : count)).join());
  const known = counts.filter((count) => count !== 'x').map(BigInt);
  expect(totals.sums['dpt_male']).toBe(known.reduce((sum, count) => sum + count, 0n));
  expect(totals.nulls['dpt_male']).toBe(total - known.length);
  const malformed = batches.flatMap(({ violations }) => violations.filter((each) => each.check_name === 'malformed'));
  expect(malformed).toHaveLength(total - known.length);
  expect(totals.ledger.published).toBe(total);
});
