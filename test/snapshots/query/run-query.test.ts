/** A query is one read-only statement on the published tables. It writes nothing and reads nothing outside the snapshot. */

import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/runtime/database.ts';
import type { QueryResult } from '../../../src/snapshots/query/query-result.ts';
import { queryToParquet, runQuery } from '../../../src/snapshots/query/run-query.ts';
import { databaseOf } from './support.ts';

const { folder, database } = databaseOf(`
  CREATE TABLE voters AS SELECT range::INTEGER AS n, 'R' || range AS regency FROM range(5000);
  CREATE VIEW evens AS SELECT n FROM voters WHERE n % 2 = 0`);
let outside: string;
let untouched: Buffer;

beforeAll(async () => void (untouched = await readFile(database)));
beforeEach(async () => {
  outside = await mkdtemp(join(folder, 'outside-'));
  await writeFile(join(outside, 'secret.csv'), 'secret\n42\n');
});

async function rowsOf(sql: string): Promise<unknown[][]> {
  return runQuery(database, sql, allRows);
}

async function allRows({ groups }: QueryResult): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  for await (const group of groups()) rows.push(...group.map((row) => [...row]));
  return rows;
}

async function expectUntouched(): Promise<void> {
  expect(await readdir(outside)).toEqual(['secret.csv']);
  expect((await readdir(folder)).filter((name) => !name.startsWith('outside-'))).toEqual(['rekap.duckdb']);
  expect((await readFile(database)).equals(untouched)).toBe(true);
}

/**
 * Statements that a query must not contain; statement-grammar.test.ts tries those that write. `FILE` is a new path outside, and `SECRET` an
 * existing one.
 */
const refused = `
INSERT INTO voters VALUES (1, 'x')
COPY voters TO 'FILE'
SELECT * FROM 'SECRET'
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv('SECRET')
SELECT * FROM read_text('SECRET')
SELECT * FROM read_blob('SECRET')
SELECT * FROM read_json('SECRET')
SELECT * FROM parquet_metadata('SECRET')
SELECT * FROM glob('SECRET')
SELECT * FROM read_text('https://service.test/')
DESCRIBE '/etc/passwd'
FROM query_table('SECRET')
FROM query('FROM read_text(''SECRET'')')
FROM read_duckdb('SECRET', table_name := 'voters')
FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''SECRET'')'))
FROM duckdb_secrets()
FROM duckdb_extensions()
SELECT getenv('HOME')
SELECT set_config('threads', '1', false)
SELECT 1; COPY voters TO 'FILE'
SELECT 1) TO 'FILE' (FORMAT csv); COPY (SELECT 1
SELECT 1; SELECT 2
SELECT $1
SELECT * FROM nothing
`
  .trim()
  .split('\n');

