/** A bucket that anyone may have written to: a pull takes nothing from it that rekap would not have published. */

import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { quarantineTable } from '../../src/load/tables.ts';
import { declaredDefinitions } from '../../src/load/try-sql.ts';
import { writeManifest } from '../../src/publish/manifest.ts';
import { verifyAgainst } from '../../src/publish/check-built.ts';
import { verifySnapshot } from '../../src/publish/verify-snapshot.ts';
import { openDatabase, quoteText } from '../../src/runtime/database.ts';
import { pullSnapshot } from '../../src/share/pull-snapshot.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { describeFile } from '../../src/warehouse/check-files.ts';
import { databaseFile, type Manifest } from '../../src/warehouse/snapshot-format.ts';
import { readCurrentId, requireCurrent, type Snapshot } from '../../src/warehouse/warehouse.ts';
import { type MemoryStore, startMemoryStore } from '../support/memory-store.ts';
import { nation } from '../support/prepared-snapshots.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';
import { runBundledSync, serveData, smallNation } from '../support/served-source.ts';
import { bundledProject as project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const prepared = preparedWarehouse(async (warehouse) =>
  runBundledSync(syncOptions(warehouse, (await serveData(smallNation(nation))).url)),
);
const quiet = { acceptSource: false, warn: () => undefined, report: () => undefined, keep: 3 };

/** Runs SQL on the DuckDB file of a snapshot, and makes the manifest name the file as it is then. */
async function alterDatabase({ folder, manifest }: Snapshot, sql: string): Promise<Manifest> {
  const file = join(folder, databaseFile);
  await chmod(file, 0o644);
  const database = await openDatabase(file);
  await database.run(sql);
  database.close();
  const described = await describeFile(folder, databaseFile, null);
  return { ...manifest, files: manifest.files.map((each) => (each.path === databaseFile ? described : each)) };
}

/** Adds a file to a snapshot and its manifest. */
async function addFile({ folder, manifest }: Snapshot, path: string, from?: string): Promise<Manifest> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await (from === undefined ? writeFile(join(folder, path), '') : cp(join(folder, from), join(folder, path)));
  return { ...manifest, files: [...manifest.files, await describeFile(folder, path, null)] };
}

/** The columns of the table `quarantine`. */
const nulls = quarantineTable.columns.map(({ name, type }) => `NULL::${type} AS ${name}`).join(', ');
const view = (name: string, select: string) => `DROP TABLE ${name}; CREATE VIEW ${name} AS ${select}`;

type Attack = (snapshot: Snapshot, secret: string) => Promise<Manifest>;

const otherDefinition = 'f'.repeat(64);

const asAnotherRelease =
  (attack: Attack): Attack =>
  async (snapshot, secret) => ({ ...(await attack(snapshot, secret)), definition: otherDefinition });

const runSql =
  (sql: string | ((secret: string) => string)): Attack =>
  (snapshot, secret) =>
    alterDatabase(snapshot, typeof sql === 'string' ? sql : sql(quoteText(secret)));

const { sql: regencySql } = project.models.find(({ name }) => name === 'dim_regency')!;

