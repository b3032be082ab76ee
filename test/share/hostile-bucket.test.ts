/** A bucket that anyone may have written to: a pull takes nothing from it that rekap would not have published. */

import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase, quoteText } from '../../src/runtime/database.ts';
import { isRekapError } from '../../src/errors.ts';
import { quarantineTable } from '../../src/load/tables.ts';
import { writeManifest } from '../../src/publish/manifest.ts';
import { pullSnapshot } from '../../src/share/pull-snapshot.ts';
import { verifyAgainst } from '../../src/publish/verify-against.ts';
import { describeFile } from '../../src/warehouse/check-files.ts';
import { databaseFile, type Manifest } from '../../src/warehouse/snapshot-format.ts';
import { readCurrentId, requireCurrent, type Snapshot } from '../../src/warehouse/warehouse.ts';
import { manualClock } from '../support/manual-clock.ts';
import { type MemoryStore, startMemoryStore } from '../support/memory-store.ts';
import { publishedNation } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { project } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const prepared = publishedNation();
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

/** What an attacker makes of a snapshot. All hashes are right afterwards. */
const attacks: Readonly<Record<string, (snapshot: Snapshot, secret: string) => Promise<Manifest>>> = {
  'a table that is a view over a file': (snapshot, secret) =>
    alterDatabase(snapshot, view('quarantine', `SELECT content AS dataset FROM read_text(${quoteText(secret)})`)),
  'a dataset that is a view over a file': (snapshot, secret) =>
    alterDatabase(snapshot, view('voters', `SELECT content AS regency FROM read_text(${quoteText(secret)})`)),
  'a table that is a view over a table': (snapshot) =>
    alterDatabase(snapshot, `CREATE TABLE hidden AS FROM quarantine; ${view('quarantine', 'FROM hidden')}`),
  'a view that is not the declared one': (snapshot) => {
    const { sql } = project.models.find(({ name }) => name === 'dim_regency')!;
    return alterDatabase(
      snapshot,
      `CREATE OR REPLACE VIEW dim_regency AS SELECT * REPLACE (lower(regency) AS regency) FROM (${sql})`,
    );
  },
  'a table that is a view, as if by another release': async (snapshot) => ({
    ...(await alterDatabase(snapshot, view('quarantine', `SELECT ${nulls} WHERE false`))),
    definition: 'f'.repeat(64),
  }),
  'a view over a file, as if by another release': async (snapshot, secret) => ({
    ...(await alterDatabase(
      snapshot,
      `CREATE OR REPLACE VIEW data_quality AS SELECT content FROM read_text(${quoteText(secret)})`,
    )),
    definition: 'f'.repeat(64),
  }),
  'another table': (snapshot) => alterDatabase(snapshot, 'CREATE TABLE more AS SELECT 1 AS n'),
  'another schema': (snapshot) => alterDatabase(snapshot, 'CREATE SCHEMA s; CREATE TABLE s.voters AS FROM voters'),
  'a macro': (snapshot) => alterDatabase(snapshot, 'CREATE MACRO upper(x) AS lower(x)'),
  'a comment that is not the declared one': (snapshot) =>
    alterDatabase(snapshot, "COMMENT ON COLUMN voters.dpt_male IS 'Something else.'"),
  'an index': (snapshot) => alterDatabase(snapshot, 'CREATE INDEX more ON voters (dpt_male)'),
  'a sequence': (snapshot) => alterDatabase(snapshot, 'CREATE SEQUENCE more'),
  'a type': (snapshot) => alterDatabase(snapshot, "CREATE TYPE more AS ENUM ('a')"),
  'an empty schema': (snapshot) => alterDatabase(snapshot, 'CREATE SCHEMA more'),
  'a log beside the database': (snapshot) => addFile(snapshot, `${databaseFile}.wal`),
  'another Parquet file of a table': (snapshot) =>
    addFile(snapshot, 'parquet/voters/more.parquet', 'parquet/voters/voters.parquet'),
  'a Parquet file of no table': (snapshot) =>
    addFile(snapshot, 'parquet/more/more.parquet', 'parquet/voters/voters.parquet'),
  'a dataset called __proto__': async ({ manifest }) =>
    JSON.parse(
      JSON.stringify(manifest).replace(
        '"datasets":{',
        `"datasets":{"__proto__":${JSON.stringify(manifest.datasets['voters'])},`,
      ),
    ) as Manifest,
  'a dataset without a table': async ({ manifest }) => ({
    ...manifest,
    datasets: { ...manifest.datasets, more: manifest.datasets['voters']! },
  }),
  'a figure that is not in the table': async ({ manifest }) => {
    const { voters } = manifest.datasets;
    return {
      ...manifest,
      datasets: { ...manifest.datasets, voters: { ...voters!, sums: { ...voters!.sums, dpt_male: '1' } } },
    };
  },
};

