/** The SQL of a project may depend on nothing except the tables, so that an unchanged night and a replay give the same rows. */

import { afterAll, describe, expect, it } from 'vitest';
import { findImpurities } from '../../src/load/analyze-sql.ts';
import { openDatabase } from '../../src/runtime/database.ts';

const database = await openDatabase(':memory:');
afterAll(() => database.close());

async function find(sql: string) {
  return (await findImpurities(database, [sql]))[0]!;
}

describe('SQL that depends on more than the tables is found:', () => {
  it.each([
    ['the clock without parentheses', 'SELECT a,\n current_date FROM t', 'current_date'],
    ['the clock in a macro of DuckDB', "SELECT ago('1 day')", 'ago()'],
    ['the clock as the other end of an age', 'SELECT age(a) FROM t', 'age()'],
    ['the clock as the other end of an age, as a method', 'SELECT t.a.age() FROM t', 'age()'],
    ['the clock in a plan', "SELECT json_serialize_plan('SELECT now()', optimize := true)", 'json_serialize_plan()'],
    ['the session, by a macro with the name of a function', 'SELECT current_database()', 'current_database()'],
    [
      'the session in a macro, beside a table with its name',
      'SELECT current_catalog() FROM current_database',
      'current_catalog()',
    ],
    ['the clock in another case, qualified', 'SELECT main.NOW()', 'now()'],
    ['chance', 'SELECT a FROM t WHERE random() < 0.5', 'random()'],
    ['chance in a lambda', 'SELECT list_transform([1], lambda x: x + random())', 'random()'],
    ['a sample', 'FROM t TABLESAMPLE 10%', 'a sample'],
    ['a sample of a join', 'SELECT 1 FROM t, u USING SAMPLE 3', 'a sample'],
    ['a setting', "SELECT current_setting('enable_external_access')", 'current_setting()'],
    ['the environment', "SELECT getenv('HOME')", 'getenv()'],
    ['SQL from a text', "FROM query('SELECT 1')", 'query()'],
    ['a file', "FROM t WHERE EXISTS (FROM read_text('/etc/hostname'))", 'read_text()'],
    ['the catalog', 'SELECT (SELECT count(*) FROM duckdb_settings())', 'duckdb_settings()'],
    ['the catalog by a view', 'FROM duckdb_tables', 'duckdb_tables'],
    ['the catalog by a schema', 'FROM information_schema.tables', 'information_schema.tables'],
    ['another database', 'FROM previous.main.t', 'previous.main.t'],
    ['the catalog by a statement', 'FROM (DESCRIBE t)', 'DESCRIBE'],
    ['a sequence', "SELECT nextval('s')", 'nextval()'],
    ['the engine', 'SELECT version()', 'version()'],
  ])('%s', async (_what, sql, shown) => {
    expect((await find(sql))?.what).toContain(`it uses ${shown}`);
  });
});

it('names the line', async () => {
  expect(await find("SELECT 'é',\n  a\nFROM t\nWHERE now() > a")).toMatchObject({ line: 4 });
});

it.each([
  'SELECT t.current_date, "user" FROM t',
  'SELECT place, sum(a) FILTER (a > 0), row_number() OVER (ORDER BY a), age(a, b) FROM t GROUP BY ALL',
  "SELECT unnest([1]), strftime(a, '%Y'), a::DATE, regexp_replace(b, 'x', 'y'), coalesce(a, b), a || b FROM t",
  'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 9) FROM r, range(3), generate_series(1, 2)',
  'FROM (PIVOT t ON a IN (1, 2) USING sum(b))',
  "FROM t UNION ALL BY NAME FROM main.u; -- now() isn't called",
  'SELECT \'now()\' AS "random()"',
])('allows a pure query: %s', async (sql) => {
  expect(await find(sql)).toBeNull();
});