/** Alterations of a snapshot by an attacker, who makes all hashes right afterwards. */
const attacks: Readonly<Record<string, Attack>> = {
  'a table that is a view over a file': runSql((secret) =>
    view('quarantine', `SELECT content AS dataset FROM read_text(${secret})`),
  ),
  'a dataset that is a view over a file': runSql((secret) =>
    view('voters', `SELECT content AS regency FROM read_text(${secret})`),
  ),
  'a table that is a view over a table': runSql(
    `CREATE TABLE hidden AS FROM quarantine; ${view('quarantine', 'FROM hidden')}`,
  ),
  'a view that differs from its declaration': runSql(
    `CREATE OR REPLACE VIEW dim_regency AS SELECT * REPLACE (lower(regency) AS regency) FROM (${regencySql})`,
  ),
  'a table that is a view, as if by another release': asAnotherRelease(
    runSql(view('quarantine', `SELECT ${nulls} WHERE false`)),
  ),
  'a view over a file, as if by another release': asAnotherRelease(
    runSql((secret) => `CREATE OR REPLACE VIEW data_quality AS SELECT content FROM read_text(${secret})`),
  ),
  'a view that asks whether it is sealed, as if by another release': asAnotherRelease(
    runSql("CREATE OR REPLACE VIEW data_quality AS FROM query('SELECT 1 AS one')"),
  ),
  'a view with a confusing name, as if by another release': asAnotherRelease(
    runSql(`CREATE OR REPLACE VIEW data_quality AS SELECT current_setting('threads') AS " AS SELECT 1 --"`),
  ),
  'an undeclared table': runSql('CREATE TABLE more AS SELECT 1 AS n'),
  'an undeclared schema': runSql('CREATE SCHEMA s; CREATE TABLE s.voters AS FROM voters'),
  'an empty schema': runSql('CREATE SCHEMA more'),
  'a macro': runSql('CREATE MACRO upper(x) AS lower(x)'),
  'a comment that differs from its declaration': runSql("COMMENT ON COLUMN voters.dpt_male IS 'Something else.'"),
  'an index': runSql('CREATE INDEX more ON voters (dpt_male)'),
  'a sequence': runSql('CREATE SEQUENCE more'),
  'a type': runSql("CREATE TYPE more AS ENUM ('a')"),
  'a log beside the database': (snapshot) => addFile(snapshot, `${databaseFile}.wal`),
  'a second Parquet file of a table': (snapshot) =>
    addFile(snapshot, 'parquet/voters/more.parquet', 'parquet/voters/voters.parquet'),
  'a Parquet file without a table': (snapshot) =>
    addFile(snapshot, 'parquet/more/more.parquet', 'parquet/voters/voters.parquet'),
  'a dataset called __proto__': async ({ manifest }) => {
    const dataset = `"datasets":{"__proto__":${JSON.stringify(manifest.datasets['voters'])},`;
    return JSON.parse(JSON.stringify(manifest).replace('"datasets":{', dataset)) as Manifest;
  },
  'a dataset without a table': async ({ manifest }) => ({
    ...manifest,
    datasets: { ...manifest.datasets, more: manifest.datasets['voters']! },
  }),
  'a figure that differs from the table': async ({ manifest }) => {
    const voters = manifest.datasets['voters']!;
    const altered = { ...voters, sums: { ...voters.sums, dpt_male: '1' } };
    return { ...manifest, datasets: { ...manifest.datasets, voters: altered } };
  },
};

const fileViews = ['a table that is a view over a file', 'a dataset that is a view over a file'];

/** A warehouse whose current snapshot was altered. */
async function attackedBy(attack: Attack) {
  const { warehouse } = await prepared();
  const secret = join(await temporaryFolder(), 'secret.txt');
  await writeFile(secret, 'a confidential line');
  const snapshot = await requireCurrent(warehouse);
  const manifest = await attack(snapshot, secret);
  for (const name of ['manifest.json', 'manifest.json.sha256']) await rm(join(snapshot.folder, name));
  await writeManifest(snapshot.folder, manifest);
  return { warehouse, snapshot: { ...snapshot, manifest } };
}

