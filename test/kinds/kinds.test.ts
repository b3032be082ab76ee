/** Every kind of column takes just the values that it can keep, keeps them exactly, and says of every other field why it has no value. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quoteText } from '../../src/runtime/database.ts';
import type { Value } from '../../src/kinds/kind.ts';
import { kindOf } from '../../src/kinds/kinds.ts';
import type { AnyPipeline, ColumnDefinition, Project } from '../../src/project/declaration.ts';
import { boolean, count, date, decimal, definePipeline, integer, text, timestamp } from '../../src/project/define.ts';
import { nullReasonName } from '../../src/kinds/read-field.ts';
import { begin, type Fingerprint } from '../../src/kinds/fingerprints.ts';
import type { Page } from '../../src/stages.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { voters } from '../support/bundled.ts';
import { pageOf } from '../support/pages.ts';
import { ask, load } from '../load/support.ts';

/** A page of one record, whose only field is spelled as the JSON `json`, or is missing. */
function pageWith(definition: ColumnDefinition, json: string | undefined): Page {
  const pipeline: AnyPipeline = { ...voters, columns: { v: definition }, key: ['v'], watch: [], checks: [] };
  return pageOf(pipeline, json === undefined ? '[{}]' : `[{"v":${json}}]`);
}

/** Gives the value that is kept of a field, or why there is none. */
function read(definition: ColumnDefinition, json: string | undefined): Value | null | { readonly refused: string } {
  const column = kindOf(definition).newColumn(1);
  const code = column.fill(pageWith(definition, json), 0, 0, 0);
  expect(column.valid[0]).toBe(code === 0 ? 1 : 0);
  if (code === 0) return column.value(0);
  expect(column.value(0)).toBeNull();
  return { refused: nullReasonName(code) };
}

/** The fingerprint of a field's value. */
function fingerprint(definition: ColumnDefinition, json: string): string {
  const column = kindOf(definition).newColumn(1);
  expect(column.fill(pageWith(definition, json), 0, 0, 0)).toBe(0);
  const into: Fingerprint = { high: 0, low: 0 };
  begin(into);
  column.mix(0, into);
  return `${into.high} ${into.low}`;
}

interface Case {
  readonly what: string;
  readonly column: ColumnDefinition;
  readonly type: string;
  /** JSON, and the value that is kept of it. */
  readonly accepted: readonly (readonly [json: string, value: Value])[];
  /** JSON that is malformed. */
  readonly refused: readonly string[];
}

const nines = (length: number): string => '9'.repeat(length);