/** A bucket with the current snapshot of a warehouse, which an attack has altered. */
async function attacked(attack: string) {
  const { warehouse } = await prepared();
  const secret = join(await temporaryFolder(), 'secret.txt');
  await writeFile(secret, 'a line that nobody else may read');
  const snapshot = await requireCurrent(warehouse);
  const manifest = await attacks[attack]!(snapshot, secret);
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

describe('a pull from a bucket that holds', () => {
  it.each(Object.keys(attacks))('%s is refused, and nothing becomes current', async (attack) => {
    const { snapshot } = await attacked(attack);
    const store = await startMemoryStore();
    const bucket = await store.open();
    const clock = manualClock();
    await fill(store, snapshot);
    const mirror = await temporaryFolder();
    const verify = async (pulled: Pick<Snapshot, 'folder' | 'manifest'>) => verifyAgainst(pulled);
    const pulling = pullSnapshot({ ...quiet, warehouse: mirror, bucket, clock, verify, isCopy: true });
    await expect(pulling).rejects.toSatisfy((error) => isRekapError(error, 'bucket'));
    expect(await readCurrentId(mirror)).toBeNull();
  });

  it('a manifest without a time is refused', async () => {
    const { warehouse } = await prepared();
    const snapshot = await requireCurrent(warehouse);
    const store = await startMemoryStore();
    const manifest = { ...snapshot.manifest, created_at: 'junk' };
    for (const name of ['manifest.json', 'manifest.json.sha256']) await rm(join(snapshot.folder, name));
    await writeManifest(snapshot.folder, manifest);
    await fill(store, { ...snapshot, manifest });
    const options = { ...quiet, warehouse: await temporaryFolder(), bucket: await store.open(), clock: manualClock() };
    const pulling = pullSnapshot({ ...options, verify: async () => [], isCopy: false });
    await expect(pulling).rejects.toSatisfy((error) => isRekapError(error, 'bucket'));
  });

  it('a snapshot of the year 9999 is refused', async () => {
    const store = await startMemoryStore();
    const bucket = await store.open();
    const current = {
      format: 1,
      snapshot: '99991231T235959Z-000001',
      manifest_sha256: hashOf(Buffer.from('')),
      source: 'https://host',
      created_at: '9999-12-31T23:59:59.000Z',
    };
    store.objects.set('dpr/current.json', Buffer.from(JSON.stringify(current)));
    const mirror = await temporaryFolder();
    const pulling = pullSnapshot({
      ...quiet,
      warehouse: mirror,
      bucket,
      clock: manualClock(),
      verify: async () => [],
      isCopy: false,
    });
    await expect(pulling).rejects.toSatisfy((error) => isRekapError(error, 'bucket'));
    expect(store.requests).toEqual(['GET dpr/current.json']);
  });
});

describe('a warehouse written by another party', () => {
  const doors: readonly (readonly string[])[] = [
    ['query', 'FROM quarantine'],
    ['query', 'FROM voters'],
    ['export', '--format', 'csv', '--into'],
    ['report', '--out'],
    ['evidence', 'R1'],
    ['dictionary'],
    ['diff'],
    ['snapshots', 'verify'],
  ];

  it.each(['a table that is a view over a file', 'a dataset that is a view over a file'])(
    'shows no other file: %s',
    async (attack) => {
      const { warehouse } = await attacked(attack);
      const out = await temporaryFolder();
      for (const [index, words] of doors.entries()) {
        const target = words.at(-1)!.startsWith('--') ? [join(out, String(index))] : [];
        const { stdout, stderr } = await runHere([...words, ...target, '--warehouse', warehouse]);
        const written = await Promise.all(target.map((path) => readFile(path, 'utf8').catch(() => '')));
        expect(stdout + stderr + written.join('')).not.toContain('nobody else may read');
      }
    },
  );

  it.each(Object.keys(attacks))('fails its verification: %s', async (attack) => {
    const { warehouse } = await attacked(attack);
    expect((await runHere(['snapshots', 'verify', '--warehouse', warehouse])).code).toBe(1);
  });
});
