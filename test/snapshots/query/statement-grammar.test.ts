/** Combines statements, wrappers and targets: no query changes a byte of the warehouse or creates a file. */

import { createHash } from 'node:crypto';
import { chmod, lchown, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/runtime/database.ts';
import { findQuery } from '../../../src/warehouse/find-query.ts';
import { openPublished } from '../../../src/warehouse/open-published.ts';
import { databaseOf } from './support.ts';

/** Statements that do more than read. TARGET is the path of a file or folder. */
const writing = `
COPY (SELECT 'forged'::BLOB AS b) TO 'TARGET' (FORMAT blob)
COPY (SELECT 'forged'::BLOB AS b) TO 'TARGET' (FORMAT blob, USE_TMP_FILE false)
COPY voters TO 'TARGET' (FORMAT csv)
COPY voters TO 'TARGET' (FORMAT json, USE_TMP_FILE false)
COPY voters TO 'TARGET' (FORMAT parquet, USE_TMP_FILE false)
COPY voters TO 'TARGET' (FORMAT csv, PARTITION_BY (n), OVERWRITE_OR_IGNORE)
COPY voters TO 'TARGET' (FORMAT csv, PER_THREAD_OUTPUT, OVERWRITE)
COPY voters FROM 'TARGET'
COPY FROM DATABASE rekap TO memory
EXPORT DATABASE 'TARGET'
IMPORT DATABASE 'TARGET'
ATTACH 'TARGET' AS other
ATTACH OR REPLACE 'TARGET' AS rekap
DETACH rekap
USE memory
INSTALL 'TARGET'
LOAD 'TARGET'
SET temp_directory = 'TARGET'
SET log_query_path = 'TARGET'
SET disabled_filesystems = ''
SET VARIABLE x = 1
RESET lock_configuration
PRAGMA enable_profiling = 'no_output'
PRAGMA profiling_output = 'TARGET'
CALL enable_logging(storage = 'file', storage_path = 'TARGET')
CREATE TABLE forged AS SELECT 1
CREATE TEMP TABLE forged AS SELECT 1
CREATE OR REPLACE TEMP VIEW voters AS SELECT 1
CREATE TEMP MACRO forged() AS 1
CREATE SECRET forged (TYPE s3)
INSERT INTO voters VALUES (1) RETURNING n
UPDATE voters SET n = 0
DELETE FROM voters
TRUNCATE voters
MERGE INTO voters USING voters AS other ON true WHEN MATCHED THEN DELETE
ALTER TABLE voters ADD COLUMN x INTEGER
DROP TABLE voters
CHECKPOINT
FORCE CHECKPOINT
VACUUM ANALYZE
BEGIN
COMMENT ON TABLE voters IS 'forged'
CALL pragma_version()
DEALLOCATE ALL
`
  .trim()
  .split('\n');

/** Text around a statement. None of it turns a statement that writes into a query. */
const wrappers = `
{}
{};
;{}
-- a comment\\n{}
EXPLAIN {}
EXPLAIN ANALYZE {}
explain/**/analyze {}
/* a */ EXPLAIN -- b\\n ANALYZE {}
EXPLAIN (ANALYZE) {}
EXPLAIN (ANALYZE, FORMAT json) {}
EXPLAIN (ANALYZE, FORMAT 'json') {}
EXPLAIN (ANALYZE, FORMAT json /*) SELECT 1 -- */) {}
EXPLAIN ANALYZE ({})
EXPLAIN ANALYZE EXPLAIN ANALYZE {}
EXPLAIN ANALYZE SELECT 1; {}
EXPLAIN (SELECT 1); {}
PREPARE p AS {}
PREPARE p AS {}; EXECUTE p
EXPLAIN ANALYZE PREPARE p AS {}
WITH x AS (SELECT 1) {}
WITH x AS ({}) FROM x
WITH x AS MATERIALIZED ({}) SELECT * FROM x
EXPLAIN ANALYZE WITH x AS ({}) FROM x
FROM ({})
FROM ({}) AS x, (SELECT 1)
SELECT ({})
SELECT EXISTS ({})
SELECT 1 UNION ALL {}
PIVOT ({}) ON n USING count(*)
PIVOT voters ON n USING count(*); {}
{}; PIVOT voters ON n USING count(*)
DESCRIBE {}
SUMMARIZE {}
SELECT 1; {}
{}; SELECT 1
BEGIN; {}; COMMIT
SELECT 1) ; {}; SELECT (1
SELECT 1); {}; --
SELECT 1)); {}; SELECT ((1
SELECT '\\''; {}; SELECT '
SELECT $$ ' $$; {}
SELECT 1 /* /* */ ; {} -- */
`
  .trim()
  .split('\n')
  .map((wrapper) => wrapper.replaceAll('\\n', '\n').replaceAll("\\'", "'"));

/** Queries by their grammar, with functions that have side effects or that run a statement from a text. */
const queries = `
FROM enable_logging(storage = 'file', storage_path = 'TARGET')
SELECT write_log(n::VARCHAR) FROM voters, enable_logging(storage = 'file', storage_path = 'TARGET')
FROM enable_profiling(format := 'no_output', save_location := 'TARGET')
FROM enable_profiling(format := 'json', save_location := 'TARGET')
FROM query('COPY voters TO ''TARGET''')
FROM json_execute_serialized_sql(json_serialize_sql('COPY voters TO ''TARGET'''))
FROM checkpoint()
FROM force_checkpoint()
FROM read_text('TARGET')
FROM read_duckdb('TARGET', table_name := 'voters')
FROM glob('TARGET')
FROM sniff_csv('TARGET')
FROM 'TARGET'
`
  .trim()
  .split('\n');

const { folder } = databaseOf();

/** A warehouse as a sync leaves it, as far as files go, beside a folder of another owner. */
async function makeTree(name: string, owner: number) {
  await chmod(folder, 0o755);
  const root = join(folder, name);
  const [warehouse, outside] = [join(root, 'warehouse'), join(root, 'outside')];
  const snapshot = join(warehouse, 'snapshots', '20261120T030002Z-1f3a9c');
  const landing = join(warehouse, 'landing', '20261120T030002Z-1f3a9c');
  for (const path of [join(snapshot, 'parquet', 'voters'), landing, outside]) await mkdir(path, { recursive: true });
  await symlink('snapshots/20261120T030002Z-1f3a9c', join(warehouse, 'current'));
  const database = join(snapshot, 'rekap.duckdb');
  const made = await openDatabase(database);
  const parquet = join(snapshot, 'parquet', 'voters', 'voters.parquet');
  await made.run(`CREATE TABLE voters AS SELECT range AS n FROM range(5); COPY voters TO '${parquet}'`);
  made.close();
  await chmod(database, 0o444);
  const answers = join(landing, 'responses.jsonl');
  const others = [join(snapshot, 'manifest.json'), answers, join(outside, 'own.csv')];
  for (const file of others) await writeFile(file, 'n\n1\n');
  for (const path of ['', ...(await readdir(root, { recursive: true }))]) await lchown(join(root, path), owner, owner);
  const targets = [
    database,
    join(warehouse, 'current', 'rekap.duckdb'),
    `${database}.wal`,
    join(warehouse, 'current', 'rekap.duckdb.wal'),
    `${database}.wal.checkpoint`,
    `${database}.wal.recovery`,
    `${database}.tmp`,
    join(snapshot, 'tmp_rekap.duckdb'),
    parquet,
    ...others,
    join(landing, 'new'),
    join(outside, 'new'),
  ];
  return { root, database, targets };
}

/** Every path below a folder with what is there. */
async function contentsOf(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const lines = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const held = async () =>
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
    const what = entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? await readlink(path) : await held();
    return `${relative(root, path)} ${what}`;
  });
  return (await Promise.all(lines)).toSorted();
}