const cases: readonly Case[] = [
  {
    what: 'text',
    column: text('v', 'V.'),
    type: 'VARCHAR',
    accepted: [
      ['"ACEH BARAT"', 'ACEH BARAT'],
      ['"007"', '007'],
      ['" "', ' '],
      ['"null"', 'null'],
      ['"Größe 😀"', 'Größe 😀'],
      [String.raw`"\u0041\"\\\n\ud83d\ude00"`, 'A"\\\n😀'],
      // Half a surrogate pair has no UTF-8.
      [String.raw`"A\ud800"`, 'A\ufffd'],
    ],
    refused: ['12', 'true', '["a"]', '{"a":"b"}'],
  },
  {
    what: 'count',
    column: count('v', 'V.'),
    type: 'INTEGER',
    accepted: [
      ['"0"', 0],
      ['0', 0],
      ['"007"', 7],
      ['"2147483647"', 2_147_483_647],
      ['2147483647', 2_147_483_647],
    ],
    refused: [
      '"2147483648"',
      '4294967297',
      '"-1"',
      '-1',
      '"+1"',
      '" 1"',
      '"1.0"',
      '1.0',
      '1e3',
      '"n/a"',
      'true',
      '[1]',
    ],
  },
  {
    what: 'integer',
    column: integer('v', 'V.'),
    type: 'BIGINT',
    accepted: [
      ['"9223372036854775807"', 9_223_372_036_854_775_807n],
      ['9223372036854775807', 9_223_372_036_854_775_807n],
      ['"-9223372036854775808"', -9_223_372_036_854_775_808n],
      ['-9223372036854775808', -9_223_372_036_854_775_808n],
      // A float has no such number.
      ['9007199254740993', 9_007_199_254_740_993n],
      ['"-0"', 0n],
      ['"007"', 7n],
    ],
    refused: [
      '"9223372036854775808"',
      '9223372036854775808',
      '"-9223372036854775809"',
      '-9223372036854775809',
      `"${nines(40)}"`,
      '"+1"',
      '"--1"',
      '"-"',
      '"1 "',
      '"1.0"',
      '1.0',
      '1e3',
      '"0x10"',
      '"1,000"',
      'true',
      '[1]',
    ],
  },
  {
    what: 'integer of 32 bits',
    column: integer('v', 'V.', { min: -2_147_483_648, max: 2_147_483_647 }),
    type: 'INTEGER',
    accepted: [
      ['"-2147483648"', -2_147_483_648],
      ['2147483647', 2_147_483_647],
      ['"-0"', 0],
    ],
    refused: ['"-2147483649"', '2147483648', '1.5', '"x"', 'false'],
  },
  {
    what: 'integer from -5 to 5',
    column: integer('v', 'V.', { min: -5, max: 5 }),
    type: 'INTEGER',
    accepted: [
      ['"-5"', -5],
      ['5', 5],
    ],
    refused: ['"-6"', '6', '"10000000000"'],
  },
  {
    what: 'integer from 10 to 20',
    column: integer('v', 'V.', { min: 10, max: 20 }),
    type: 'INTEGER',
    accepted: [
      ['"10"', 10],
      ['20', 20],
    ],
    refused: ['"9"', '21', '0', '-10'],
  },
  {
    what: 'integer from 1 on',
    column: integer('v', 'V.', { min: 1 }),
    type: 'BIGINT',
    accepted: [
      ['1', 1n],
      ['9223372036854775807', 9_223_372_036_854_775_807n],
    ],
    refused: ['0', '-1', '9223372036854775808'],
  },
  {
    what: 'integer up to 4,000,000,000',
    column: integer('v', 'V.', { max: 4_000_000_000 }),
    type: 'BIGINT',
    accepted: [
      ['4000000000', 4_000_000_000n],
      ['-9223372036854775808', -9_223_372_036_854_775_808n],
    ],
    refused: ['4000000001'],
  },
  {
    what: 'decimal of 10 digits, 2 after the point',
    column: decimal('v', 'V.', { precision: 10, scale: 2 }),
    type: 'DECIMAL(10,2)',
    accepted: [
      ['"12.34"', '12.34'],
      ['12.34', '12.34'],
      ['"12"', '12.00'],
      ['12.3', '12.30'],
      ['0', '0.00'],
      ['"-0"', '0.00'],
      ['-0.01', '-0.01'],
      ['"007.10"', '7.10'],
      // Zeros beyond the scale say nothing.
      ['"12.340000"', '12.34'],
      ['12.34000000000000000000', '12.34'],
      ['1.234E1', '12.34'],
      ['1.234e+1', '12.34'],
      ['1234e-2', '12.34'],
      ['-1.5E3', '-1500.00'],
      ['100000e-5', '1.00'],
      ['"99999999.99"', '99999999.99'],
      ['-99999999.99', '-99999999.99'],
    ],
    refused: [
      '"12.341"',
      '12.345',
      '0.001',
      '1e-3',
      '1.2345E1',
      '"100000000.00"',
      '100000000',
      '-100000000',
      '1e8',
      '1e999',
      '1e9999',
      '".5"',
      '"5."',
      '"+1"',
      '" 1"',
      '"1,5"',
      '"1.234,56"',
      '"1 000"',
      '"NaN"',
      '"Infinity"',
      '"0x10"',
      '"-"',
      'true',
      '[1]',
    ],
  },
  {
    what: 'decimal of 38 digits, 30 after the point',
    column: decimal('v', 'V.', { precision: 38, scale: 30 }),
    type: 'DECIMAL(38,30)',
    accepted: [
      ['0.1', '0.100000000000000000000000000000'],
      ['0.2', '0.200000000000000000000000000000'],
      ['0.300000000000000000000000000001', '0.300000000000000000000000000001'],
      ['"12345678.901234567890123456789012345678"', '12345678.901234567890123456789012345678'],
      ['-12345678.901234567890123456789012345678', '-12345678.901234567890123456789012345678'],
      ['1e-30', '0.000000000000000000000000000001'],
      [`${nines(8)}.${nines(30)}`, `${nines(8)}.${nines(30)}`],
    ],
    refused: ['0.3000000000000000000000000000001', '1e-31', '100000000'],
  },
  {
    what: 'decimal of 38 digits, none after the point',
    column: decimal('v', 'V.', { precision: 38, scale: 0 }),
    type: 'DECIMAL(38,0)',
    accepted: [
      [nines(38), nines(38)],
      [`"-${nines(38)}"`, `-${nines(38)}`],
      ['18446744073709551616', '18446744073709551616'],
      ['-18446744073709551616', '-18446744073709551616'],
      ['-1', '-1'],
      ['1.0', '1'],
      ['1e37', `1${'0'.repeat(37)}`],
    ],
    refused: [`1${'0'.repeat(38)}`, `"-1${'0'.repeat(38)}"`, '1e38', '0.5'],
  },
  {
    what: 'decimal of 38 digits, all after the point',
    column: decimal('v', 'V.', { precision: 38, scale: 38 }),
    type: 'DECIMAL(38,38)',
    accepted: [
      [`0.${nines(38)}`, `.${nines(38)}`],
      ['-0.5', `-.5${'0'.repeat(37)}`],
      ['0', `.${'0'.repeat(38)}`],
    ],
    refused: ['1', '-1.0', `0.${nines(39)}`],
  },
  {
    what: 'decimal of 4 digits, all after the point',
    column: decimal('v', 'V.', { precision: 4, scale: 4 }),
    type: 'DECIMAL(4,4)',
    accepted: [
      ['0.9999', '.9999'],
      ['"-0.5"', '-.5000'],
    ],
    refused: ['1', '"0.00005"'],
  },
  {
    what: 'boolean',
    column: boolean('v', 'V.'),
    type: 'BOOLEAN',
    accepted: [
      ['true', true],
      ['false', false],
      ['"true"', true],
      ['"false"', false],
      [String.raw`"tr\u0075e"`, true],
    ],
    refused: ['"1"', '1', '0', '"TRUE"', '"True"', '"t"', '"yes"', '" true"', '"null"', '["true"]', '{}'],
  },
  {
    what: 'date',
    column: date('v', 'V.'),
    type: 'DATE',
    accepted: [
      ['"2024-02-14"', '2024-02-14'],
      ['"2024-02-29"', '2024-02-29'],
      ['"2000-02-29"', '2000-02-29'],
      ['"1969-12-31"', '1969-12-31'],
      ['"0001-01-01"', '0001-01-01'],
      ['"9999-12-31"', '9999-12-31'],
    ],
    refused: [
      '"2023-02-29"',
      '"1900-02-29"',
      '"2024-02-30"',
      '"2024-04-31"',
      '"2024-13-01"',
      '"2024-00-10"',
      '"2024-02-00"',
      '"0000-01-01"',
      '"10000-01-01"',
      '"+002024-02-14"',
      '"2024-2-14"',
      '"20240214"',
      '"14-02-2024"',
      '"2024-02-14T00:00:00Z"',
      '" 2024-02-14"',
      '20240214',
      'true',
    ],
  },
  {
    what: 'timestamp',
    column: timestamp('v', 'V.'),
    type: 'TIMESTAMP',
    accepted: [
      ['"2024-02-14T07:30:00Z"', '2024-02-14 07:30:00'],
      ['"2024-02-14t07:30:00z"', '2024-02-14 07:30:00'],
      ['"2024-02-14 07:30:00Z"', '2024-02-14 07:30:00'],
      ['"2024-02-14T07:30Z"', '2024-02-14 07:30:00'],
      ['"2024-02-14T07:30:00+07:00"', '2024-02-14 00:30:00'],
      ['"2024-02-14T07:30:00+0700"', '2024-02-14 00:30:00'],
      ['"2024-02-14T07:30:00-05:30"', '2024-02-14 13:00:00'],
      ['"2024-02-14T07:30:00-00:00"', '2024-02-14 07:30:00'],
      // Midnight of a leap year's March, seven hours east.
      ['"2024-03-01T00:00:00+07:00"', '2024-02-29 17:00:00'],
      ['"2024-02-14T07:30:00.5Z"', '2024-02-14 07:30:00.5'],
      ['"2024-02-14T07:30:00.000001Z"', '2024-02-14 07:30:00.000001'],
      ['"2024-02-14T07:30:00.123456Z"', '2024-02-14 07:30:00.123456'],
      ['"2024-02-14T07:30:00.123456000Z"', '2024-02-14 07:30:00.123456'],
      ['"1969-12-31T23:59:59.999999Z"', '1969-12-31 23:59:59.999999'],
      ['"0001-01-01T00:00:00Z"', '0001-01-01 00:00:00'],
      ['"9999-12-31T23:59:59.999999Z"', '9999-12-31 23:59:59.999999'],
    ],
    refused: [
      '"2024-02-14T07:30:00"',
      '"2024-02-14"',
      '"2024-02-14T07:30:00.1234567Z"',
      '"2024-02-14T07:30:00.Z"',
      '"2024-02-14T24:00:00Z"',
      '"2024-02-14T23:60:00Z"',
      '"2024-02-14T23:59:60Z"',
      '"2023-02-29T07:30:00Z"',
      '"2024-02-14T07:30:00+07"',
      '"2024-02-14T07:30:00+24:00"',
      '"2024-02-14T07:30:00+07:60"',
      '"2024-02-14T07:30:00 WIB"',
      '"14/02/2024 07:30:00Z"',
      // In UTC they have no year of four digits.
      '"0001-01-01T00:00:00+01:00"',
      '"9999-12-31T23:59:59-01:00"',
      '1707895800',
      'true',
    ],
  },
  {
    what: 'timestamp whose source is seven hours east',
    column: timestamp('v', 'V.', { offset: '+07:00' }),
    type: 'TIMESTAMP',
    accepted: [
      ['"2024-02-14T07:30:00"', '2024-02-14 00:30:00'],
      ['"2024-02-14 03:00:00.25"', '2024-02-13 20:00:00.25'],
      // What a value says of itself counts.
      ['"2024-02-14T07:30:00Z"', '2024-02-14 07:30:00'],
      ['"2024-02-14T07:30:00-01:00"', '2024-02-14 08:30:00'],
    ],
    refused: ['"2024-02-14"', '"2023-02-29T07:30:00"'],
  },
];

