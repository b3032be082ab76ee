/** CSV and JSON have the exact values of a result. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runQuery } from '../../../src/snapshots/query/run-query.ts';
import { writeCsv, writeJson } from '../../../src/snapshots/query/write-result.ts';
import { holds } from '../../support/properties.ts';
import { databaseOf, parseCsv, textOf, textResult } from './support.ts';

const { database } = databaseOf();

async function written(sql: string, writer: typeof writeCsv): Promise<string> {
  return runQuery(database, sql, async (result) => textOf(result, writer));
}

describe('CSV', () => {
  it('has exact numbers, dates and booleans', async () => {
    const sql =
      "SELECT 9007199254740993 AS big, 170141183460469231731687303715884105727::HUGEINT AS huge, 0.1::DOUBLE AS d, true AS t, DATE '2024-02-14' AS day, 12.50::DECIMAL(9,2) AS pct, [1, 2] AS list";
    const numbers = ['9007199254740993', '170141183460469231731687303715884105727', '0.1'];
    const others = ['true', '2024-02-14', expect.stringMatching(/^12\.50?$/), '[1,2]'];
    expect(parseCsv(await written(sql, writeCsv))[1]).toEqual([...numbers, ...others]);
  });

  it('has every row, and the header of an empty result', async () => {
    let csv = '';
    const write = async (piece: string) => void (csv += piece);
    expect(await runQuery(database, 'SELECT range AS n FROM range(5000)', (result) => writeCsv(result, write))).toBe(
      5000,
    );
    expect(parseCsv(csv)).toHaveLength(5001);
    expect(await written('SELECT 1 AS a, 2 AS b WHERE false', writeCsv)).toBe('a,b\n');
  });

  it('quotes a first name that readers would take for a byte order mark', async () => {
    expect(await written('SELECT 1 AS "\ufeffa"', writeCsv)).toBe('"\ufeffa"\n1\n');
  });
});

describe.each([
  ['CSV', async (sql: string) => parseCsv(await written(sql, writeCsv))[1]![0]],
  ['JSON', async (sql: string) => JSON.parse(await written(sql, writeJson))[0].v],
])('%s', (_, valueOf) => {
  it.each([
    ['12345678901234567890.12::DECIMAL(38,2)', '12345678901234567890.12'],
    ["'infinity'::DATE", 'infinity'],
    ["TIME '10:00:01.5'", '10:00:01.5'],
    ["TIMESTAMP_S '2024-02-14 12:00:00'", '2024-02-14 12:00:00'],
    ['INTERVAL 3 MONTH', '3 months'],
    [String.raw`'a\x00b'::BLOB`, String.raw`a\x00b`],
    ['chr(65279)', '\ufeff'],
    ["chr(65279) || 'longer than twelve bytes'", '\ufefflonger than twelve bytes'],
  ])('writes %s like DuckDB', async (sql, text) => {
    expect(await valueOf(`SELECT ${sql} AS v`)).toBe(text);
  });
});

describe('JSON', () => {
  it('keeps the values of lists and structs', async () => {
    const sql =
      "SELECT [TIMESTAMP '2024-02-14', NULL] AS times, [1.25::DECIMAL(4,2)] AS shares, {'day': DATE '2024-02-14', 'n': 1} AS both";
    expect(JSON.parse(await written(sql, writeJson))).toEqual([
      { times: ['2024-02-14 00:00:00', null], shares: ['1.25'], both: { day: '2024-02-14', n: 1 } },
    ]);
  });

  it('is an array with an object per row', async () => {
    const rows = JSON.parse(
      await written('SELECT range AS n, \'R\' || range AS "re,g", NULL AS none FROM range(5000)', writeJson),
    ) as unknown[];
    expect(rows).toHaveLength(5000);
    expect(rows[4999]).toEqual({ n: 4999, 're,g': 'R4999', none: null });
    expect(JSON.parse(await written('SELECT 1 WHERE false', writeJson))).toEqual([]);
  });

  holds(
    'keeps every text',
    fc.asyncProperty(
      fc.array(fc.array(fc.tuple(fc.option(fc.string({ unit: 'binary' }))), { maxLength: 3 })),
      async (groups) => {
        const parsed = JSON.parse(await textOf(textResult(['__proto__'], groups), writeJson)) as object[];
        expect(parsed.map((row) => Object.entries(row))).toEqual(groups.flat().map(([text]) => [['__proto__', text]]));
      },
    ),
    { runs: 60 },
  );

  it('rounds no integer, also in lists and structs', async () => {
    const text = await written(
      'SELECT 9007199254740991 AS safe, 9007199254740993 AS big, -9007199254740993 AS low, [9007199254740993] AS list, {n: 18446744073709551615::UBIGINT} AS struct',
      writeJson,
    );
    expect(JSON.parse(text)).toEqual([
      {
        safe: 9_007_199_254_740_991,
        big: '9007199254740993',
        low: '-9007199254740993',
        list: ['9007199254740993'],
        struct: { n: '18446744073709551615' },
      },
    ]);
  });
});
