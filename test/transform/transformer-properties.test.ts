/** For any records, the transformation agrees with a simple one, record by record: rows, violations, quarantine, totals. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { type AnyPipeline, sumChecks } from '../../src/project/declaration.ts';
import { loadProject } from '../../src/project/load-project.ts';
import {
  boolean,
  count,
  date,
  decimal,
  definePipeline,
  integer,
  sum,
  text,
  timestamp,
} from '../../src/project/define.ts';
import type { Violation } from '../../src/stages.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { pageOf } from '../support/pages.ts';
import { holds } from '../support/properties.ts';
import { rowsOf } from './support.ts';

const declared = definePipeline({
  table: 'places',
  title: 'Places',
  comment: 'A small pipeline with every kind of column, and sums of each severity over every kind of number.',
  path: '/places',
  partition: { parameter: 'partition', column: 'partition' },
  columns: {
    partition: integer('Partition', 'Partition.', { min: 0, max: 2_147_483_647 }),
    place: text('Place', 'Place.'),
    year: integer('Year', 'Year.'),
    label: text('Label', 'Label.'),
    men: count('Men', 'Men.'),
    women: count('Women', 'Women.'),
    all: count('All', 'All.'),
    share: decimal('Share', 'Share.', { precision: 6, scale: 2 }),
    is_open: boolean('Open', 'Whether it is open.', { nullable: true }),
    day: date('Day', 'Day.'),
    moment: timestamp('Moment', 'Moment.', { offset: '+07:00' }),
  },
  key: ['partition', 'place'],
  watch: ['all'],
  checks: [
    sum('all', ['men', 'women'], { name: 'sexes_sum' }),
    sum('men', ['women', 'all'], { name: 'men_sum', severity: 'warning' }),
    sum('share', ['men', 'year'], { name: 'share_sum', severity: 'warning' }),
  ],
});
const { pipelines } = await loadProject({
  name: 'all-kinds',
  paging: { by: 'offset', limit: 'limit', offset: 'offset' },
  records: '/data',
  reportedCount: '/count',
  pipelines: [declared],
});
const pipeline: AnyPipeline = pipelines[0]!;
const columns = Object.entries(pipeline.columns);
const summed = ['men', 'women', 'all', 'share'] as const;

type PlainRecord = Record<string, unknown>;
/** A decimal in its smallest unit, days and moments in milliseconds. */
type Value = number | bigint | string | boolean;
type Row = Record<string, Value | null>;
/** Why a value is null. */
type Fault = { readonly fault: string };

const malformed: Fault = { fault: 'malformed' };
const nullFields: readonly [unknown, Fault][] = [
  ['', { fault: 'empty' }],
  [null, { fault: 'null' }],
  [undefined, { fault: 'missing' }],
];
/** How the source writes values of some kinds, and what each of them means. */
const spellings: Readonly<Record<string, ReadonlyMap<unknown, Value | Fault>>> = {
  Year: new Map<unknown, Value | Fault>([
    ['2024', 2024n],
    [2019, 2019n],
    ['-7', -7n],
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['9223372036854775808', malformed],
    ['x', malformed],
    ...nullFields,
  ]),
  Share: new Map<unknown, Value | Fault>([
    ['2024.00', 202_400n],
    ['2025', 202_500n],
    [2026.5, 202_650n],
    ['-0.5', -50n],
    ['9999.99', 999_999n],
    ['10000.00', malformed],
    ['0.125', malformed],
    [',5', malformed],
    [true, malformed],
    ...nullFields,
  ]),
  Open: new Map<unknown, Value | Fault>([
    [true, true],
    ['false', false],
    ['yes', malformed],
    [1, malformed],
    ...nullFields,
  ]),
  Day: new Map<unknown, Value | Fault>([
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['1955-09-29', Date.UTC(1955, 8, 29)],
    ['2023-02-29', malformed],
    ['2024-2-9', malformed],
    [20_240_229, malformed],
    ...nullFields,
  ]),
  Moment: new Map<unknown, Value | Fault>([
    ['2024-02-14T07:00:00Z', Date.UTC(2024, 1, 14, 7)],
    ['2024-02-14T07:00:00.250', Date.UTC(2024, 1, 14, 0, 0, 0, 250)],
    ['2024-02-14 07:00-02:30', Date.UTC(2024, 1, 14, 9, 30)],
    ['2024-02-14T24:00:00Z', malformed],
    ['2024-02-14', malformed],
    [1_707_894_000, malformed],
    ...nullFields,
  ]),
};
const spelling = (field: string) => fc.constantFrom(...spellings[field]!.keys());

