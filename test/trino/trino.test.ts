/** Trino reads each table and model by tag as it was published, also while others publish. */

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSnapshot, type Snapshot } from '../../src/warehouse/warehouse.ts';
import { openDatabase, readParquetSql } from '../../src/runtime/database.ts';
import { publishToLake } from '../../src/share/lake/publish-lake.ts';
import { tagOf } from '../../src/share/lake/tags.ts';
import { tablesOf } from '../../src/share/lake/lake-tables.ts';
import type { LakeTable } from '../../src/share/lake/table-schema.ts';
import { findJava, startCatalog, startJava, type TestCatalog } from '../lake/support.ts';
import { freePort, hasStore } from '../support/object-store.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { smallNation } from '../support/served-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const cache = join(import.meta.dirname, '../../node_modules/.cache/trino');
const isReady = process.env['REKAP_TRINO'] !== undefined && hasStore && existsSync(join(cache, 'ready'));
const java = isReady ? findJava(24) : undefined;
if (isReady && java === undefined) throw new Error('Trino needs Java 24 or later.');
const clock = { now: () => new Date('2026-11-27T12:00:00Z') };
const prepared = preparedSnapshots(smallNation({ 1101: 30, 1102: 20 }), smallNation({ 1101: 31, 1102: 19 }));

type Query = (sql: string) => Promise<readonly (readonly unknown[])[]>;

/** Starts Trino with the catalog as `lake`, until the present test is over. */
async function startTrino(catalog: TestCatalog): Promise<Query> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { environment } = catalog.place();
  const configuration = {
    coordinator: 'true',
    'node-scheduler.include-coordinator': 'true',
    'http-server.http.port': String(port),
    'discovery.uri': url,
    'catalog.management': 'static',
  };
  const lake = {
    'connector.name': 'iceberg',
    'iceberg.catalog.type': 'rest',
    'iceberg.rest-catalog.uri': catalog.url,
    'fs.native-s3.enabled': 'true',
    's3.endpoint': environment['AWS_ENDPOINT_URL_S3']!,
    's3.region': environment['AWS_REGION']!,
    's3.path-style-access': 'true',
    's3.aws-access-key': environment['AWS_ACCESS_KEY_ID']!,
    's3.aws-secret-key': environment['AWS_SECRET_ACCESS_KEY']!,
  };
  await mkdir(join(folder, 'catalog'));
  await writeFile(join(folder, 'config.properties'), properties(configuration).join('\n'));
  await writeFile(join(folder, 'catalog/lake.properties'), properties(lake).join('\n'));
  const settings = {
    config: join(folder, 'config.properties'),
    'catalog.config-dir': join(folder, 'catalog'),
    'plugin.dir': join(cache, 'plugin'),
    'node.environment': 'test',
    'node.id': 'one',
    'node.data-dir': join(folder, 'data'),
    'node.bind-ip': '127.0.0.1',
    'node.internal-address': '127.0.0.1',
  };
  const words = ['-Xmx2G', '--add-modules=jdk.incubator.vector', ...properties(settings).map((line) => `-D${line}`)];
  const program = ['-cp', `${join(cache, 'server/lib')}/*`, 'io.trino.server.TrinoServer'];
  await startJava(java!, [...words, ...program], /SERVER (STARTED)/);
  const query: Query = async (sql) => {
    const headers = { 'X-Trino-User': 'reader', 'X-Trino-Catalog': 'lake', 'X-Trino-Schema': 'rekap' };
    let answer = await fetch(`${url}/v1/statement`, { method: 'POST', headers, body: sql });
    const rows: unknown[][] = [];
    for (;;) {
      const { data = [], error, nextUri } = (await answer.json()) as Answer;
      if (error !== undefined) throw new Error(`${error.message}\n${sql}`);
      rows.push(...data);
      if (nextUri === undefined) return rows;
      answer = await fetch(nextUri);
    }
  };
  // It says that it has started before it knows of itself as a node.
  const isKnown = (): Promise<boolean> =>
    query('SELECT count(*) FROM publications').then(
      () => true,
      (error: Error) => !error.message.startsWith('No nodes'),
    );
  while (!(await isKnown())) continue;
  return query;
}

interface Answer {
  readonly data?: unknown[][];
  readonly error?: { readonly message: string };
  readonly nextUri?: string;
}

function properties(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `${name}=${value}`);
}

async function publish(catalog: TestCatalog, warehouse: string, snapshot: Snapshot): Promise<void> {
  await publishToLake({ ...catalog.place(), warehouse, snapshot, acceptSource: true, clock });
}

/** Reads a table of a snapshot from its Parquet file, and from Trino, as sorted lines. */
async function readBoth(query: Query, { name, file, columns }: LakeTable, version: string) {
  const names = columns.map((column) => `"${column.name}"`);
  // Both write a time and a decimal in the same way as text, but not in JSON.
  const items = columns.map(({ type }, index) =>
    /^(TIMESTAMP|DECIMAL|DATE)/.test(type)
      ? `CAST(CAST(${names[index]!} AS ${type === 'TIMESTAMP' ? 'TIMESTAMP(0)' : type}) AS VARCHAR)`
      : names[index]!,
  );
  const database = await openDatabase(':memory:');
  try {
    const aliases = items.map((item, index) => `${item} AS c${index}`).join(', ');
    const ours = await database.rows<Record<string, unknown>>(`SELECT ${aliases} FROM ${readParquetSql(file)}`);
    const its = await query(`SELECT ${items.join(', ')} FROM lake.rekap."${name}" ${version}`);
    const lines = (rows: readonly (readonly unknown[])[]): string[] =>
      rows
        .map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)))
        .toSorted();
    return { ours: lines(ours.map((row) => Object.values(row))), its: lines(its) };
  } finally {
    database.close();
  }
}

describe.skipIf(java === undefined)('Trino ("make test-trino" runs it)', () => {
  it('reads all tables and models, as they are now and by tag, also while others are published', async () => {
    const { warehouse, known } = await prepared();
    const catalog = await startCatalog('iceberg on S3');
    const snapshots = await Promise.all(known.map((id) => readSnapshot(warehouse, id)));
    for (const snapshot of snapshots) await publish(catalog, warehouse, snapshot);
    const query = await startTrino(catalog);
    for (const [index, snapshot] of snapshots.entries())
      for (const table of await tablesOf(snapshot)) {
        const versions = [`FOR VERSION AS OF '${tagOf(snapshot.id)}'`, ...(index === 1 ? [''] : [])];
        for (const version of versions) {
          const { ours, its } = await readBoth(query, table, version);
          expect([table.name, version, its]).toEqual([table.name, version, ours]);
        }
      }
    const rows = new Map(
      snapshots.map(({ id, manifest }) => [tagOf(id), Object.values(manifest.datasets).map((dataset) => dataset.rows)]),
    );
    let isDone = false;
    const reading = (async () => {
      let reads = 0;
      for (; !isDone; reads += 1) {
        const [[id]] = (await query('SELECT max_by(snapshot_id, sequence) FROM publications')) as [[string]];
        const version = `FOR VERSION AS OF '${tagOf(id)}'`;
        const counts = await query(
          `SELECT (SELECT count(*) FROM voters ${version}), (SELECT count(*) FROM voting_rights_users ${version})`,
        );
        expect(counts).toEqual([rows.get(tagOf(id))]);
      }
      return reads;
    })();
    for (const index of [1, 0, 1, 0]) await publish(catalog, warehouse, snapshots[index]!);
    isDone = true;
    expect(await reading).toBeGreaterThan(2);
  }, 300_000);
});