/** Puts a snapshot into a store, as an attacker would: a push refuses some of them. */
async function fill(store: MemoryStore, { id, folder, manifest }: Snapshot): Promise<void> {
  for (const path of [...manifest.files.map((file) => file.path), 'manifest.json'])
    store.objects.set(`dpr/snapshots/${id}/${path}`, await readFile(join(folder, path)));
  const manifest_sha256 = hashOf(await readFile(join(folder, 'manifest.json')));
  const { source, created_at } = manifest;
  const current = { format: 1, snapshot: id, manifest_sha256, source, created_at };
  store.objects.set('dpr/current.json', Buffer.from(JSON.stringify(current)));
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function pullFrom(store: MemoryStore, mirror: string): Promise<unknown> {
  const options = { ...quiet, warehouse: mirror, bucket: await store.open(), clock: manualClock() };
  return pullSnapshot({ ...options, verify: verifyAgainst, isCopy: true });
}

describe('verification', () => {
  // Computing them takes a second, so once is enough.
  let declared: Awaited<ReturnType<typeof declaredDefinitions>>;
  beforeAll(async () => void (declared = await declaredDefinitions(project)));

  it.each(Object.entries(attacks))('fails for a snapshot with %s', async (_, attack) => {
    const { warehouse } = await attackedBy(attack);
    const { folder, manifest } = await requireCurrent(warehouse);
    const isOurs = manifest.definition !== otherDefinition;
    expect(await verifySnapshot(folder, manifest, { declared: isOurs ? declared : undefined })).not.toEqual([]);
  });

  it('finds nothing in an unaltered snapshot', async () => {
    const { warehouse } = await prepared();
    const { folder, manifest } = await requireCurrent(warehouse);
    expect(await verifySnapshot(folder, manifest, { declared })).toEqual([]);
    // As if by another release, whose views can't be compared with a declaration.
    expect(await verifySnapshot(folder, manifest)).toEqual([]);
  });
});

describe('a pull is refused, and nothing becomes current,', () => {
  it.each<[string, Attack]>([
    ...[...fileViews, 'a log beside the database', 'a dataset called __proto__'].map((name): [string, Attack] => [
      name,
      attacks[name]!,
    ]),
    ['a manifest without a time', async ({ manifest }) => ({ ...manifest, created_at: 'junk' })],
    ['a run in another folder', async ({ manifest }) => ({ ...manifest, run: '../../x' })],
    ['a run with an absolute path', async ({ manifest }) => ({ ...manifest, run: '/etc' })],
    ['a previous snapshot in another folder', async ({ manifest }) => ({ ...manifest, previous: '../../x' })],
  ])('from a bucket with %s', async (_, attack) => {
    const { snapshot } = await attackedBy(attack);
    const store = await startMemoryStore();
    await fill(store, snapshot);
    const mirror = await temporaryFolder();
    await expect(pullFrom(store, mirror)).rejects.toMatchObject({ code: 'bucket' });
    expect(await readCurrentId(mirror)).toBeNull();
  });

  it('from a bucket with a snapshot of the year 9999', async () => {
    const store = await startMemoryStore();
    const current = {
      format: 1,
      snapshot: '99991231T235959Z-000001',
      manifest_sha256: hashOf(Buffer.from('')),
      source: 'https://host',
      created_at: '9999-12-31T23:59:59.000Z',
    };
    store.objects.set('dpr/current.json', Buffer.from(JSON.stringify(current)));
    await expect(pullFrom(store, await temporaryFolder())).rejects.toMatchObject({ code: 'bucket' });
    expect(store.requests).toEqual(['GET dpr/current.json']);
  });
});

it.each(fileViews)('no command shows another file through %s', async (name) => {
  const { warehouse } = await attackedBy(attacks[name]!);
  const out = await temporaryFolder();
  const commands = [
    ['query', 'FROM quarantine'],
    ['query', 'FROM voters'],
    ['export', '--format', 'csv', '--out', join(out, 'tables')],
    ['report', '--out', join(out, 'report.html')],
    ['evidence', 'R1'],
    ['diff'],
    ['snapshots', 'verify'],
  ];
  for (const command of commands) {
    const { stdout, stderr } = await runHere([...command, '--warehouse', warehouse]);
    expect(stdout + stderr, command[0]).not.toContain('confidential line');
  }
  for (const entry of await readdir(out, { recursive: true, withFileTypes: true })) {
    const text = entry.isFile() ? await readFile(join(entry.parentPath, entry.name), 'utf8') : '';
    expect(text, entry.name).not.toContain('confidential line');
  }
});
