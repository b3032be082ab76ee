/** An Arrow file has the values of a result, and is written group by group. */

import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import type { QueryResult } from '../../../src/snapshots/query/query-result.ts';
import { runQuery } from '../../../src/snapshots/query/run-query.ts';
import { writeArrow } from '../../../src/snapshots/query/write-arrow.ts';
import { databaseOf } from './support.ts';

const { database } = databaseOf();

/** A query's result as an Arrow reader sees it, and the number of rows that was given. */
async function arrowTable(sql: string) {
  const pieces: Uint8Array[] = [];
  const write = async (bytes: Uint8Array) => void pieces.push(bytes);
  const rows = await runQuery(database, sql, (result) => writeArrow(result, write));
  return { table: tableFromIPC(Buffer.concat(pieces)), rows };
}

/** The columns of a query's result as an Arrow reader sees them. */
async function arrowOf(sql: string) {
  const { table, rows } = await arrowTable(sql);
  expect(table.numRows).toBe(rows);
  return Object.fromEntries(table.schema.fields.map(({ name }) => [name, [...table.getChild(name)!]]));
}

describe('an Arrow file', () => {
  it('has the values of DuckDB', async () => {
    const sql = `SELECT * FROM (VALUES
      (1, 9007199254740993, 0.1::DOUBLE, true, 'a"😀', DATE '2024-02-14', TIMESTAMP '2024-02-14 12:34:56.789', 12.5::DECIMAL(9,2), 9223372036854775807::HUGEINT, [1, NULL]),
      (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (-2147483648, -9223372036854775808, -1e300, false, '', DATE '1945-08-17', TIMESTAMP '1945-08-17 03:00:00', -0.25, -1, [])
    ) AS t(i, b, d, t, s, day, ts, dec, huge, list)`;
    expect(await arrowOf(sql)).toEqual({
      i: [1, null, -2_147_483_648],
      b: [9_007_199_254_740_993n, null, -9_223_372_036_854_775_808n],
      d: [0.1, null, -1e300],
      t: [true, null, false],
      s: ['a"😀', null, ''],
      day: [Date.UTC(2024, 1, 14), null, Date.UTC(1945, 7, 17)],
      ts: [Date.UTC(2024, 1, 14, 12, 34, 56, 789), null, Date.UTC(1945, 7, 17, 3)],
      dec: ['12.50', null, '-0.25'],
      huge: [9_223_372_036_854_775_807n, null, -1n],
      list: ['[1,null]', null, '[]'],
    });
  });

  it('distinguishes dates and times from NULL in every row', async () => {
    const sql = `SELECT CASE WHEN range % 3 > 0 THEN DATE '2024-02-14' + range::INTEGER END AS day,
      CASE WHEN range % 5 > 0 THEN TIMESTAMP '2024-02-14 00:00:00' + INTERVAL 1 HOUR * range END AS ts FROM range(200)`;
    const start = Date.UTC(2024, 1, 14);
    const rows = Array.from({ length: 200 }, (_, row) => row);
    expect(await arrowOf(sql)).toEqual({
      day: rows.map((row) => (row % 3 > 0 ? start + row * 86_400_000 : null)),
      ts: rows.map((row) => (row % 5 > 0 ? start + row * 3_600_000 : null)),
    });
  });

  it('has dates beyond the range of JavaScript', async () => {
    const { table } = await arrowTable("SELECT DATE '5000000-01-01' AS far, 'infinity'::DATE AS never");
    const daysOf = (name: string): unknown => table.getChild(name)!.data[0]!.values[0];
    expect([daysOf('far'), daysOf('never')]).toEqual([1_825_492_972, 2_147_483_647]);
  });

  it('has unsigned integers', async () => {
    const sql =
      'SELECT 255::UTINYINT AS a, 65535::USMALLINT AS b, 4294967295::UINTEGER AS c, 18446744073709551615::UBIGINT AS d';
    expect(await arrowOf(sql)).toEqual({ a: [255], b: [65_535], c: [4_294_967_295], d: [18_446_744_073_709_551_615n] });
  });

  it('has the columns of an empty result', async () => {
    expect(await arrowOf("SELECT 1 AS a, 'x' AS b WHERE false")).toEqual({ a: [], b: [] });
  });

  it('keeps the order of columns with numeric names', async () => {
    const { table } = await arrowTable('SELECT \'x\' AS name, 2 AS "2024", 1 AS "2019"');
    expect(table.schema.fields.map(({ name }) => name)).toEqual(['name', '2024', '2019']);
  });

  it('is written group by group', async () => {
    const steps: string[] = [];
    const result: QueryResult = {
      columns: [{ name: 'n', type: 'INTEGER' }],
      groups: async function* () {
        for (let group = 0; group < 3; group += 1) {
          steps.push(`group ${group}`);
          yield Array.from({ length: 1000 }, () => [group]);
        }
      },
    };
    const pieces: Uint8Array[] = [];
    await writeArrow(result, async (bytes) => {
      steps.push(bytes.length > 4000 ? 'a batch' : 'the end');
      pieces.push(bytes);
    });
    expect(steps).toEqual(['group 0', 'a batch', 'group 1', 'a batch', 'group 2', 'a batch', 'the end']);
    const table = tableFromIPC(Buffer.concat(pieces));
    expect([table.batches.length, table.numRows]).toEqual([3, 3000]);
    expect([...table.getChild('n')!].filter((_, row) => row % 1000 === 0)).toEqual([0, 1, 2]);
  });
});