describe.each(cases)('$what', ({ column, type, accepted, refused }) => {
  it.each(accepted)('reads %s as %s', (json, value) => {
    expect(read(column, json)).toBe(value);
  });

  it.each(refused)('calls %s malformed', (json) => {
    expect(read(column, json)).toEqual({ refused: 'malformed' });
  });

  it('tells a missing field, null and an empty text from each other', () => {
    expect(read(column, undefined)).toEqual({ refused: 'missing' });
    expect(read(column, 'null')).toEqual({ refused: 'null' });
    expect(read(column, '""')).toEqual({ refused: 'empty' });
  });

  it(`is ${type} in DuckDB`, () => {
    expect(kindOf(column).sqlType).toBe(type);
  });

  it('has one fingerprint for each value, however that is written', () => {
    const byFingerprint = new Map(accepted.map(([json, value]) => [fingerprint(column, json), value]));
    const byValue = new Map(accepted.map(([json, value]) => [value, fingerprint(column, json)]));
    expect(byFingerprint.size).toBe(new Set(accepted.map(([, value]) => value)).size);
    expect(byValue.size).toBe(byFingerprint.size);
    for (const [json, value] of accepted) expect(fingerprint(column, json)).toBe(byValue.get(value));
  });
});

describe('what a malformed value is said to be', () => {
  it.each([
    [integer('v', 'V.'), '9223372036854775808', 'is more than 9,223,372,036,854,775,807, the maximum of a column'],
    [integer('v', 'V.'), '-9223372036854775809', 'is less than -9,223,372,036,854,775,808, the minimum of a column'],
    [integer('v', 'V.'), '1.5', 'is not a whole number'],
    [count('v', 'V.'), '2147483648', 'is more than 2,147,483,647, the maximum of a column'],
    [count('v', 'V.'), '-1', 'is not a whole number'],
    [timestamp('v', 'V.'), 'x', 'is not a time such as 2024-02-14T07:00:00Z, with Z or an offset'],
    [timestamp('v', 'V.', { offset: '+07:00' }), 'x', 'is not a time such as 2024-02-14T07:00:00'],
  ] as const)('%o %s', (column, raw, words) => {
    expect(kindOf(column).malformed(raw).en).toBe(words);
  });
});

