/** A single query is found in a text, with EXPLAIN and without final semicolons. */

import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/runtime/database.ts';
import { findQuery } from '../../src/warehouse/find-query.ts';

let database: Database;

beforeAll(async () => void (database = await openDatabase(':memory:')));
afterAll(() => database.close());

describe('findQuery', () => {
  it.each([
    'SELECT 1',
    'SELECT 1 -- a comment; and more',
    '-- a comment\nSELECT 1',
    "SELECT '--;' /* /* ; */ */",
    String.raw`SELECT E'\'; --'`,
  ])('returns %j unchanged', async (sql) => {
    expect(await findQuery(database.connection, sql)).toBe(sql);
  });

  it.each([
    ['SELECT 1 ; \n;', 'SELECT 1'],
    ['SELECT 1; -- one;\n /* no more; */ ;', 'SELECT 1'],
    ["SELECT '--' AS a; -- why", "SELECT '--' AS a"],
    ["SELECT '/*', '''' AS \"--\"; /* */", "SELECT '/*', '''' AS \"--\""],
    [String.raw`SELECT E'\'' ; -- why`, String.raw`SELECT E'\''`],
    [String.raw`SELECT date'\'; -- why`, String.raw`SELECT date'\'`],
    ["SELECT $$'$$, $a$ $$ ' $a$; -- why", "SELECT $$'$$, $a$ $$ ' $a$"],
    ['SELECT 1 AS a$b$; -- why', 'SELECT 1 AS a$b$'],
    ['SELECT 1 -- a\r+ 2; -- b\r', 'SELECT 1 -- a\r+ 2'],
    ['/* why */ explain analyze SELECT 1; -- a', 'explain analyze\n SELECT 1'],
    ['EXPLAIN (ANALYZE, FORMAT json) SELECT 1;', 'EXPLAIN (ANALYZE, FORMAT json)\n SELECT 1'],
  ])('finds the query in %j', async (sql, query) => {
    expect(await findQuery(database.connection, sql)).toBe(query);
  });

  it.each([
    '',
    ';',
    '-- a comment',
    'SELECT 1; SELECT 2',
    ';SELECT 1',
    '; EXPLAIN SELECT 1',
    'EXPLAIN COPY (SELECT 1) TO "x"',
    'SELECT 1; /* /* */ */',
    "SELECT 'open",
    'SELECT 1 /* open',
    'SELECT $$ open',
  ])('returns null for %j', async (sql) => {
    expect(await findQuery(database.connection, sql)).toBeNull();
  });

  // If it took quadratic time, each of these would take minutes. DuckDB's own parser isn't part of the test.
  const refusing = { extractStatements: () => Promise.reject(new Error('refused')) } as unknown as DuckDBConnection;
  const parts = [';', ' ', '--', '--\n', '/*', '/**/', "'", "E'", "\\'", '"', '$a', '$a$', 'EXPLAIN ', '('];

  it.each(parts)('takes linear time for a text of %j', async (part) => {
    for (const text of [part.repeat(300_000), `${part.repeat(300_000)}x`, `x ${part.repeat(300_000)}`])
      expect(await findQuery(refusing, text)).toBeNull();
  });
});
