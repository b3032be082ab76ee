/** A real Iceberg REST catalog on loopback, and a way to it that breaks when it is told to. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/runtime/context.ts';
import { readParquetSql } from '../../src/runtime/database.ts';
import type { CatalogSettings } from '../../src/share/lake/catalog.ts';
import type { LakePlace } from '../../src/share/lake/lake-database.ts';
import { withLake } from '../../src/share/lake/open-lake.ts';
import { tagOf } from '../../src/share/lake/tags.ts';
import type { Snapshot } from '../../src/warehouse/warehouse.ts';
import { hasStore, startStore } from '../support/object-store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const cache = join(import.meta.dirname, '../../node_modules/.cache/lake');
export const extensions = join(cache, 'extensions');
const isInstalled = process.env['REKAP_LAKE'] !== undefined && existsSync(join(cache, 'ready'));
/** Nessie needs Java 21. */
const java = isInstalled ? findJava(21) : undefined;
if (isInstalled && java === undefined) throw new Error('These tests need Java 21 or later.');
const isWanted = java !== undefined;
export const catalogs: readonly CatalogName[] = isWanted ? (hasStore ? ['iceberg', 'nessie'] : ['iceberg']) : [];
export const whySkipped = '"make test-lake" runs it against Iceberg catalogs';

/** Decides what happens to a request: it is passed on, or the connection breaks before or after that. */
type Outcome = 'pass' | 'lose request' | 'lose response' | 'hold' | number;
type Fault = (request: IncomingMessage, body: string) => Outcome | Promise<Outcome>;

export interface TestCatalog {
  readonly url: string;
  /** Bodies of the commits that arrived. */
  readonly commits: string[];
  fault: Fault;
  place(settings?: Partial<CatalogSettings>): LakePlace;
}

const starts = { iceberg: startIceberg, 'iceberg on S3': startIcebergOnS3, nessie: startNessie } as const;

/** `iceberg` is the catalog for tests, which keeps its tables in a folder. The others keep them in an S3 store. */
export type CatalogName = keyof typeof starts;

/** Until the present test is over. */
export async function startCatalog(name: CatalogName): Promise<TestCatalog> {
  const { port, path, environment } = await starts[name]();
  const catalog = { commits: [] as string[], fault: (() => 'pass') as Fault };
  const server = createServer((request, response) => void relay(request, response, port, catalog));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return Object.assign(catalog, {
    url,
    place: (settings: Partial<CatalogSettings> = {}): LakePlace => ({
      catalog: {
        url,
        warehouse: null,
        namespace: 'rekap',
        token: null,
        signal: new AbortController().signal,
        clock: { sleep: (milliseconds) => systemClock.sleep(milliseconds / 20) },
        ...settings,
      },
      extensions,
      memory: 256e6,
      environment,
    }),
  });
}

interface Started {
  readonly port: number;
  /** Path of the catalog's base URL. */
  readonly path: string;
  readonly environment: Readonly<Record<string, string>>;
}

async function startIceberg(properties: Readonly<Record<string, string>> = {}): Promise<Started> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'warehouse'));
  const classPath = [join(cache, 'classes'), `${join(cache, 'jars')}/*`, `${join(cache, '../trino/jars')}/*`].join(':');
  const words = Object.entries(properties).map(([name, value]) => `${name}=${value}`);
  const port = await startJava(java!, ['-cp', classPath, 'TestCatalog', folder, ...words], /^(\d+)$/);
  return { port: Number(port), path: '', environment: {} };
}

