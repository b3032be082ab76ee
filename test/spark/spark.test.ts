/** Spark makes the same rows, quarantine, violations and ledger of landed records as rekap, and a release publishes them in one commit. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AnyPipeline, Project } from '../../src/project/declaration.ts';
import { decimal, sum, text } from '../../src/project/define.ts';
import { consistencyColumn } from '../../src/project/reserved.ts';
import { readParquetSql } from '../../src/runtime/database.ts';
import { readLakeStatus } from '../../src/share/lake/inspect-lake.ts';
import { withLake } from '../../src/share/lake/open-lake.ts';
import { tagOf } from '../../src/share/lake/tags.ts';
import { publishToLake } from '../../src/share/lake/publish-lake.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { readSnapshot, requireCurrent, type Snapshot } from '../../src/warehouse/warehouse.ts';
import { catalogs, extensions, startCatalog, type TestCatalog } from '../lake/support.ts';
import { doubtfulNation, inJson } from '../oracle/doubtful-nation.ts';
import { startFaultServer } from '../support/fault-server.ts';
import { isInSpark } from '../../src/share/spark/column-sql.ts';
import { acceptedBy, cases, itemsOf, projectOfAllKinds } from '../support/kind-cases.ts';
import { runHere } from '../support/run-here.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runSync, smallNation } from '../support/served-source.ts';
import { bundledProject, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTwistedSource } from '../support/twisted-source.ts';

const root = join(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/spark');
const clock = { now: () => new Date('2026-11-27T12:00:00Z') };
const prepared = preparedSnapshots(smallNation({ 1101: 30, 1102: 20 }), smallNation({ 1101: 31, 1102: 19 }));
const isWanted = process.env['REKAP_SPARK'] !== undefined && existsSync(join(cache, 'ready')) && catalogs.length > 0;

const home = join(cache, 'python/pyspark');

function settingsOf(catalog: TestCatalog): Record<string, string> {
  return {
    'spark.sql.extensions': 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
    'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
    'spark.sql.catalog.lake.type': 'rest',
    'spark.sql.catalog.lake.uri': catalog.url,
    'spark.driver.bindAddress': '127.0.0.1',
    'spark.driver.host': '127.0.0.1',
    'spark.ui.enabled': 'false',
    'spark.sql.shuffle.partitions': '2',
    'spark.jars': join(cache, 'jars', readdirSync(join(cache, 'jars'))[0]!),
  };
}

/** Runs a script in Spark with two threads. */
async function runSpark(catalog: TestCatalog, script: string): Promise<void> {
  const file = join(await temporaryFolder(), 'build.sql');
  await writeFile(file, script);
  // The script doesn't depend on these.
  const others = {
    'spark.sql.ansi.enabled': 'false',
    'spark.sql.parser.escapedStringLiterals': 'true',
    'spark.sql.sources.partitionOverwriteMode': 'dynamic',
  };
  const words = Object.entries({ ...settingsOf(catalog), ...others }).flatMap(([name, value]) => [
    '--conf',
    `${name}=${value}`,
  ]);
  const child = spawn(join(home, 'bin/spark-sql'), ['--master', 'local[2]', ...words, '-f', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, SPARK_HOME: home },
    cwd: await temporaryFolder(),
  });
  const [messages, [code]] = await Promise.all([readText(child.stderr), once(child, 'exit') as Promise<[number]>]);
  const short = messages.split('\n').filter((line) => !/^\s+(at|\.\.\.) /.test(line));
  expect(code, short.join('\n')).toBe(0);
}

