/** A query that fails after its first rows ends with an error and no file in every format, never with a truncated result. */

import fc from 'fast-check';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writePlainTable, writeTable } from '../../../src/cli/print/result-table.ts';
import { isRekapError, RekapError } from '../../../src/errors.ts';
import type { QueryResult } from '../../../src/snapshots/query/query-result.ts';
import { queryToParquet, runQuery } from '../../../src/snapshots/query/run-query.ts';
import { writeAside } from '../../../src/snapshots/query/write-aside.ts';
import { writeCsv, writeJson, writeMarkdown } from '../../../src/snapshots/query/write-result.ts';
import { damageLastRows } from '../../support/damage-rows.ts';
import { holds } from '../../support/properties.ts';
import { databaseOf } from './support.ts';

/** Far more rows than DuckDB holds ready before the first one is read. */
const rows = 40_000;
/** DuckDB's streams hold about a megabyte ready; these rows lie behind it. */
const late = 25_000;

const { folder, database } = databaseOf(
  `CREATE TABLE t AS SELECT i::INTEGER AS i, rpad(hash(i)::VARCHAR, 60, 'x') AS pad FROM range(${rows}) r(i)`,
);

/** Expressions that fail at the row where a condition such as `i = 7` is true. */
const failures: Readonly<Record<string, (isRow: string) => string>> = {
  overflow: (isRow) => `CASE WHEN ${isRow} THEN 2147483647::INTEGER ELSE 1::INTEGER END + 1::INTEGER`,
  'narrow integer': (isRow) => `CASE WHEN ${isRow} THEN 4000000000 ELSE 1 END::INTEGER`,
  'text as number': (isRow) => `CASE WHEN ${isRow} THEN '1 874' ELSE '1874' END::INTEGER`,
  'text as date': (isRow) => `CASE WHEN ${isRow} THEN '31 February' ELSE '2024-02-14' END::DATE`,
  error: (isRow) => `CASE WHEN ${isRow} THEN error('late') ELSE 1 END`,
  'endless list': (isRow) => `len(range(CASE WHEN ${isRow} THEN 1000000000000 ELSE 1 END))`,
  // Many long texts at once: DuckDB doesn't count a single one.
  memory: (isRow) =>
    `repeat('x', CASE WHEN ${isRow.replace(/= (\d+)/, 'BETWEEN $1 AND $1 + 4000')} THEN 40000 ELSE 1 END)`,
};

/** Statements around an expression over the rows of `t`. */
const shapes: Readonly<Record<string, (expression: string) => string>> = {
  plain: (e) => `SELECT i, ${e} AS e, pad FROM t`,
  condition: (e) => `SELECT i, pad FROM t WHERE (${e})::VARCHAR <> ''`,
  join: (e) => `SELECT t.i, ${e.replaceAll(/\bi (=|BETWEEN)/g, 't.i $1')} AS e, t.pad FROM t JOIN t u ON t.i = u.i`,
  union: (e) => `SELECT i, NULL AS e, pad FROM t WHERE i < 100 UNION ALL SELECT i, ${e} AS e, pad FROM t`,
  'by name': (e) => `SELECT 1 AS n, i FROM t WHERE i < 100 UNION ALL BY NAME SELECT i, ${e} AS e, pad FROM t`,
  group: (e) => `SELECT i, ${e} AS e, pad FROM (SELECT i, max(pad) AS pad FROM t GROUP BY i)`,
  sorted: (e) => `SELECT i, ${e} AS e, pad FROM (FROM t ORDER BY pad)`,
  window: (e) => `SELECT i, ${e} AS e, pad, row_number() OVER () AS n FROM t`,
  cte: (e) => `WITH c AS MATERIALIZED (FROM t) SELECT i, ${e} AS e, pad FROM c`,
  nested: (e) => `SELECT * FROM (SELECT i, {'e': ${e}, 'l': [pad]} AS s FROM t)`,
  commented: (e) => `SELECT i, ${e} AS e, pad FROM t; -- the end`,
};

const rowsOf = (shape: string): number => (shape === 'union' || shape === 'by name' ? rows + 100 : rows);

type Writer = (result: QueryResult, write: (piece: string | Uint8Array) => Promise<void>) => Promise<number>;
const writers: Readonly<Record<string, Writer>> = {
  csv: writeCsv,
  json: writeJson,
  markdown: writeMarkdown,
  table: writePlainTable,
  'table of first rows': writeTable,
};

