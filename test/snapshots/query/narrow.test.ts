/** Sums have 128 bits in DuckDB, and are exact 64-bit integers in Parquet files. */

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase, quoteText } from '../../../src/runtime/database.ts';
import { queryToParquet } from '../../../src/snapshots/query/run-query.ts';
import { databaseOf } from './support.ts';

const { folder, database } = databaseOf();

/** The columns of a file, by name and type, and its rows. */
interface Read {
  readonly schema: readonly (readonly [string, string])[];
  readonly rows: readonly (readonly unknown[])[];
}

async function throughParquet(sql: string): Promise<Read> {
  const file = join(folder, 'out.parquet');
  await queryToParquet(database, sql, file);
  const memory = await openDatabase(':memory:');
  try {
    const schema = await memory.rows<{ name: string; type: string }>(
      `SELECT name, type FROM parquet_schema(${quoteText(file)}) WHERE type IS NOT NULL`,
    );
    const rows = await memory.rows<object>(`FROM read_parquet(${quoteText(file)})`);
    return { schema: schema.map(({ name, type }) => [name, type]), rows: rows.map((row) => Object.values(row)) };
  } finally {
    memory.close();
    await rm(file);
  }
}

const [least, most] = [-9_223_372_036_854_775_808n, 9_223_372_036_854_775_807n];

describe('a Parquet file', () => {
  it('stores sums as integers beside other columns, also with repeated names', async () => {
    const sql = 'SELECT sum(range) AS n, \'both\' AS sex, 7::UHUGEINT AS "a""b", 2 AS n FROM range(5000); -- all';
    const { schema, rows } = await throughParquet(sql);
    expect(schema.slice(0, 3)).toEqual([
      ['n', 'INT64'],
      ['sex', expect.not.stringContaining('INT')],
      ['a"b', 'INT64'],
    ]);
    expect(rows).toEqual([[12_497_500n, 'both', 7n, 2]]);
  });

  it('stores every sum that fits, and NULL, in the order of the query', async () => {
    const sql = `WITH t(n) AS (VALUES (${least}::HUGEINT), (0), (NULL), (${most})) FROM t ORDER BY n DESC NULLS LAST`;
    expect((await throughParquet(sql)).rows).toEqual([[most], [0n], [least], [null]]);
    const many = await throughParquet('SELECT sum(range) FROM range(5000) GROUP BY range ORDER BY range DESC');
    expect(many.rows).toEqual(Array.from({ length: 5000 }, (_, row) => [BigInt(4999 - row)]));
  });

  it.each([`${most + 1n}::HUGEINT`, `${least - 1n}::HUGEINT`])(
    'is refused and removed if a sum does not fit: %s',
    async (sum) => {
      const failing = throughParquet(`SELECT 1::HUGEINT AS n, ${sum} AS "all people"`);
      const message = expect.stringContaining('"all people"') as string;
      await expect(failing).rejects.toMatchObject({ code: 'query', message, next: expect.stringContaining('Cast') });
      expect(await readdir(folder)).toEqual(['rekap.duckdb']);
    },
  );
});
