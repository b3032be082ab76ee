/** Whatever records come, the transformation agrees with a plain reading of them, record by record: rows, violations, quarantine, totals. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { definePipeline } from '../../src/define-pipeline.ts';
import type { Violation } from '../../src/stages.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { pageOf } from '../support/pages.ts';
import { holds } from '../support/properties.ts';
import { rowsOf } from './support.ts';

const pipeline = definePipeline({
  table: 'places',
  title: 'Places',
  comment: 'A small pipeline with every kind of column and a check of each severity.',
  endpoint: '/places',
  columns: {
    district: { field: 'District', kind: 'integer', comment: 'District.' },
    place: { field: 'Place', kind: 'text', comment: 'Place.' },
    year: { field: 'Year', kind: 'integer', comment: 'Year.' },
    label: { field: 'Label', kind: 'text', comment: 'Label.' },
    men: { field: 'Men', kind: 'count', comment: 'Men.' },
    women: { field: 'Women', kind: 'count', comment: 'Women.' },
    all: { field: 'All', kind: 'count', comment: 'All.' },
  },
  key: ['district', 'place'],
  district: 'district',
  districtParameter: 'district',
  total: 'all',
  checks: [
    { name: 'sexes_sum', severity: 'error', parts: ['men', 'women'], whole: 'all' },
    { name: 'men_sum', severity: 'warning', parts: ['women', 'all'], whole: 'men' },
  ],
});
const columns = Object.entries(pipeline.columns);
const counts = ['men', 'women', 'all'] as const;

type PlainRecord = Record<string, unknown>;
type Row = Record<string, number | string | boolean | null>;

const people = fc.oneof(
  { weight: 8, arbitrary: fc.nat(3).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      2,
      '2147483647',
      '007',
      '2147483648',
      '-1',
      '',
      'x',
      null,
      undefined,
      1.5,
      true,
      [1],
    ),
  },
);
const key = {
  District: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('1', '2', 1) },
    fc.constantFrom<unknown>('x', '', null, undefined, {}),
  ),
  Place: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('A', 'B', '1A', '😀') },
    fc.constantFrom<unknown>('', null, undefined, 5),
  ),
};
const member = fc.record({
  ...key,
  Year: fc.constantFrom<unknown>('2024', '2024', 2019, 'x', undefined),
  Label: fc.constantFrom<unknown>('L', 'L', '', 'l\u0000"', null, 7, undefined),
  Men: people,
  Women: people,
  All: people,
  Note: fc.constantFrom(undefined, undefined, 'a field that the pipeline does not declare'),
});
/** A third of the records add up; some come with their fields in another order. */
const record = fc.tuple(member, fc.nat(2), fc.boolean()).map(([fields, sums, turned]): PlainRecord => {
  const all = Number(fields.Men) + Number(fields.Women);
  const whole: PlainRecord = { ...fields, ...(sums === 0 && Number.isInteger(all) ? { All: String(all) } : {}) };
  return turned ? Object.fromEntries(Object.entries(whole).toReversed()) : whole;
});
const item = fc.oneof({ weight: 9, arbitrary: record }, fc.constantFrom<unknown>(null, 5, 'text', [], {}, [{}]));
/** Districts of pages of records; some records come again on another page, or in another district. */
const districts = fc
  .tuple(
    fc.array(fc.array(fc.array(item, { maxLength: 5 }), { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    fc.array(fc.nat(), { maxLength: 4 }),
  )
  .map(([list, again]) => {
    const all = list.flat(2);
    const repeats = all.length === 0 ? [] : again.map((place) => all[place % all.length]);
    return [...list, [repeats]];
  });

holds(
  'publishes, names, sets aside and counts as a plain reading does',
  fc.property(districts, (list) => {
    const transformer = new Transformer(pipeline);
    const batches = list.flatMap((pages) => {
      transformer.beginDistrict();
      return pages.flatMap((page) => transformer.addPage(pageOf(pipeline, page)));
    });
    batches.push(transformer.finish());
    const plain = readPlainly(list);
    expect(batches.flatMap(rowsOf)).toEqual(plain.rows);
    const violations = batches.flatMap((batch) => batch.violations);
    expect(sorted(violations)).toEqual(sorted(plain.violations));
    expect(batches.flatMap((batch) => batch.quarantined.map((each) => each.record))).toEqual(plain.quarantined);
    const { ledger, sums, nulls } = transformer.totals();
    const fetched = list.flat(2).length;
    const [published, quarantined] = [plain.rows.length, plain.quarantined.length];
    expect(ledger).toEqual({ fetched, published, quarantined, duplicates: fetched - published - quarantined });
    for (const name of counts) {
      const known = plain.rows.map((row) => row[name]).filter((value) => typeof value === 'number');
      expect(sums[name]).toBe(known.reduce((sum, value) => sum + BigInt(value), 0n));
      expect(nulls[name]).toBe(plain.rows.length - known.length);
    }
  }),
  { runs: 300 },
);

/** The rules of the transformation over parsed records, one at a time. */
function readPlainly(list: readonly (readonly (readonly unknown[])[])[]) {
  const rows: Row[] = [];
  const violations: Omit<Violation, 'message'>[] = [];
  const quarantined: string[] = [];
  for (const pages of list) {
    const keyless = new Set<string>();
    /** The declared values of every record of this district that has a key, by that key. */
    const met = new Map<string, Set<string>>();
    for (const found of pages.flat()) {
      const fields =
        typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as PlainRecord) : null;
      const district = fields === null ? null : countIn(fields['District']);
      const place = fields?.['Place'];
      if (fields === null || typeof district !== 'number' || typeof place !== 'string' || place === '') {
        const text = JSON.stringify(found);
        if (!keyless.has(text)) quarantined.push(text);
        keyless.add(text);
        continue;
      }
      const values = JSON.stringify(columns.map(([, { field }]) => [typeof fields[field], fields[field]]));
      const others = met.get(`${district} ${place}`);
      if (others === undefined) {
        met.set(`${district} ${place}`, new Set([values]));
        const row = rowOf(fields);
        rows.push(row.row);
        violations.push(...row.violations);
      } else if (!others.has(values)) {
        others.add(values);
        quarantined.push(JSON.stringify(found));
        const at = { dataset: 'places', place: { district, place } };
        violations.push({
          ...at,
          check_name: 'conflicting_records',
          severity: 'error',
          column_name: '',
          raw_value: null,
          expected: null,
          actual: null,
        });
      }
    }
  }
  return { rows, violations, quarantined };
}

/** A record's row, and what is wrong with it. */
function rowOf(fields: PlainRecord): { row: Row; violations: Omit<Violation, 'message'>[] } {
  const row: Row = {};
  const faults: Pick<Violation, 'check_name' | 'severity' | 'column_name' | 'raw_value' | 'expected' | 'actual'>[] = [];
  for (const [name, { field, kind }] of columns) {
    const value = fields[field];
    const read = kind === 'text' ? textIn(value) : countIn(value);
    row[name] = typeof read === 'object' ? null : read;
    if (typeof read !== 'object') continue;
    const raw =
      value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);
    faults.push({
      check_name: read.fault,
      severity: 'error',
      column_name: name,
      raw_value: raw,
      expected: null,
      actual: null,
    });
  }
  for (const { name, severity, parts, whole } of pipeline.checks) {
    const terms = parts.map((part) => row[part]);
    const actual = row[whole];
    if (![...terms, actual].every((value) => typeof value === 'number')) continue;
    const sum = (terms as number[]).reduce((total, term) => total + term, 0);
    if (sum === actual) continue;
    faults.push({
      check_name: name,
      severity,
      column_name: whole,
      raw_value: null,
      expected: String(sum),
      actual: String(actual),
    });
  }
  row['is_consistent'] = faults.every(({ severity }) => severity === 'warning');
  const place = { district: row['district'] as number, place: row['place'] as string };
  return { row, violations: faults.map((fault) => ({ dataset: 'places', place, ...fault })) };
}

function countIn(value: unknown): number | { fault: string } {
  if (value === undefined) return { fault: 'missing' };
  if (value === null) return { fault: 'null' };
  if (value === '') return { fault: 'empty' };
  if (typeof value === 'number') return Number.isInteger(value) ? value : { fault: 'malformed' };
  return typeof value === 'string' && /^\d+$/.test(value) && Number(value) < 2 ** 31
    ? Number(value)
    : { fault: 'malformed' };
}

function textIn(value: unknown): string | { fault: string } {
  if (value === '') return { fault: 'empty' };
  if (typeof value === 'string') return value;
  return { fault: value === undefined ? 'missing' : value === null ? 'null' : 'malformed' };
}

/** As texts to compare, whatever their order; the message is for people, and the other parts say the same. */
function sorted(violations: readonly Omit<Violation, 'message'>[]): string[] {
  return violations
    .map((violation) => Object.entries(violation).filter(([name]) => name !== 'message'))
    .map((parts) => JSON.stringify(parts.toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted();
}