/** Lands the run of a snapshot, transforms it in Spark, releases it, and compares all tables. */
async function expectSame(warehouse: string, { id, folder, manifest }: Snapshot, catalog: TestCatalog): Promise<void> {
  const where = ['--warehouse', warehouse, '--catalog', catalog.url, '--extensions', extensions];
  expect(await runHere(['lake', 'land', manifest.run, ...where])).toMatchObject({ code: 0, stderr: '' });
  const script = await runHere(['lake', 'script', manifest.run, '--warehouse', warehouse]);
  expect(script).toMatchObject({ code: 0, stderr: '' });
  await runSpark(catalog, script.stdout);
  expect(await runHere(['lake', 'release', manifest.run, ...where])).toMatchObject({ code: 0, stderr: '' });
  expect(await runHere(['lake', 'release', manifest.run, ...where])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('already contains'),
  });
  const datasets = Object.keys(manifest.datasets);
  // Spark runs no checks across tables.
  const others = manifest.project.checks.map(({ name }) => name);
  const tables = [...datasets, 'violations', 'quarantine'];
  const files = tables.map((table) => join(folder, parquetPath(table)));
  const wanted = { tables: [...tables, 'ledger'], files };
  await withLake(catalog.place(), wanted, async ({ database, metadata }) => {
    for (const [index, table] of tables.entries()) {
      const columns = columnsOf(table, others.length > 0);
      const condition = table === 'violations' ? `list_contains(${quoteList(others)}, check_name) IS NOT TRUE` : 'true';
      const ours = `SELECT ${columns} FROM ${readParquetSql(files[index]!)} WHERE ${condition}`;
      const its = `SELECT ${columns} FROM lake.rekap.${table}`;
      const different = await database.rows(
        `(SELECT 'ours' AS of, * FROM (${ours} EXCEPT ALL ${its})) UNION ALL (SELECT 'spark', * FROM (${its} EXCEPT ALL ${ours})) LIMIT 6`,
      );
      expect([table, different]).toEqual([table, []]);
    }
    const ledger = await database.rows(
      'SELECT dataset, fetched::INTEGER AS fetched, published::INTEGER AS published, quarantined::INTEGER AS quarantined, duplicates::INTEGER AS duplicates FROM lake.rekap.ledger ORDER BY dataset',
    );
    expect(ledger).toEqual(datasets.toSorted().map((dataset) => ({ dataset, ...manifest.datasets[dataset]!.ledger })));
    for (const table of wanted.tables) {
      const { main, [tagOf(id)]: tag, ...older } = metadata.get(table)!.refs!;
      expect(tag!['snapshot-id']).toEqual(main!['snapshot-id']);
      expect(Object.keys(older).filter((name) => !name.startsWith('snap_'))).toEqual([]);
    }
  });
}

/** Returns the columns that Spark knows. It has no history, and a row may be inconsistent because of a check across tables. */
function columnsOf(table: string, hasChecks: boolean): string {
  if (table === 'violations') return '* EXCLUDE (first_snapshot, since)';
  return hasChecks && table !== 'quarantine' ? `* EXCLUDE (${consistencyColumn})` : '*';
}

