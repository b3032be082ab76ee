/** A query reads the published tables: one statement, nothing written, nothing outside the snapshot. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/runtime/database.ts';
import type { QueryResult } from '../../../src/snapshots/query/query-result.ts';
import { queryToParquet, runQuery } from '../../../src/snapshots/query/run-query.ts';

let folder: string;
let database: string;
let outside: string;
let untouched: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rekap-query-'));
  database = join(folder, 'rekap.duckdb');
  const made = await openDatabase(database);
  await made.run(`CREATE TABLE voters AS SELECT range::INTEGER AS n, 'R' || range AS regency FROM range(5000);
    CREATE VIEW evens AS SELECT n FROM voters WHERE n % 2 = 0`);
  made.close();
  untouched = await readFile(database);
});
beforeEach(async () => {
  outside = await mkdtemp(join(folder, 'outside-'));
  await writeFile(join(outside, 'secret.csv'), 'secret\n42\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** All rows of a query. */
async function ask(sql: string): Promise<unknown[][]> {
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

/** What a query must not do; `FILE` is a path outside that does not exist, `SECRET` one that does, `OWN` the database. */
const refused = `
INSERT INTO voters VALUES (1, 'x')
UPDATE voters SET n = 0
DELETE FROM voters
DROP TABLE voters
CREATE TABLE x (i INTEGER)
CREATE TEMP TABLE x AS SELECT 1
CREATE VIEW x AS SELECT 1
CREATE MACRO f() AS 1
COPY voters TO 'FILE'
COPY voters FROM 'SECRET'
EXPORT DATABASE 'FILE'
EXPLAIN ANALYZE COPY voters TO 'FILE'
EXPLAIN ANALYZE DELETE FROM voters
EXPLAIN ANALYZE COPY (SELECT 'forged'::BLOB AS b) TO 'OWN.wal' (FORMAT blob)
EXPLAIN ANALYZE COPY (SELECT 'forged'::BLOB AS b) TO 'OWN' (FORMAT blob, USE_TMP_FILE false)
EXPLAIN ANALYZE SET threads = 1
PRAGMA version
FROM enable_profiling(format := 'no_output', save_location := 'OWN.wal')
FROM enable_logging(storage = 'file', storage_path = 'OWN.wal')
ATTACH 'FILE' AS x
ATTACH ':memory:' AS x
DETACH x
USE memory
INSTALL httpfs
LOAD json
LOAD 'FILE'
SET threads = 1
SET enable_external_access = true
RESET threads
PRAGMA threads = 1
CHECKPOINT
VACUUM
BEGIN
PREPARE p AS SELECT 1
CALL pragma_version()
SELECT * FROM 'SECRET'
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv('SECRET')
SELECT * FROM read_text('SECRET')
SELECT * FROM read_blob('SECRET')
SELECT * FROM read_json('SECRET')
SELECT * FROM sniff_csv('SECRET')
SELECT * FROM parquet_metadata('SECRET')
SELECT * FROM glob('SECRET')
SELECT * FROM read_text('https://service.test/')
SELECT * FROM 'https://service.test/x.csv'
FROM '/etc/passwd'
DESCRIBE '/etc/passwd'
FROM '/*/*.parquet'
FROM query_table('SECRET')
FROM query('FROM read_text(''SECRET'')')
FROM read_duckdb('SECRET', table_name := 'voters')
FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''SECRET'')'))
FROM duckdb_secrets()
FROM which_secret('s3://bucket', 's3')
FROM duckdb_extensions()
SELECT getenv('HOME')
SELECT set_config('threads', '1', false)
WITH x AS (DELETE FROM voters RETURNING n) FROM x
CREATE SECRET s (TYPE s3)
SET VARIABLE x = 1
SELECT * FROM query('COPY voters TO ''FILE''')
SELECT 1; COPY voters TO 'FILE'
SELECT 1) TO 'FILE' (FORMAT csv); COPY (SELECT 1
SELECT 1) TO 'FILE' (FORMAT csv) --
SELECT 1) TO 'FILE'; --
SELECT 1; SELECT 2
SELECT ?
SELECT $1
SELECT
SELECT * FROM nothing
SELECT 1 +
`
  .trim()
  .split('\n');

describe('a query', () => {
  it.each([
    ['SELECT 1 + 1', [[2]]],
    ['SELECT 1 + 1;', [[2]]],
    ["  -- a comment\n SELECT ';' AS s -- and ; another\n", [[';']]],
    ['FROM evens LIMIT 1', [[0]]],
    ['WITH x AS (SELECT max(n) AS m FROM voters) SELECT m FROM x', [[4999]]],
    ['VALUES (1), (2)', [[1], [2]]],
    ['SELECT count(*) FROM voters', [[5000n]]],
    ['SELECT name FROM (SHOW TABLES)', [['evens'], ['voters']]],
    ['SELECT 1; -- one; and no more', [[1]]],
    ["SELECT '; --';", [['; --']]],
    ['SELECT 1 /* of /* two */ */', [[1]]],
    ['PIVOT evens ON n % 3 USING count(*)', [[834n, 833n, 833n]]],
    ['FROM (PIVOT evens ON n % 3 USING count(*)) /* all */ ;', [[834n, 833n, 833n]]],
  ])('reads: %s', async (sql, rows) => {
    expect(await ask(sql)).toEqual(rows);
  });

  it.each([
    'SHOW TABLES',
    'DESCRIBE voters',
    'SUMMARIZE voters',
    'EXPLAIN SELECT 1',
    'EXPLAIN(SELECT 1)',
    '/* why */ explain analyze FROM voters;',
    'EXPLAIN (ANALYZE, FORMAT json) FROM voters',
    'EXPLAIN PIVOT evens ON n % 3 USING count(*)',
  ])('may be %s', async (sql) => {
    expect(await ask(sql)).not.toEqual([]);
  });

  it('gives names and types of its columns, a name that comes twice told apart', async () => {
    const columns = await runQuery(
      database,
      'SELECT 1 AS a, 2::BIGINT AS a, regency FROM voters',
      async (result) => result.columns,
    );
    expect(columns.map(({ type }) => type)).toEqual(['INTEGER', 'BIGINT', 'VARCHAR']);
    expect(new Set(columns.map(({ name }) => name)).size).toBe(3);
  });

  it.each(['1/0', '-1.5/0', '0/0', 'n/0', 'n // 0', '(n + 0.5) % 0'])('gives NULL for %s', async (expression) => {
    expect(await ask(`SELECT ${expression} FROM voters LIMIT 1`)).toEqual([[null]]);
  });

  it('gives rows in groups, all of them', async () => {
    expect(await ask('SELECT n FROM voters ORDER BY n')).toEqual(Array.from({ length: 5000 }, (_, n) => [n]));
  });

  it.each(refused)('is refused and leaves nothing behind: %s', async (sql) => {
    const text = sql
      .replaceAll('FILE', join(outside, 'file'))
      .replaceAll('SECRET', join(outside, 'secret.csv'))
      .replaceAll('OWN', database);
    await expect(ask(text)).rejects.toThrow(expect.objectContaining({ code: 'query' }));
    const target = join(outside, 'out.parquet');
    await expect(queryToParquet(database, text, target)).rejects.toThrow(expect.objectContaining({ code: 'query' }));
    await expectUntouched();
  });

  it.each([
    ['SELECT 1; SELECT 2', /contains 2 statements/],
    ['SELECT 1) TO FILE; COPY (SELECT 1', /DuckDB rejected the query. .*syntax error at or near "\)"/],
    ['INSERT INTO voters VALUES (1, $$x$$)', /Only read-only statements/],
  ])('is refused in words that fit, into a file too: %s', async (sql, words) => {
    await expect(ask(sql)).rejects.toThrow(words);
    await expect(queryToParquet(database, sql, join(outside, 'out.parquet'))).rejects.toThrow(words);
  });

  it('with a parameter and no value for it is refused', async () => {
    await expect(ask('SELECT ? + $1')).rejects.toThrow(expect.objectContaining({ code: 'query' }));
    await expect(ask('SELECT * FROM voters WHERE n = $1')).rejects.toThrow(/parameter \$1 .* does not have a value/);
  });

  it.each([
    ['FROM nowhere', /SHOW TABLES/],
    ['SELECT nothing FROM voters', /DESCRIBE NAME/],
    ['FROM voters WHERE x = "both"', /single quotes/],
    ["FROM read_csv('SECRET')", /--out/],
    ['SELEC 1', /--help/],
    ["SELECT 'x'::INTEGER", /^$/],
  ])('that is refused is told what to do next: %s', async (sql, hint) => {
    await expect(ask(sql)).rejects.toMatchObject({ code: 'query', next: expect.stringMatching(hint) });
  });

  it('cannot have logs written outside', async () => {
    const path = join(outside, 'file');
    await ask(
      `SELECT write_log(n::VARCHAR) FROM voters, enable_logging(storage = 'file', storage_path = '${path}')`,
    ).catch(() => []);
    await expectUntouched();
  });

  it('cannot have its profile written outside', async () => {
    const path = join(outside, 'file.json');
    const profiling = `FROM enable_profiling(format := 'json', save_location := '${path}')`;
    await ask(`SELECT * FROM voters, (${profiling})`).catch(() => []);
    await queryToParquet(database, profiling, join(outside, 'out.parquet')).catch(() => 0);
    await rm(join(outside, 'out.parquet'), { force: true });
    await expectUntouched();
  });

  it('that needs more memory than it may take is told so, and leaves nothing beside the database', async () => {
    const heavy =
      "SELECT max(s) FROM (SELECT repeat('x', 200) || range AS s FROM range(500000) ORDER BY hash(range) LIMIT 400000)";
    // With a folder to put it into, DuckDB would write what does not fit, beside the published file.
    await expect(runQuery(database, heavy, allRows, { memory: 2 ** 26 })).rejects.toThrow(/memory limit/);
    expect(await ask(heavy)).toHaveLength(1);
    await expectUntouched();
  });

  it('with a value longer than any text can be is told to ask for a part of it', async () => {
    const tooLong = runQuery(database, 'SELECT 1', async () => 'x'.repeat(2 ** 30));
    await expect(tooLong).rejects.toMatchObject({ code: 'query', next: expect.stringContaining('left(name, 1000)') });
  });

  it('is not over where its rows end because it was broken off', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const counting = runQuery(
      database,
      'FROM range(10000000)',
      async (result) => {
        let rows = 0;
        for await (const group of result.groups()) {
          rows += group.length;
          controller.abort(reason);
        }
        return rows;
      },
      { signal: controller.signal },
    );
    await expect(counting).rejects.toBe(reason);
  });

  it('that fails on its way says so in the same words', async () => {
    const failing = "SELECT CASE WHEN n = 4999 THEN error('far along') ELSE n END FROM voters ORDER BY n";
    await expect(ask(failing)).rejects.toThrow(expect.objectContaining({ code: 'query' }));
    await expect(queryToParquet(database, failing, join(outside, 'out.parquet'))).rejects.toThrow(/far along/);
    await expectUntouched();
  });

  it.each(['', ';', '-- nothing'])('that holds no statement is refused as such: "%s"', async (sql) => {
    await expect(ask(sql)).rejects.toThrow(expect.objectContaining({ code: 'query' }));
    await expect(ask(sql)).rejects.toThrow('The query is empty.');
  });
});

describe('a query into a Parquet file', () => {
  it.each(['FROM voters', 'SELECT * FROM voters;', 'SELECT * FROM voters -- all', 'FROM voters ; ; '])(
    'writes its rows: %s',
    async (sql) => {
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
    },
  );

  it('replaces its target whole, and keeps it where the query fails', async () => {
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

  it('is told to write another format where its result is larger than memory', async () => {
    const wide = "SELECT repeat('x', 1000) || range AS s FROM range(100000)";
    const target = join(outside, 'out.parquet');
    await expect(queryToParquet(database, wide, target, { memory: 2 ** 25 })).rejects.toMatchObject({
      code: 'query',
      next: expect.stringContaining('.csv or .arrow'),
    });
    expect(await readdir(outside)).toEqual(['secret.csv']);
  });

  it('says so where the target is a folder or its folder is missing, and leaves nothing', async () => {
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
    'EXPLAIN FROM voters',
    'PIVOT evens ON n % 3 USING count(*)',
    'SELECT * EXCLUDE (hugeint, uhugeint) FROM test_all_types()',
  ])('takes every query that can be shown: %s', async (sql) => {
    expect(await queryToParquet(database, sql, join(outside, 'out.parquet'))).toBeGreaterThan(0);
  });
});