describe('a query', () => {
  it.each([
    ["  -- a comment\n SELECT ';' AS s -- and ; another\n", [[';']]],
    ['WITH x AS (SELECT max(n) AS m FROM voters) SELECT m FROM x', [[4999]]],
    ['SELECT name FROM (SHOW TABLES)', [['evens'], ['voters']]],
    ['SELECT 1 + 1; -- one; and no more', [[2]]],
    ['SELECT 1 /* of /* two */ */', [[1]]],
    ['PIVOT evens ON n % 3 USING count(*)', [[834n, 833n, 833n]]],
    ['FROM (PIVOT evens ON n % 3 USING count(*)) /* all */ ;', [[834n, 833n, 833n]]],
  ])('reads: %s', async (sql, rows) => {
    expect(await rowsOf(sql)).toEqual(rows);
  });

  it.each([
    'SHOW TABLES',
    'DESCRIBE voters',
    'SUMMARIZE voters',
    '/* why */ explain analyze FROM voters;',
    'EXPLAIN (ANALYZE, FORMAT json) FROM voters',
    'EXPLAIN PIVOT evens ON n % 3 USING count(*)',
  ])('accepts %s', async (sql) => {
    expect(await rowsOf(sql)).not.toEqual([]);
  });

  it('returns the names and types of its columns, and makes repeated names distinct', async () => {
    const sql = 'SELECT 1 AS a, 2::BIGINT AS a, regency FROM voters';
    const columns = await runQuery(database, sql, async (result) => result.columns);
    expect(columns.map(({ type }) => type)).toEqual(['INTEGER', 'BIGINT', 'VARCHAR']);
    expect(new Set(columns.map(({ name }) => name)).size).toBe(3);
  });

  it.each(['1/0', '0/0', 'n // 0', '(n + 0.5) % 0'])('returns NULL for %s', async (expression) => {
    expect(await rowsOf(`SELECT ${expression} FROM voters LIMIT 1`)).toEqual([[null]]);
  });

  it('returns all rows, in groups', async () => {
    expect(await rowsOf('SELECT n FROM voters ORDER BY n')).toEqual(Array.from({ length: 5000 }, (_, n) => [n]));
  });

  it.each(refused)('is refused without side effects: %s', async (sql) => {
    const text = sql.replaceAll('FILE', join(outside, 'file')).replaceAll('SECRET', join(outside, 'secret.csv'));
    await expect(rowsOf(text)).rejects.toThrow(expect.objectContaining({ code: 'query' }));
    const target = join(outside, 'out.parquet');
    await expect(queryToParquet(database, text, target)).rejects.toThrow(expect.objectContaining({ code: 'query' }));
    await expectUntouched();
  });

  it.each([
    ['FROM nowhere', /SHOW TABLES/],
    ['SELECT nothing FROM voters', /DESCRIBE NAME/],
    ['FROM voters WHERE x = "both"', /single quotes/],
    ["FROM read_csv('SECRET')", /--out/],
    ['SELEC 1', /--help/],
    ["SELECT 'x'::INTEGER", /^$/],
  ])('suggests a next step if it fails: %s', async (sql, hint) => {
    await expect(rowsOf(sql)).rejects.toMatchObject({ code: 'query', next: expect.stringMatching(hint) });
  });

  it('beyond its memory limit fails, and leaves no temporary file', async () => {
    const heavy =
      "SELECT max(s) FROM (SELECT repeat('x', 200) || range AS s FROM range(500000) ORDER BY hash(range) LIMIT 400000)";
    // By default, DuckDB spills into a folder beside the published file.
    await expect(runQuery(database, heavy, allRows, { memory: 2 ** 26 })).rejects.toThrow(/memory limit/);
    expect(await rowsOf(heavy)).toHaveLength(1);
    await expectUntouched();
  });

  it.each(['', ';', '-- nothing'])('without a statement is refused: %j', async (sql) => {
    await expect(rowsOf(sql)).rejects.toMatchObject({ code: 'query', message: 'The query is empty.' });
  });
});

describe('a query into a Parquet file', () => {
  it.each(['FROM voters -- all', 'SELECT * FROM voters ; ; '])('writes its rows: %s', async (sql) => {
    const target = join(outside, "it's 100 % [new] 😀.parquet");
    expect(await queryToParquet(database, sql, target)).toBe(5000);
    const memory = await openDatabase(':memory:');
    try {
      const file = target.replaceAll("'", "''").replaceAll('[', '[[]');
      expect(await memory.rows(`SELECT sum(n)::INTEGER AS sum FROM read_parquet('${file}')`)).toEqual([
        { sum: 12_497_500 },
      ]);
    } finally {
      memory.close();
    }
    expect((await readdir(outside)).toSorted()).toEqual(["it's 100 % [new] 😀.parquet", 'secret.csv']);
  });

  it('replaces its target in one step, and keeps it if the query fails', async () => {
    const target = join(outside, 'out.parquet');
    await writeFile(target, 'before');
    await expect(queryToParquet(database, "SELECT error('no')", target)).rejects.toThrow(
      expect.objectContaining({ code: 'query' }),
    );
    expect(await readFile(target, 'utf8')).toBe('before');
    await queryToParquet(database, 'SELECT 1', target);
    expect((await readFile(target)).subarray(0, 4).toString()).toBe('PAR1');
    expect((await readdir(outside)).toSorted()).toEqual(['out.parquet', 'secret.csv']);
  });

  it('suggests another format if its result is larger than memory', async () => {
    const wide = "SELECT repeat('x', 1000) || range AS s FROM range(100000)";
    const target = join(outside, 'out.parquet');
    await expect(queryToParquet(database, wide, target, { memory: 2 ** 25 })).rejects.toMatchObject({
      code: 'query',
      next: expect.stringContaining('.csv'),
    });
    expect(await readdir(outside)).toEqual(['secret.csv']);
  });

  it('refuses a target that is a folder or in a missing folder, and writes nothing', async () => {
    await expect(queryToParquet(database, 'SELECT 1', outside)).rejects.toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
    await expect(queryToParquet(database, 'SELECT 1', join(outside, 'none', 'out.parquet'))).rejects.toMatchObject({
      exitCode: 2,
    });
    await expectUntouched();
  });

  it.each([
    'SELECT 1; -- done',
    'SHOW TABLES',
    'DESCRIBE voters',
    'SUMMARIZE voters',
    'PIVOT evens ON n % 3 USING count(*)',
    'SELECT * EXCLUDE (hugeint, uhugeint) FROM test_all_types()',
  ])('accepts %s', async (sql) => {
    expect(await queryToParquet(database, sql, join(outside, 'out.parquet'))).toBeGreaterThan(0);
  });
});