function quoteList(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(', ')}]`;
}

describe.skipIf(!isWanted)('Spark ("make test-spark" runs it)', { timeout: 900_000 }, () => {
  it('reads a nation with every kind of doubt as rekap does', async () => {
    const source = await startTwistedSource(doubtfulNation(), (response, body) => response.end(inJson(body)));
    const warehouse = await temporaryFolder();
    await runSync(syncOptions(warehouse, source.url), {}, bundledProject);
    await expectSame(warehouse, await requireCurrent(warehouse), await startCatalog('iceberg'));
  });

  it('reads every value of every kind of column as rekap does', async () => {
    const warehouse = await temporaryFolder();
    const { url, project } = await startKinds();
    await runSync(syncOptions(warehouse, url), {}, project);
    await expectSame(warehouse, await requireCurrent(warehouse), await startCatalog('iceberg'));
  });

  it('releases a later run in the same namespace', async () => {
    const { warehouse, known } = await prepared();
    const catalog = await startCatalog('iceberg');
    for (const id of known) await expectSame(warehouse, await readSnapshot(warehouse, id), catalog);
  });

  it('is not released without a branch, if a record is missing, or after half of a script', async () => {
    const warehouse = await temporaryFolder();
    await syncSample('vessels', warehouse);
    const catalog = await startCatalog('iceberg');
    const { manifest } = await requireCurrent(warehouse);
    const where = ['--warehouse', warehouse, '--catalog', catalog.url, '--extensions', extensions];
    const release = () => runHere(['lake', 'release', manifest.run, ...where]);
    await runHere(['lake', 'land', manifest.run, ...where]);
    expect(await release()).toMatchObject({ code: 8, stderr: expect.stringContaining('has no branch') });
    const { stdout } = await runHere(['lake', 'script', manifest.run, '--warehouse', warehouse]);
    await runSpark(catalog, stdout.replace("dataset = 'vessels'", "dataset = 'vessels' AND position > 0"));
    expect(await release()).toMatchObject({ code: 1, stderr: expect.stringContaining('records were transformed') });
    // A script that ended, and then half of one.
    await runSpark(catalog, stdout);
    await runSpark(catalog, stdout.split('\n\nCREATE OR REPLACE TABLE')[0]!);
    expect(await release()).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('ledger of the namespace rekap has no branch'),
    });
    const { last } = await readLakeStatus(catalog.place());
    expect(last).toBeNull();
  });

  it('never reads two snapshots by a tag while others are published', async () => {
    const { warehouse, known } = await prepared();
    const catalog = await startCatalog('iceberg');
    const snapshots = await Promise.all(known.map((id) => readSnapshot(warehouse, id)));
    const publish = (index: number) =>
      publishToLake({ ...catalog.place(), warehouse, snapshot: snapshots[index]!, acceptSource: true, clock });
    await publish(0);
    // Otherwise Spark caches the metadata of a table for 30 seconds.
    const settings = { ...settingsOf(catalog), 'spark.sql.catalog.lake.cache-enabled': 'false' };
    const tables = Object.keys(snapshots[0]!.manifest.datasets);
    const program = join(root, 'test/spark/read_by_tag.py');
    const child = spawn('python3', [program, JSON.stringify(settings), ...tables], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, SPARK_HOME: home, PYTHONPATH: join(cache, 'python') },
      cwd: await temporaryFolder(),
    });
    const found = new Set<string>();
    const output = createInterface(child.stdout).on('line', (line) => found.add(line));
    await once(output, 'line');
    for (const index of [1, 0, 1, 0, 1]) await publish(index);
    child.stdin.end();
    await once(output, 'close');
    const lines = snapshots.map(({ id, manifest }) =>
      [id, ...Object.values(manifest.datasets).map(({ rows }) => rows)].join(' '),
    );
    expect([...found].toSorted()).toEqual(lines.toSorted());
  });

  it.each(['payments', 'polling-stations'])('transforms the example %s as rekap does', async (name) => {
    const warehouse = await temporaryFolder();
    await syncSample(name, warehouse);
    await expectSame(warehouse, await requireCurrent(warehouse), await startCatalog('iceberg'));
  });
});

async function syncSample(example: string, warehouse: string): Promise<void> {
  const words = ['sync', '--sample', '--project', join(root, 'examples', example), '--warehouse', warehouse];
  expect(await runHere(words)).toMatchObject({ code: 0 });
}

/** A list with a column per kind, whose records have all values that it accepts and refuses, some of them twice. */
async function startKinds(): Promise<{ url: string; project: Project & { reportModule: null } }> {
  const all = Object.values(cases).filter(({ column }) => isInSpark(column));
  const values = all.map((one) => [
    ...acceptedBy(one).map(([json]) => json),
    ...itemsOf(one.refused),
    'null',
    '""',
    null,
  ]);
  const most = Math.max(...values.map(({ length }) => length));
  const records = Array.from({ length: most }, (_, row) => {
    const cells = values.flatMap((list, index) => {
      // Once each, because DuckDB couldn't add the largest numbers.
      const json = row < list.length ? list[row] : 'null';
      return json === null || json === undefined ? [] : [`"c${index}":${json}`];
    });
    return `{${[`"id":${row}`, ...cells].join(',')}}`;
  });
  // A copy, another record with the key of an earlier one, and records without a key.
  const odd = [
    records[0]!,
    '{"id":1,"c0":"other"}',
    '{"id":"x"}',
    '{"id":null}',
    '{"c0":"no key"}',
    '[1]',
    '7',
    '{"id":"x"}',
    '{"id":901,"a":"0.12345678","b":"0.00000001","c":"0.12345679","position":"3","v":""}',
    '{"id":902,"a":"0.00000001","b":"0.00000001","c":"1","record":null}',
    '{"id":903,"a":"x\u2028y","problem":7}',
  ];
  const body = `{"data":[${[...records, ...odd].join(',')}]}`;
  const server = await startFaultServer((_, response) => void response.end(body));
  onTestFinished(() => server.close());
  const project = projectOfAllKinds((index) => index % 2 === 0, { paging: { by: 'none' } }, all);
  const everything = project.pipelines[0]!;
  // Names that the script could use itself, and sums that Spark would round by default.
  const others = ['position', 'record', 'fields', 'copy', 'problem', 'v'].map((name) => text(name, 'Text.'));
  const parts = ['a', 'b', 'c'].map((name) => decimal(name, 'Part.', { precision: 18, scale: 8 }));
  const extra = [...others, ...parts].map((column) => [column.field, { ...column, nullable: true as const }]);
  const pipeline: AnyPipeline = {
    ...everything,
    columns: { ...everything.columns, ...(Object.fromEntries(extra) as AnyPipeline['columns']) },
    checks: [sum('c', ['a', 'b'])],
  };
  return { url: server.url, project: { ...project, pipelines: [pipeline], reportModule: null } };
}
