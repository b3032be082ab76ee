/** What every kind of column accepts and refuses. */

import type { AnyPipeline, ColumnDefinition, Project } from '../../src/project/declaration.ts';
import { boolean, count, date, decimal, double, integer, json, text, timestamp } from '../../src/project/define.ts';

export interface KindCase {
  readonly column: ColumnDefinition;
  readonly type: string;
  /** JSON and its stored value as text, `json → value`. */
  readonly accepted: string;
  /** JSON that is malformed. */
  readonly refused: string;
}

/** Splits a list of JSON values. */
export const itemsOf = (list: string): string[] =>
  list
    .split(/[|\n]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
/** Pairs of JSON and its stored value as text. */
export const acceptedBy = ({ accepted }: KindCase) =>
  itemsOf(accepted).map((item) => item.split(' → ') as [string, string]);

const nines = (length: number): string => '9'.repeat(length);
const zeros = (length: number): string => '0'.repeat(length);

export const cases: Readonly<Record<string, KindCase>> = {
  text: {
    column: text('v', 'V.'),
    type: 'VARCHAR',
    accepted: String.raw`"ACEH BARAT" → ACEH BARAT | "007" → 007 | "null" → null | "Größe 😀" → Größe 😀
      "\u0041\"\\\ud83d\ude00" → A"\😀`,
    // Half a surrogate pair can't be written as UTF-8.
    refused: String.raw`12 | true | ["a"] | {"a":"b"} | "A\ud800" | "\uDE00\uD83D"`,
  },
  count: {
    column: count('v', 'V.'),
    type: 'INTEGER',
    // A number may have a point, but in a text it could separate groups.
    accepted: `"0" → 0 | 0 → 0 | "007" → 7 | "2147483647" → 2147483647 | 2147483647 → 2147483647 | 12.0 → 12 | 1e3 → 1000
      1.0E+2 → 100 | 1.5e1 → 15`,
    refused: `"2147483648" | 4294967297 | "-1" | -1 | -1.0 | "+1" | " 1" | "1.0" | "1e3" | 1.5 | 1e-1 | 1e10 | "n/a" | true
      [1]`,
  },
  integer: {
    column: integer('v', 'V.'),
    type: 'BIGINT',
    // No float equals 9007199254740993.
    accepted: `"9223372036854775807" → 9223372036854775807 | 9223372036854775807 → 9223372036854775807
      "-9223372036854775808" → -9223372036854775808 | -9223372036854775808 → -9223372036854775808
      9007199254740993 → 9007199254740993 | "-0" → 0 | "007" → 7 | 12.0 → 12 | -1e3 → -1000 | 9.223372036854775807e18 → 9223372036854775807`,
    refused: `"9223372036854775808" | 9223372036854775808 | "-9223372036854775809" | -9223372036854775809 | "${nines(40)}"
      "+1" | "--1" | "-" | "1 " | "1.0" | 1.5 | "1e3" | 1e19 | "0x10" | "1,000" | true | [1]`,
  },
  'integer of 32 bits': {
    column: integer('v', 'V.', { min: -2_147_483_648, max: 2_147_483_647 }),
    type: 'INTEGER',
    accepted: '"-2147483648" → -2147483648 | 2147483647 → 2147483647 | "-0" → 0',
    refused: '"-2147483649" | 2147483648 | 1.5 | "x" | false',
  },
  'integer from 10 to 20': {
    column: integer('v', 'V.', { min: 10, max: 20 }),
    type: 'INTEGER',
    accepted: '"10" → 10 | 20 → 20',
    refused: '"9" | 21 | 0 | -10 | "10000000000"',
  },
  'integer of at least 1': {
    column: integer('v', 'V.', { min: 1 }),
    type: 'BIGINT',
    accepted: '1 → 1 | 9223372036854775807 → 9223372036854775807',
    refused: '0 | -1 | 9223372036854775808',
  },
  'integer of at most 4,000,000,000': {
    column: integer('v', 'V.', { max: 4_000_000_000 }),
    type: 'BIGINT',
    accepted: '4000000000 → 4000000000 | -9223372036854775808 → -9223372036854775808',
    refused: '4000000001',
  },
  'decimal(10, 2)': {
    column: decimal('v', 'V.', { precision: 10, scale: 2 }),
    type: 'DECIMAL(10,2)',
    accepted: `"12.34" → 12.34 | 12.34 → 12.34 | "12" → 12.00 | 12.3 → 12.30 | 0 → 0.00 | "-0" → 0.00 | -0.01 → -0.01
      "007.10" → 7.10 | "12.340000" → 12.34 | 12.34000000000000000000 → 12.34 | 1.234E1 → 12.34 | 1.234e+1 → 12.34
      1234e-2 → 12.34 | -1.5E3 → -1500.00 | 100000e-5 → 1.00 | "99999999.99" → 99999999.99 | -99999999.99 → -99999999.99`,
    refused: `"12.341" | 12.345 | 0.001 | 1e-3 | 1.2345E1 | "100000000.00" | 100000000 | -100000000 | 1e8 | 1e9999 | ".5"
      "5." | "+1" | " 1" | "1,5" | "1.234,56" | "1 000" | "NaN" | "Infinity" | "0x10" | "-" | true | [1]`,
  },
  'decimal(38, 30)': {
    column: decimal('v', 'V.', { precision: 38, scale: 30 }),
    type: 'DECIMAL(38,30)',
    accepted: `0.1 → 0.1${zeros(29)} | 0.300000000000000000000000000001 → 0.300000000000000000000000000001
      "12345678.901234567890123456789012345678" → 12345678.901234567890123456789012345678
      -12345678.901234567890123456789012345678 → -12345678.901234567890123456789012345678
      1e-30 → 0.000000000000000000000000000001 | ${nines(8)}.${nines(30)} → ${nines(8)}.${nines(30)}`,
    refused: '0.3000000000000000000000000000001 | 1e-31 | 100000000',
  },
  'decimal(38, 0)': {
    column: decimal('v', 'V.', { precision: 38, scale: 0 }),
    type: 'DECIMAL(38,0)',
    accepted: `${nines(38)} → ${nines(38)} | "-${nines(38)}" → -${nines(38)} | -1 → -1 | 1.0 → 1 | 1e37 → 1${zeros(37)}
      18446744073709551616 → 18446744073709551616 | -18446744073709551616 → -18446744073709551616`,
    refused: `1${zeros(38)} | "-1${zeros(38)}" | 1e38 | 0.5`,
  },
  'decimal(38, 38)': {
    column: decimal('v', 'V.', { precision: 38, scale: 38 }),
    type: 'DECIMAL(38,38)',
    accepted: `0.${nines(38)} → .${nines(38)} | -0.5 → -.5${zeros(37)} | 0 → .${zeros(38)}`,
    refused: `1 | -1.0 | 0.${nines(39)}`,
  },
  'decimal(4, 4)': {
    column: decimal('v', 'V.', { precision: 4, scale: 4 }),
    type: 'DECIMAL(4,4)',
    accepted: '0.9999 → .9999 | "-0.5" → -.5000',
    refused: '1 | "0.00005"',
  },
  'count with groups': {
    column: count('v', 'V.', { group: '.' }),
    type: 'INTEGER',
    accepted: '"1.234" → 1234 | "1.234.567" → 1234567 | "12" → 12 | 1234 → 1234 | 12.0 → 12 | "1234" → 1234',
    refused: '"1.23" | "1.2345" | "12345.678" | ".123" | "1." | "1,234" | "1.000.000.000.000" | 1.5',
  },
  'integer with groups': {
    column: integer('v', 'V.', { group: ' ' }),
    type: 'BIGINT',
    accepted: '"-1 234" → -1234 | "1\u00a0234" → 1234 | "7" → 7',
    refused: '"1  234" | "1 23" | " 1"',
  },
  'decimal with a comma': {
    column: decimal('v', 'V.', { precision: 12, scale: 2, point: ',', group: '.' }),
    type: 'DECIMAL(12,2)',
    accepted:
      '"1.234,5" → 1234.50 | "-1.234.567,89" → -1234567.89 | "12,34" → 12.34 | "12" → 12.00 | "1.234" → 1234.00 | 12.34 → 12.34',
    refused: '"12.34" | "1,2,3" | "12," | ",5" | "1.23,4" | "1e3"',
  },
  double: {
    column: double('v', 'V.'),
    type: 'DOUBLE',
    accepted:
      '0.1 → 0.1 | "0.1" → 0.1 | 1e300 → 1e+300 | -0.0 → 0.0 | 12 → 12.0 | 9007199254740993 → 9007199254740992.0 | 1e-400 → 0.0',
    refused: '"NaN" | "Infinity" | 1e999 | ".5" | "5." | "1,5" | true | [1]',
  },
  json: {
    column: json('v', 'V.'),
    type: 'VARCHAR',
    accepted: String.raw`[1, 2] → [1, 2] | {"a":[true]} → {"a":[true]} | "a" → "a" | "\u0041\"" → "\u0041\"" | 12.50 → 12.50 | true → true`,
    refused: '',
  },
  'text of any value': {
    column: text('v', 'V.', { from: 'any' }),
    type: 'VARCHAR',
    accepted:
      '12 → 12 | 12.50 → 12.50 | true → true | "12A" → 12A | 18446744073709551616 → 18446744073709551616 | -1e3 → -1e3',
    refused: '["a"] | {"a":"b"}',
  },
  'date in a format': {
    column: date('v', 'V.', { format: 'DD/MM/YYYY' }),
    type: 'DATE',
    accepted: '"14/02/2024" → 2024-02-14 | "29/02/2024" → 2024-02-29',
    refused: '"2024-02-14" | "02/14/2024" | "30/02/2024" | "1/2/2024" | "14/02/2024 07:30" | 14022024',
  },
  'date in digits': {
    column: date('v', 'V.', { format: 'YYYYMMDD' }),
    type: 'DATE',
    accepted: '"20240214" → 2024-02-14 | 20240214 → 2024-02-14',
    refused: '"2024-02-14" | 20241402',
  },
  'timestamp in a format': {
    column: timestamp('v', 'V.', { format: 'DD.MM.YYYY HH:mm', offset: '+07:00' }),
    type: 'TIMESTAMP',
    accepted: '"14.02.2024 07:30" → 2024-02-14 00:30:00',
    refused: '"14.02.2024" | "14.02.2024 24:00" | "2024-02-14T07:30:00Z" | "30.02.2024 07:30"',
  },
  'timestamp that is cut': {
    column: timestamp('v', 'V.', { cut: true }),
    type: 'TIMESTAMP',
    accepted:
      '"2024-02-14T07:30:00.1234567Z" → 2024-02-14 07:30:00.123456 | "2024-02-14T07:30:00Z" → 2024-02-14 07:30:00',
    refused: '"2024-02-14T07:30:00.12345678901Z" | "2024-02-14"',
  },
  'timestamp in milliseconds': {
    column: timestamp('v', 'V.', { format: 'ms' }),
    type: 'TIMESTAMP',
    accepted:
      '1707895800123 → 2024-02-14 07:30:00.123 | "1707895800000" → 2024-02-14 07:30:00 | -1 → 1969-12-31 23:59:59.999 | 0 → 1970-01-01 00:00:00',
    refused: '"2024-02-14T07:30:00Z" | 1e18 | true',
  },
  'timestamp in seconds': {
    column: timestamp('v', 'V.', { format: 's' }),
    type: 'TIMESTAMP',
    accepted: '1707895800 → 2024-02-14 07:30:00 | 1707895800.25 → 2024-02-14 07:30:00.25',
    refused: '1707895800.1234567 | "x"',
  },
  boolean: {
    column: boolean('v', 'V.'),
    type: 'BOOLEAN',
    accepted: String.raw`true → true | false → false | "true" → true | "false" → false | "tr\u0075e" → true`,
    refused: '"1" | 1 | 0 | "TRUE" | "True" | "t" | "yes" | " true" | "null" | ["true"] | {}',
  },
  date: {
    column: date('v', 'V.'),
    type: 'DATE',
    accepted: `"2024-02-14" → 2024-02-14 | "2024-02-29" → 2024-02-29 | "2000-02-29" → 2000-02-29
      "1969-12-31" → 1969-12-31 | "0001-01-01" → 0001-01-01 | "9999-12-31" → 9999-12-31`,
    refused: `"2023-02-29" | "1900-02-29" | "2024-02-30" | "2024-04-31" | "2024-13-01" | "2024-00-10" | "2024-02-00"
      "0000-01-01" | "10000-01-01" | "+002024-02-14" | "2024-2-14" | "20240214" | "14-02-2024" | " 2024-02-14"
      "2024-02-14T00:00:00Z" | 20240214 | true`,
  },
  timestamp: {
    column: timestamp('v', 'V.'),
    type: 'TIMESTAMP',
    accepted: `"2024-02-14T07:30:00Z" → 2024-02-14 07:30:00 | "2024-02-14t07:30:00z" → 2024-02-14 07:30:00
      "2024-02-14 07:30:00Z" → 2024-02-14 07:30:00 | "2024-02-14T07:30Z" → 2024-02-14 07:30:00
      "2024-02-14T07:30:00+07:00" → 2024-02-14 00:30:00 | "2024-02-14T07:30:00+0700" → 2024-02-14 00:30:00
      "2024-02-14T07:30:00-05:30" → 2024-02-14 13:00:00 | "2024-02-14T07:30:00-00:00" → 2024-02-14 07:30:00
      "2024-03-01T00:00:00+07:00" → 2024-02-29 17:00:00 | "2024-02-14T07:30:00.5Z" → 2024-02-14 07:30:00.5
      "2024-02-14T07:30:00.000001Z" → 2024-02-14 07:30:00.000001
      "2024-02-14T07:30:00.123456000Z" → 2024-02-14 07:30:00.123456
      "1969-12-31T23:59:59.999999Z" → 1969-12-31 23:59:59.999999
      "0001-01-01T00:00:00Z" → 0001-01-01 00:00:00 | "9999-12-31T23:59:59.999999Z" → 9999-12-31 23:59:59.999999`,
    // In UTC, the last two but two aren't in years 1 to 9999.
    refused: `"2024-02-14T07:30:00" | "2024-02-14" | "2024-02-14T07:30:00.1234567Z" | "2024-02-14T07:30:00.Z"
      "2024-02-14T24:00:00Z" | "2024-02-14T23:60:00Z" | "2024-02-14T23:59:60Z" | "2023-02-29T07:30:00Z"
      "2024-02-14T07:30:00+07" | "2024-02-14T07:30:00+24:00" | "2024-02-14T07:30:00+07:60" | "2024-02-14T07:30:00 WIB"
      "14/02/2024 07:30:00Z" | "0001-01-01T00:00:00+01:00" | "9999-12-31T23:59:59-01:00" | 1707895800 | true`,
  },
  'timestamp with a default offset': {
    column: timestamp('v', 'V.', { offset: '+07:00' }),
    type: 'TIMESTAMP',
    accepted: `"2024-02-14T07:30:00" → 2024-02-14 00:30:00 | "2024-02-14 03:00:00.25" → 2024-02-13 20:00:00.25
      "2024-02-14T07:30:00Z" → 2024-02-14 07:30:00 | "2024-02-14T07:30:00-01:00" → 2024-02-14 08:30:00`,
    refused: '"2024-02-14" | "2023-02-29T07:30:00"',
  },
};

/** Returns a project with one dataset, `everything`: a number `id` and a column per case, c0, c1 and so on. */
export function projectOfAllKinds(
  isNullable: (index: number) => boolean,
  paging: Pick<AnyPipeline, 'paging' | 'reportedCount'>,
  chosen: readonly KindCase[] = Object.values(cases),
): Project {
  const columns = chosen.map(({ column }, index) => [
    `c${index}`,
    { ...column, field: `c${index}`, ...(isNullable(index) && { nullable: true as const }) },
  ]);
  const everything: AnyPipeline = {
    table: 'everything',
    title: 'Everything',
    comment: 'A column of each kind.',
    path: '/everything',
    columns: { id: integer('id', 'Number of the row.'), ...Object.fromEntries(columns) },
    key: ['id'],
    watch: [],
    checks: [],
    format: 'json',
    records: '/data',
    ...paging,
  };
  return {
    name: 'everything',
    title: 'Everything',
    description: 'Everything.',
    examples: [],
    auth: null,
    pipelines: [everything],
    models: [],
    checks: [],
  };
}
