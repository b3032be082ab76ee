/** Every kind of column accepts only the values that it can store, stores them exactly, and records why any other value is null. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quoteText } from '../../src/runtime/database.ts';
import { kindOf } from '../../src/kinds/kinds.ts';
import type { AnyPipeline, ColumnDefinition } from '../../src/project/declaration.ts';
import { count, integer, timestamp } from '../../src/project/define.ts';
import { nullReasonName } from '../../src/kinds/read-field.ts';
import { readMoment } from '../../src/kinds/timestamp.ts';
import { type Fingerprint, FingerprintHash } from '../../src/kinds/fingerprints.ts';
import type { Page } from '../../src/stages.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { voters } from '../support/bundled.ts';
import { acceptedBy, cases, itemsOf, projectOfAllKinds } from '../support/kind-cases.ts';
import { pageOf } from '../support/pages.ts';
import { ask, load } from '../load/support.ts';

/** A page of one record, whose only field has the JSON `json`, or is missing. */
function pageWith(definition: ColumnDefinition, json: string | undefined): Page {
  const pipeline: AnyPipeline = { ...voters, columns: { v: definition }, key: ['v'], watch: [], checks: [] };
  return pageOf(pipeline, json === undefined ? '[{}]' : `[{"v":${json}}]`);
}

/** Returns the stored value of a field as text, or why it is null. */
function read(definition: ColumnDefinition, json: string | undefined): string {
  const column = kindOf(definition).newColumn(1);
  const code = column.fill(pageWith(definition, json), 0, 0, 0);
  expect(column.valid[0]).toBe(code === 0 ? 1 : 0);
  if (code === 0) return String(column.value(0));
  expect(column.value(0)).toBeNull();
  return `NULL: ${nullReasonName(code)}`;
}

function fingerprint(definition: ColumnDefinition, json: string): string {
  const column = kindOf(definition).newColumn(1);
  expect(column.fill(pageWith(definition, json), 0, 0, 0)).toBe(0);
  const hash = new FingerprintHash();
  hash.begin();
  column.mix(0, hash);
  const into: Fingerprint = { high: 0, low: 0 };
  hash.finish(into);
  return `${into.high} ${into.low}`;
}

describe.each(Object.entries(cases))('%s', (_name, { column, type, refused, ...rest }) => {
  const accepted = acceptedBy({ column, type, refused, ...rest });

  it('stores accepted values exactly, and tells malformed, missing, null and empty from each other', () => {
    const found = accepted.map(([json]) => [json, read(column, json)]);
    expect(found).toEqual(accepted);
    for (const json of itemsOf(refused)) expect([json, read(column, json)]).toEqual([json, 'NULL: malformed']);
    const others = [undefined, 'null', '""'].map((json) => read(column, json));
    expect(others).toEqual(['NULL: missing', 'NULL: null', 'NULL: empty']);
    expect(kindOf(column).sqlType).toBe(type);
  });

  it('has one fingerprint for each value, however the source writes it', () => {
    const pairs = accepted.map(([json, value]) => `${value} ${fingerprint(column, json)}`);
    const values = new Set(accepted.map(([, value]) => value));
    const prints = new Set(accepted.map(([json]) => fingerprint(column, json)));
    expect([new Set(pairs).size, prints.size]).toEqual([values.size, values.size]);
  });
});

it.each([
  [integer('v', 'V.'), '9223372036854775808', 'is more than'],
  [integer('v', 'V.'), '-9223372036854775809', 'is less than'],
  [integer('v', 'V.'), '1.5', 'is not a whole number'],
  [count('v', 'V.'), '2147483648', 'is more than'],
  [count('v', 'V.'), '-5', 'is less than 0'],
  [count('v', 'V.'), '-0', 'is not a whole number'],
  [integer('v', 'V.', { min: 1000, max: 3000 }), '5', 'is less than 1,000, the minimum'],
  [integer('v', 'V.', { min: 1000, max: 3000 }), '3001', 'is more than 3,000, the maximum'],
  [integer('v', 'V.', { min: -9, max: -3 }), '-2', 'is more than -3, the maximum'],
  [integer('v', 'V.', { min: -9, max: -3 }), '-10', 'is less than -9, the minimum'],
  [timestamp('v', 'V.'), 'x', 'with Z or an offset'],
] as const)('explains why the value is malformed: %o %s', (column, raw, words) => {
  const { en, id } = kindOf(column).malformed(raw);
  expect(en).toContain(words);
  expect([id.includes('lebih dari'), id.includes('kurang dari')]).toEqual([
    words.includes('more than'),
    words.includes('less than'),
  ]);
});

describe('through Arrow, DuckDB and Parquet', () => {
  // More than a batch holds, which is more than a data chunk of DuckDB.
  const rows = 16_384 + 2101;
  const all = Object.values(cases);
  const project = projectOfAllKinds(() => true, {
    paging: { by: 'offset', limit: 'limit', offset: 'offset' },
    reportedCount: '/count',
  });

  it('keeps every value of every kind, and sums decimals exactly', async () => {
    const accepted = all.map(acceptedBy);
    /** JSON and text of a cell: the accepted values in turn, and null between them. */
    const cellOf = (row: number, index: number): readonly [json: string, text: string | null] =>
      (row + index) % 5 === 0 ? ['null', null] : accepted[index]![row % accepted[index]!.length]!;
    const json = Array.from({ length: rows }, (_, row) => {
      const cells = all.map((_case, index) => `"c${index}":${cellOf(row, index)[0]}`);
      return `{"id":${row},${cells.join(',')}}`;
    });
    const loaded = await load({ everything: [`[${json.join(',')}]`] }, { project });
    const expected = Array.from({ length: rows }, (_, row) =>
      Object.fromEntries(all.map((_case, index) => [`c${index}`, cellOf(row, index)[1]])),
    );
    const texts = (table: string): string => `SELECT COLUMNS('^c')::VARCHAR FROM ${table} ORDER BY id`;
    const parquet = `read_parquet(${quoteText(join(loaded.folder, parquetPath('everything')))})`;
    expect(await loaded.rows(texts('everything'))).toEqual(expected);
    expect(await ask(':memory:', texts(parquet))).toEqual(expected);
    expect(loaded.reports.get('everything')!.violations).toEqual([]);
    const types = await ask(':memory:', `DESCRIBE FROM ${parquet}`);
    expect(types.map(({ column_type }) => column_type).slice(1, -1)).toEqual(all.map(({ type }) => type));
    // c8 is decimal(38, 30); DuckDB can't add up its largest values.
    const digits = expected.map(({ c8 }) => BigInt(c8?.replace('.', '') ?? 0));
    const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
    expect(loaded.totals.get('everything')!.sums['c8']).toBe(sum(digits));
    const [small] = await loaded.rows('SELECT sum(c8)::VARCHAR AS sum FROM everything WHERE c8 BETWEEN 0 AND 1');
    expect(String(small!['sum']).replace('.', '')).toBe(
      String(sum(digits.filter((each) => 0n <= each && each < 10n ** 30n))),
    );
  });
});

it.each([
  ['1970-01-01T00:00:01.000002Z', '+07:00', 1_000_002n],
  ['1970-01-01 07:00', '+07:00', 0n],
  ['1970-01-01 07:00', undefined, null],
  ['1970-01-01T00:00:00.0000001Z', undefined, null],
])('reads the microseconds of %s with the default offset %s', (text, offset, microseconds) => {
  expect(readMoment(text, offset)).toBe(microseconds);
});