async function startIcebergOnS3(): Promise<Started> {
  const { endpoint, environment } = await startStore();
  const { AWS_REGION: region, AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = environment;
  const started = await startIceberg({
    warehouse: 's3://figures/lake',
    'io-impl': 'org.apache.iceberg.aws.s3.S3FileIO',
    's3.endpoint': endpoint,
    's3.path-style-access': 'true',
    's3.access-key-id': id!,
    's3.secret-access-key': secret!,
    'client.region': region!,
  });
  return { ...started, environment };
}

async function startNessie(): Promise<Started> {
  const { endpoint, environment } = await startStore();
  const { AWS_REGION: region, AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = environment;
  const settings = {
    'quarkus.http.host': '127.0.0.1',
    'quarkus.http.port': '0',
    'quarkus.management.host': '127.0.0.1',
    'quarkus.management.port': '0',
    'nessie.version.store.type': 'IN_MEMORY',
    'nessie.catalog.default-warehouse': 'figures',
    'nessie.catalog.warehouses.figures.location': 's3://figures/lake',
    'nessie.catalog.service.s3.default-options.endpoint': endpoint,
    'nessie.catalog.service.s3.default-options.region': region,
    'nessie.catalog.service.s3.default-options.path-style-access': 'true',
    'nessie.catalog.service.s3.default-options.access-key': 'urn:nessie-secret:quarkus:store-keys',
    'store-keys.name': id,
    'store-keys.secret': secret,
  };
  const options = Object.entries(settings).map(([name, value]) => `-D${name}=${value}`);
  const jar = join(cache, 'nessie', 'nessie-quarkus-0.99.0-runner.jar');
  const port = await startJava(java!, [...options, '-jar', jar], /Listening on: http:\/\/127\.0\.0\.1:(\d+)/);
  return { port: Number(port), path: '/iceberg', environment };
}

/** Starts a Java program until the present test is over, and returns what it prints in the first group of the pattern. */
export async function startJava(program: string, words: readonly string[], printed: RegExp): Promise<string> {
  const child = spawn(program, words);
  const output = new PassThrough();
  child.stdout.pipe(output);
  child.stderr.pipe(output);
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const lines: string[] = [];
  for await (const line of createInterface(output)) {
    const [, found] = printed.exec(line) ?? [];
    lines.push(line);
    if (found === undefined) continue;
    output.resume();
    return found;
  }
  throw new Error(`java ${words.join(' ')} ended:\n${lines.slice(-20).join('\n')}`);
}

async function relay(
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
  catalog: Pick<TestCatalog, 'commits' | 'fault'>,
): Promise<void> {
  const body = await buffer(request);
  const { method, url, headers } = request;
  if (url!.endsWith('/transactions/commit')) catalog.commits.push(body.toString());
  const fault = await catalog.fault(request, body.toString());
  if (fault === 'hold') return;
  if (fault === 'lose request') return void response.destroy();
  if (typeof fault === 'number') return void response.writeHead(fault).end('{}');
  const passed = send({ host: '127.0.0.1', port, method, path: url, headers });
  passed.end(body);
  const [answer] = (await once(passed, 'response')) as [IncomingMessage];
  const text = await buffer(answer);
  if (fault === 'lose response') return void response.destroy();
  const { 'transfer-encoding': _, ...own } = answer.headers;
  response.writeHead(answer.statusCode!, own).end(text);
}

export function isCommit({ url }: IncomingMessage): boolean {
  return url!.endsWith('/transactions/commit');
}

/** Returns the tables of a catalog whose rows aren't exactly those of a snapshot, by its tag or as they are now. */
export async function differingTables(place: LakePlace, snapshot: Snapshot, by: 'tag' | 'now'): Promise<string[]> {
  const paths = snapshot.manifest.files.map(({ path }) => path).filter((path) => path.endsWith('.parquet'));
  const tables = paths.map((path) => basename(path, '.parquet'));
  const files = paths.map((path) => join(snapshot.folder, path));
  return withLake(place, { tables, files }, async ({ database, metadata }) => {
    const different: string[] = [];
    for (const [index, table] of tables.entries()) {
      const version = metadata.get(table)!.refs![by === 'tag' ? tagOf(snapshot.id) : 'main']!['snapshot-id'];
      const file = readParquetSql(files[index]!);
      const described = await database.rows<{ column_name: string }>(`DESCRIBE FROM ${file}`);
      const columns = described.map(({ column_name }) => `"${column_name}"`).join(', ');
      const ofFile = `SELECT ${columns} FROM ${file}`;
      const ofLake = `SELECT ${columns} FROM lake.rekap."${table}" AT (VERSION => ${version})`;
      const others = await database.rows(
        `(${ofFile} EXCEPT ALL ${ofLake}) UNION ALL (${ofLake} EXCEPT ALL ${ofFile}) LIMIT 1`,
      );
      if (others.length > 0) different.push(table);
    }
    return different;
  });
}

/** Debian installs several versions side by side. */
export function findJava(least: number): string | undefined {
  const folder = '/usr/lib/jvm';
  const others = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'bin/java')) : [];
  return ['java', ...others].find((program) => versionOf(program) >= least);
}

function versionOf(program: string): number {
  const { stderr } = spawnSync(program, ['-version'], { encoding: 'utf8' });
  return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0);
}
