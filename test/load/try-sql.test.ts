/** The SQL of a project is checked before anything is fetched: one query per file, without a way out, and with the columns that are needed. */

import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/runtime/database.ts';
import { isRekapError } from '../../src/errors.ts';
import { makeCheckedSchema } from '../../src/load/check-sql.ts';
import { loadProject } from '../../src/project/load-project.ts';
import { storedPart } from '../../src/project/stored.ts';
import { requireSql } from '../../src/load/try-sql.ts';
import { type Files, peopleJson, projectJson, writeProject } from '../support/written-project.ts';

const base = { 'rekap.project.json': projectJson, 'people.json': peopleJson };

const load = async (files: Files) => loadProject(await writeProject({ ...base, ...files }));

async function problem(files: Files): Promise<string> {
  const project = await load(files);
  const error = await requireSql(project, project.files).catch((thrown: unknown) => thrown);
  if (isRekapError(error, 'pipeline-definition')) return error.reasons.join('\n');
  throw error ?? new Error('nothing was wrong');
}

const view = (sql: string): Files => ({ 'models/sums.sql': `-- Sums.\n${sql}` });
const select =
  "SELECT 'people' AS dataset, place, 'error' AS severity, 'total' AS column_name, 'more' AS expected, total AS actual";
const check = (sql: string, header = '-- en: {column} is {actual}'): Files => ({
  'checks/full.sql': `-- Full.\n${header}\n${sql}`,
});

describe('a project whose SQL is right', () => {
  it('passes, with its files or as it was stored', async () => {
    const project = await load({
      ...view('SELECT place, sum(total) AS total FROM people GROUP BY ALL -- all of them\n;\n\n'),
      ...check(
        `${select} FROM people JOIN sums USING (place) WHERE people.total < 0`.replace(
          'total AS actual',
          'people.total AS actual',
        ),
      ),
    });
    await expect(requireSql(project, project.files)).resolves.toBeUndefined();
    await expect(requireSql(storedPart(project))).resolves.toBeUndefined();
  });

  it('may give the message as a column, and no more than is needed', async () => {
    const project = await load(check(`${select}, 'odd' AS message FROM people`, '-- Nothing else.'));
    await expect(requireSql(project, project.files)).resolves.toBeUndefined();
  });
});

describe('a file that is no single query', () => {
  it.each([
    ['two statements', 'SELECT 1 AS a;\nSELECT 2 AS b', 'it has 2 statements, but must be one SELECT'],
    ['a COPY', "COPY people TO '/tmp/people.csv'", 'it is not a SELECT'],
    ['an INSERT', "INSERT INTO people VALUES ('x', 1, true)", 'it is not a SELECT'],
    ['a setting', 'SET threads = 1', 'it is not a SELECT'],
    ['an EXPLAIN', 'EXPLAIN SELECT 1 AS a', 'it must be one SELECT'],
    ['a query that ends before a comment', 'SELECT 1 AS a; -- one', 'without a semicolon before a comment'],
    ['nothing but a comment', '-- SELECT 1', 'it is not a SELECT'],
    ['what leaves the view and goes on', 'SELECT 1 AS a) x; DROP TABLE people; SELECT (1', 'syntax error'],
  ])('is refused: %s', async (_what, sql, message) => {
    expect(await problem(view(sql))).toContain(message);
    expect(await problem(view(sql))).toMatch(/models\/sums\.sql:[12]: /);
    expect(await problem(check(sql))).toContain(message);
  });
});

describe('the line of a fault', () => {
  it.each<[string, Files, string]>([
    [
      'a syntax error',
      view('SELECT place,\n  total\nFORM people'),
      'models/sums.sql:4: Parser Error: syntax error at or near "people"',
    ],
    [
      'after a longer header',
      { 'models/sums.sql': '-- Sums.\n-- place: Where.\n-- total: All.\n\n\nSELECT place,\n  totals\nFROM people' },
      'models/sums.sql:7: Binder Error',
    ],
    [
      'in a check',
      check(`${select}\nFROM people\nWHERE totals > 0`),
      'checks/full.sql:5: Binder Error: Referenced column "totals"',
    ],
  ])('is that of the file, its header counted: %s', async (_what, files, message) => {
    expect(await problem(files)).toContain(message);
  });

  it('is that of the SQL where there is no file', async () => {
    const project = storedPart(await load(view('SELECT place,\n  totals\nFROM people')));
    await expect(requireSql(project)).rejects.toMatchObject({
      reasons: [expect.stringContaining('sums: line 2: Binder Error')],
    });
  });
});