describe('on the way through Arrow, DuckDB and Parquet', () => {
  /** More than a data chunk of DuckDB holds, and no multiple of anything. */
  const rows = 5001;
  const columns = Object.fromEntries(
    cases.map(({ column }, index) => [`c${index}`, { ...column, field: `c${index}`, nullable: true as const }]),
  );
  const everything: AnyPipeline = {
    ...definePipeline({
      table: 'everything',
      title: 'Everything',
      comment: 'A column of each kind.',
      path: '/everything',
      columns: { id: integer('id', 'Number of the row.'), ...columns },
      key: ['id'],
    }),
    paging: { by: 'offset', limit: 'limit', offset: 'offset' },
    format: 'json',
    records: '/data',
    reportedCount: '/count',
  };
  const project: Project = {
    name: 'everything',
    title: 'Everything',
    description: 'Everything.',
    examples: [],
    auth: null,
    partitionOption: 'partition',
    pipelines: [everything],
    models: [],
    checks: [],
  };

  /** What stands in a row's column: each accepted value in turn, and NULL between them. */
  function cellOf(row: number, { accepted }: Case, index: number): readonly [json: string, text: string | null] {
    if ((row + index) % 5 === 0) return ['null', null];
    const [json, value] = accepted[row % accepted.length]!;
    return [json, String(value)];
  }

  it('every value stays what it is, beside every other', async () => {
    const json = Array.from({ length: rows }, (_, row) => {
      const cells = cases.map((found, index) => `"c${index}":${cellOf(row, found, index)[0]}`);
      return `{"id":${row},${cells.join(',')}}`;
    });
    const { folder, rows: askDatabase, reports } = await load({ everything: [`[${json.join(',')}]`] }, { project });
    const expected = Array.from({ length: rows }, (_, row) =>
      Object.fromEntries(cases.map((found, index) => [`c${index}`, cellOf(row, found, index)[1]])),
    );
    const texts = `SELECT COLUMNS('^c')::VARCHAR FROM %s ORDER BY id`;
    const file = quoteText(join(folder, parquetPath('everything')));
    expect(await askDatabase(texts.replace('%s', 'everything'))).toEqual(expected);
    expect(await ask(':memory:', texts.replace('%s', `read_parquet(${file})`))).toEqual(expected);
    expect(reports.get('everything')!.violations).toEqual([]);
    const types = await ask(':memory:', `DESCRIBE FROM read_parquet(${file})`);
    expect(types.map(({ column_type }) => column_type).slice(1, -1)).toEqual(cases.map(({ type }) => type));
  });

  it('a sum of decimals is exact', async () => {
    const { totals, rows: askDatabase } = await load(
      { everything: ['[{"id":1,"c9":0.1},{"id":2,"c9":0.2},{"id":3,"c9":0.000000000000000000000000000001}]'] },
      { project },
    );
    expect(totals.get('everything')!.sums['c9']).toBe(300_000_000_000_000_000_000_000_000_001n);
    const sums = await askDatabase('SELECT sum(c9)::VARCHAR AS sum FROM everything');
    expect(sums).toEqual([{ sum: '0.300000000000000000000000000001' }]);
  });
});