/** Writes the result of a query to a file; returns the number of rows. */
async function writeFormat(sql: string, format: string, target: string): Promise<number> {
  const bounds = { memory: 2 ** 26 };
  if (format === 'parquet') return queryToParquet(database, sql, target, bounds);
  return writeAside(target, (aside) =>
    runQuery(
      database,
      sql,
      async (result) => {
        const pieces: (string | Uint8Array)[] = [];
        const written = await writers[format]!(result, async (piece) => void pieces.push(piece));
        await writeFile(aside, Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
        return written;
      },
      bounds,
    ),
  );
}

const oneOf = (table: object): fc.Arbitrary<string> => fc.constantFrom(...Object.keys(table));
const formats = [...Object.keys(writers), 'parquet'];

describe('a query that fails late', () => {
  const property = fc.asyncProperty(
    oneOf(failures),
    oneOf(shapes),
    fc.constantFrom(...formats),
    fc.integer({ min: late, max: rows - 5000 }),
    async (failure, shape, format, row) => {
      const target = join(folder, 'result');
      const sql = shapes[shape]!(failures[failure]!(`i = ${row}`));
      const outcome = await writeFormat(sql, format, target).catch((error: unknown) => error);
      // Memory may suffice after all: then the result must be whole.
      const whole = format === 'table of first rows' ? 1000 : rowsOf(shape);
      const isWhole = failure === 'memory' && outcome === whole;
      expect(isWhole || outcome instanceof RekapError).toBe(true);
      expect(await readdir(folder)).toEqual(isWhole ? ['rekap.duckdb', 'result'] : ['rekap.duckdb']);
      await rm(target, { force: true });
    },
  );
  holds('ends with an error and no file', property, { runs: 15 });

  it('names the cause, even if a column has the name of a table', async () => {
    const failing = failures['text as number']!(`i = ${rows - 1}`);
    const sql = `SELECT i AS r, i AS t, ${failing} AS e, pad FROM t`;
    await expect(writeFormat(sql, 'csv', join(folder, 'result'))).rejects.toThrow(/'1 874'/);
  });
});

describe('a query that does not fail', () => {
  const property = fc.asyncProperty(
    oneOf(failures),
    oneOf(shapes),
    fc.constantFrom('csv', 'parquet'),
    async (failure, shape, format) => {
      const target = join(folder, 'whole');
      const sql = shapes[shape]!(failures[failure]!(`i = ${rows}`));
      expect(await writeFormat(sql, format, target)).toBe(rowsOf(shape));
      await rm(target);
    },
  );
  holds('returns every row', property, { runs: 4 });
});

describe('a query that is interrupted', () => {
  it.each(formats.filter((format) => format !== 'parquet'))(
    'ends with an error, not with %s of the rows so far',
    async (format) => {
      const reason = new Error('the time is over');
      const ending = new AbortController();
      const reading = runQuery(
        database,
        shapes['plain']!('1'),
        (result) => writers[format]!({ ...result, groups: () => abortAfterOne(result) }, () => Promise.resolve()),
        { signal: ending.signal },
      );
      async function* abortAfterOne(result: QueryResult) {
        for await (const group of result.groups()) {
          yield group;
          ending.abort(reason);
        }
      }
      await expect(reading).rejects.toBe(reason);
    },
  );
});

describe('a damaged block', () => {
  it.each(formats)('causes an error and no %s', async (format) => {
    const whole = await readFile(database);
    await damageLastRows(database, 't');
    try {
      const writing = writeFormat('FROM t', format, join(folder, 'result'));
      await expect(writing).rejects.toSatisfy((error) => isRekapError(error, 'warehouse'));
      expect(await readdir(folder)).toEqual(['rekap.duckdb']);
    } finally {
      await writeFile(database, whole);
    }
  });
});

it('refuses a result whose number of rows differs from the manifest', async () => {
  const read = (expected: number) =>
    runQuery(database, 'FROM t', (result) => writeCsv(result, () => Promise.resolve()), { rows: expected });
  expect(await read(rows)).toBe(rows);
  await expect(read(rows + 1)).rejects.toSatisfy((error) => isRekapError(error, 'warehouse'));
});