/** How many statements a text has by DuckDB's tree; null where one of them is no SELECT. */
async function countQueries(database: Database, sql: string): Promise<number | null> {
  const counted = `SELECT json_array_length(json_serialize_sql($1::VARCHAR), '$.statements')::INTEGER AS queries`;
  const [row] = await database.rows<{ queries: number | null }>(counted, [sql]);
  return row!.queries;
}

/** Runs statements without the check. Returns how many of them DuckDB executed. */
async function runAll(database: Database, statements: Iterable<string>): Promise<number> {
  let executed = 0;
  for (const sql of statements) {
    const done = await database.connection.run(sql).then(
      () => true,
      () => false,
    );
    if (done) executed += 1;
    await database.connection.run('ROLLBACK').catch(() => undefined);
    await database.connection.run('PRAGMA disable_profiling; USE rekap').catch(() => undefined);
  }
  return executed;
}

const isRoot = process.getuid?.() === 0;
/** Root may write where the owner of a file for reading only may not; elsewhere there is just the owner. */
const users: [string, number][] = isRoot
  ? [
      ['root', 0],
      ['the owner', 65_534],
    ]
  : [['the owner', process.getuid!()]];

/** Calls a function as another user, without the permissions of root. */
async function as<Value>(user: number, act: () => Promise<Value>): Promise<Value> {
  if (isRoot) process.seteuid!(user);
  try {
    return await act();
  } finally {
    if (isRoot) process.seteuid!(0);
  }
}

/** Every wrapped statement at every target takes twenty seconds; otherwise each has one target, and the bare ones have all. */
const isThorough = process.env['REKAP_GRAMMAR'] === 'all';

/** Every statement in every wrapper. */
const wrapped = writing.flatMap((statement) => wrappers.map((wrapper) => wrapper.replace('{}', () => statement)));

describe('a statement that does more than read', () => {
  it('is not a query, whatever surrounds it', async () => {
    const { database } = await makeTree('gate', process.getuid!());
    const sandbox = await openPublished(database, { memory: 2 ** 26 });
    try {
      const accepted: string[] = [];
      for (const sql of wrapped) if ((await findQuery(sandbox.connection, sql)) !== null) accepted.push(sql);
      // A statement inside a comment, a text or a name is harmless. DuckDB's tree knows nothing but SELECT.
      const counts = await Promise.all(accepted.map((sql) => countQueries(sandbox, sql)));
      expect(accepted.filter((_sql, index) => counts[index] !== 1)).toEqual([]);
    } finally {
      sandbox.close();
    }
  });
});

describe.each(users)('a statement that %s runs without the check', (_, user) => {
  it('changes no byte of the warehouse, and creates no file', async () => {
    const { root, database, targets } = await makeTree(`user-${user}`, user);
    const before = await contentsOf(root);
    await as(user, async () => {
      const sandbox = await openPublished(database, { memory: 2 ** 26 });
      try {
        for (const [at, target] of targets.entries()) {
          const some = isThorough ? wrapped : wrapped.filter((_sql, index) => index % targets.length === at);
          const all = [...writing, ...queries, ...some];
          await runAll(
            sandbox,
            all.map((sql) => sql.replaceAll('TARGET', target)),
          );
        }
        // No earlier statement broke the connection.
        expect(await runAll(sandbox, ['SELECT sum(n) FROM rekap.voters', 'CREATE TEMP TABLE last AS SELECT 1'])).toBe(
          2,
        );
      } finally {
        sandbox.close();
      }
    });
    expect(await contentsOf(root)).toEqual(before);
  });
});