describe('a check', () => {
  it.each<[string, Files, string]>([
    [
      'without the severity',
      check(`${select.replace("'error' AS severity, ", '')} FROM people`),
      'checks/full.sql:3: its column "severity" is missing',
    ],
    [
      'without the key',
      check(`${select.replace('place, ', '')} FROM people`),
      'it does not return the key of any dataset, such as place',
    ],
    [
      'without a message',
      check(`${select} FROM people`, '-- Nothing else.'),
      'it has neither a line "-- en: …" with a message nor a column "message"',
    ],
    [
      'whose message names what no violation has',
      check(`${select} FROM people`, '-- en: {column} in {place}'),
      'its message contains the unknown placeholder {place}',
    ],
  ])('is refused %s', async (_what, files, message) => {
    expect(await problem(files)).toContain(message);
  });

  it.each(["'Error' AS severity", "'high' AS severity", 'NULL AS severity'])('is refused with %s', async (severity) => {
    const sql = select.replace("'error' AS severity", severity);
    expect(await problem(check(`${select} FROM people UNION ALL ${sql} FROM people`))).toMatch(
      /checks\/full\.sql:3: its severity .* must be 'error' or 'warning'/,
    );
  });

  it('of a row is run too', async () => {
    const checks = [{ kind: 'pattern', name: 'odd', severity: 'error', column: 'place', pattern: '[A-Z' }];
    const message = await problem({ 'people.json': { ...peopleJson, checks } });
    expect(message).toMatch(/^people\.json:1: .*missing \]/);
  });

  it('is named with every other one that is wrong', async () => {
    const files = { 'checks/a.sql': '-- A.\nSELECT 1 AS x', 'checks/b.sql': `-- B.\n-- en: x\n${select} FROM nobody` };
    const lines = (await problem(files)).split('\n');
    expect(lines.filter((line) => line.startsWith('checks/a.sql:2: '))).toHaveLength(5);
    expect(lines.filter((line) => line.startsWith('checks/b.sql:3: Catalog Error'))).toHaveLength(1);
  });
});

describe('a way out of the database', () => {
  it.each(["read_text('/etc/hostname')", "'/etc/hostname.csv'"])(
    'is closed to a view and to a check: %s',
    async (from) => {
      expect(await problem(view(`SELECT *\nFROM ${from}`))).toMatch(
        /models\/sums\.sql:\d: .*(?:disabled|nothing except the tables)/,
      );
      const sql = `${select} FROM (SELECT 'x' AS place, 1 AS total FROM ${from})`;
      expect(await problem(check(sql))).toMatch(/checks\/full\.sql:\d: .*(?:disabled|nothing except the tables)/);
    },
  );
});

describe('SQL that gives other rows at another time', () => {
  it('is refused in a view, a check and a section of the report, at its line', async () => {
    const files = {
      ...view('SELECT place,\n  now() AS at FROM people'),
      ...check(`${select} FROM people WHERE total < random()`),
      'report.json': [{ title: 'Ages', query: 'SELECT place, current_date AS day FROM people' }],
    };
    const found = await problem(files);
    expect(found).toContain('models/sums.sql:3: it uses now()');
    expect(found).toContain('checks/full.sql:3: it uses random()');
    expect(found).toMatch(/report\.json:\d: it uses current_date/);
  });
});

describe('a sum of 128 bits', () => {
  it('becomes a BIGINT in its view, and in the views that read it', async () => {
    const project = await load({
      'models/a.sql':
        '-- A.\n-- place: Where.\n-- total: All.\nSELECT place, sum(total) AS total, avg(total) AS mean FROM people GROUP BY ALL',
      'models/b.sql': '-- B.\nSELECT sum(total) AS total, total + 1 AS "one more" FROM a GROUP BY total',
    });
    const database = await openDatabase(':memory:');
    try {
      await makeCheckedSchema(database, project, { runsChecks: true });
      await database.run("INSERT INTO people VALUES ('A', 2147483647, true), ('B', 2147483647, true), ('A', 1, true)");
      const types = (name: string) => database.rows(`SELECT column_name, column_type FROM (DESCRIBE ${name})`);
      expect(await types('a')).toEqual([
        { column_name: 'place', column_type: 'VARCHAR' },
        { column_name: 'total', column_type: 'BIGINT' },
        { column_name: 'mean', column_type: 'DOUBLE' },
      ]);
      expect(await types('b')).toEqual([
        { column_name: 'total', column_type: 'BIGINT' },
        { column_name: 'one more', column_type: 'BIGINT' },
      ]);
      expect(await database.rows('SELECT total FROM a ORDER BY place')).toEqual([
        { total: 2_147_483_648n },
        { total: 2_147_483_647n },
      ]);
      const meanings = "SELECT comment FROM duckdb_columns() WHERE table_name = 'a' AND column_name = 'total'";
      expect(await database.rows(meanings)).toEqual([{ comment: 'All.' }]);
    } finally {
      database.close();
    }
  });
});