const oddCounts = [2, '2147483647', '007', '2147483648', '-1', '', 'x', null, undefined, 1.5, true, [1]];
const people = fc.oneof(
  { weight: 8, arbitrary: fc.nat(3).map(String) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(...oddCounts) },
);
const key = {
  Partition: fc.oneof(
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
  Year: spelling('Year'),
  Share: spelling('Share'),
  Open: spelling('Open'),
  Day: spelling('Day'),
  Moment: spelling('Moment'),
  Label: fc.constantFrom<unknown>('L', 'L', '', 'l\u0000"', null, 7, undefined),
  Men: people,
  Women: people,
  All: people,
  Note: fc.constantFrom(undefined, undefined, 'a field that the pipeline does not declare'),
});
/** In a third of the records, the sums are right. Some have their fields in another order. */
const record = fc.tuple(member, fc.nat(2), fc.boolean()).map(([fields, sums, turned]): PlainRecord => {
  const all = Number(fields.Men) + Number(fields.Women);
  const whole: PlainRecord = { ...fields, ...(sums === 0 && Number.isInteger(all) ? { All: String(all) } : {}) };
  return turned ? Object.fromEntries(Object.entries(whole).toReversed()) : whole;
});
const item = fc.oneof({ weight: 9, arbitrary: record }, fc.constantFrom<unknown>(null, 5, 'text', [], {}, [{}]));
/** Partitions of pages of records. Some records are repeated in another partition. */
const partitions = fc
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
  'agrees with a simple transformation on rows, violations, quarantine and totals',
  fc.property(partitions, (list) => {
    const transformer = new Transformer(pipeline);
    const batches = list.flatMap((pages) => {
      transformer.beginPartition();
      return pages.flatMap((page) => transformer.addPage(pageOf(pipeline, page)));
    });
    batches.push(transformer.finish());
    const simple = transformSimply(list);
    expect(batches.flatMap(rowsOf).map(withBigIntShare)).toEqual(simple.rows);
    const violations = batches.flatMap((batch) => batch.violations);
    expect(sorted(violations)).toEqual(sorted(simple.violations));
    expect(batches.flatMap((batch) => batch.quarantined.map((each) => each.record))).toEqual(simple.quarantined);
    const { ledger, sums, nulls } = transformer.totals();
    const fetched = list.flat(2).length;
    const [published, quarantined] = [simple.rows.length, simple.quarantined.length];
    expect(ledger).toEqual({ fetched, published, quarantined, duplicates: fetched - published - quarantined });
    for (const name of summed) {
      const known = simple.rows.flatMap((row) => row[name] ?? []);
      expect(sums[name]).toBe(known.reduce((total: bigint, value) => total + BigInt(value), 0n));
      expect(nulls[name]).toBe(simple.rows.length - known.length);
    }
  }),
  { runs: 80 },
);

/** A row as Arrow has it, its decimal as a whole number of the smallest unit. */
function withBigIntShare(row: Record<string, unknown>): Record<string, unknown> {
  const words = row['share'] as Uint32Array | null;
  return { ...row, share: words === null ? null : new BigInt64Array(words.slice().buffer)[0] };
}

const noValues = { raw_value: null, expected: null, actual: null };

/** The rules of the transformation, applied to parsed records one at a time. */
function transformSimply(list: readonly (readonly (readonly unknown[])[])[]) {
  const rows: Row[] = [];
  const violations: Omit<Violation, 'message'>[] = [];
  const quarantined: string[] = [];
  for (const pages of list) {
    const keyless = new Set<string>();
    /** By key, the declared values of each record of this partition. */
    const seen = new Map<string, Set<string>>();
    for (const found of pages.flat()) {
      const fields =
        typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as PlainRecord) : null;
      const partition = fields === null ? null : countIn(fields['Partition']);
      const place = fields?.['Place'];
      if (fields === null || typeof partition !== 'number' || typeof place !== 'string' || place === '') {
        const json = JSON.stringify(found);
        if (!keyless.has(json)) quarantined.push(json);
        keyless.add(json);
        continue;
      }
      const values = JSON.stringify(columns.map(([, { field }]) => [typeof fields[field], fields[field]]));
      const others = seen.get(`${partition} ${place}`);
      if (others === undefined) {
        seen.set(`${partition} ${place}`, new Set([values]));
        const row = rowOf(fields);
        rows.push(row.row);
        violations.push(...row.violations);
      } else if (!others.has(values)) {
        others.add(values);
        quarantined.push(JSON.stringify(found));
        const at = { dataset: 'places', place: { partition, place } };
        violations.push({ ...at, ...noValues, check_name: 'conflicting_records', severity: 'error', column_name: '' });
      }
    }
  }
  return { rows, violations, quarantined };
}

/** The row of a record, and its violations. */
function rowOf(fields: PlainRecord): { row: Row; violations: Omit<Violation, 'message'>[] } {
  const row: Row = {};
  const faults: Pick<Violation, 'check_name' | 'severity' | 'column_name' | 'raw_value' | 'expected' | 'actual'>[] = [];
  for (const [name, { field, kind, nullable = false }] of columns) {
    const value = fields[field];
    const known = spellings[field];
    const read = known === undefined ? (kind === 'text' ? textIn(value) : countIn(value)) : known.get(value)!;
    row[name] = typeof read === 'object' ? null : read;
    if (typeof read !== 'object' || (nullable && read !== malformed)) continue;
    const raw =
      value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);
    faults.push({ ...noValues, check_name: read.fault, severity: 'error', column_name: name, raw_value: raw });
  }
  for (const { name, severity, parts, whole } of sumChecks(pipeline)) {
    const [actual, ...terms] = [whole, ...parts].map((column) => row[column] as number | bigint | null);
    if (actual === null || actual === undefined || terms.some((term) => term === null)) continue;
    const total = terms.reduce((before: bigint, term) => before + BigInt(term!), 0n);
    const isDecimal = whole === 'share';
    if (total * (isDecimal ? 100n : 1n) === BigInt(actual)) continue;
    faults.push({
      ...noValues,
      check_name: name,
      severity,
      column_name: whole,
      expected: isDecimal ? `${total}.00` : String(total),
      actual: isDecimal ? (Number(actual) / 100).toFixed(2) : String(actual),
    });
  }
  row['is_consistent'] = faults.every(({ severity }) => severity === 'warning');
  const place = { partition: row['partition'] as number, place: row['place'] as string };
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

/** Violations as sorted texts, without their messages. */
function sorted(violations: readonly Omit<Violation, 'message'>[]): string[] {
  return violations
    .map((violation) => Object.entries(violation).filter(([name]) => name !== 'message'))
    .map((parts) => JSON.stringify(parts.toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted();
}
