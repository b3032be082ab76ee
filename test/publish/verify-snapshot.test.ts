/** Verification accepts an intact snapshot, and names everything that is changed in it or in its manifest. */

import { copyFile, cp, mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase, quoteText } from '../../src/runtime/database.ts';
import { assembleDataset, writeManifest } from '../../src/publish/manifest.ts';
import { readBuilt } from '../../src/publish/check-built.ts';
import { glanceAt, hashesAgree, verifyBuilt, verifySnapshot } from '../../src/publish/verify-snapshot.ts';
import { describeFile } from '../../src/warehouse/check-files.ts';
import { databaseFile, type Manifest, type ManifestDataset, parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { datasetTable } from '../../src/load/tables.ts';
import { exportedTables, load, project, user, voter } from '../load/support.ts';
import { manifestOf, verdictOf } from '../support/manifests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Built {
  readonly folder: string;
  readonly manifest: Manifest;
}

const paths = [databaseFile, ...exportedTables(project).map(parquetPath)];
const votersFile = parquetPath('voters');

let root: string;
let whole: Built;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rekap-verify-'));
  whole = await buildSnapshot(join(root, 'whole'), join(root, 'before'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A snapshot of a few records, some doubtful, with its manifest. */
async function buildSnapshot(folder: string, earlier: string): Promise<Built> {
  const others = { voting_rights_users: [[user()]] };
  const before = await load({ voters: [[voter({ dpt_male: '1' })]], ...others }, { folder: earlier });
  const records = [voter(), voter(), voter({ regency: 'B', dpt_male: 'x', grand_total: '7' }), 5];
  const { totals, reports } = await load({ voters: [records], ...others }, { folder, previous: before.file });
  const datasets: Record<string, ManifestDataset> = {};
  for (const pipeline of project.pipelines) {
    const { table } = pipeline;
    const schema = datasetTable(pipeline).columns.map(({ name, type }) => [name, type] as const);
    const partitions = [verdictOf({ dataset: table, listed: 3, received: 3 })];
    const reading = { scope: 'whole', from: null, whole_at: '2026-11-20T03:00:02Z', runs: [] as string[] } as const;
    const facts = { pipeline, partitions, reading, schema, totals: totals.get(table)! };
    datasets[table] = assembleDataset({ ...facts, ...reports.get(table)! });
  }
  const manifest = manifestOf({ snapshot: '20261120T030002Z-000001', datasets });
  return rehash({ folder, manifest });
}

/** The manifest with the current hashes of the files. */
async function rehash({ folder, manifest }: Built): Promise<Built> {
  const contents = await readBuilt(folder, paths.slice(1));
  const files = await Promise.all(
    paths.map(async (path) => {
      const { rows = null, all, withoutHistory: content = all } = contents.get(path) ?? {};
      return { ...(await describeFile(folder, path, rows)), content };
    }),
  );
  return { folder, manifest: { ...manifest, files } };
}

/** A copy of the intact snapshot, to be changed. */
async function copySnapshot(): Promise<Built> {
  const folder = await temporaryFolder();
  await cp(whole.folder, folder, { recursive: true });
  return { folder, manifest: whole.manifest };
}

async function verify({ folder, manifest }: Built): Promise<string[]> {
  for (const name of ['manifest.json', 'manifest.json.sha256']) await rm(join(folder, name), { force: true });
  await writeManifest(folder, manifest);
  return verifySnapshot(folder, manifest);
}

/** A copy with a changed database, and a manifest with its new hash. */
async function alter(sql: string): Promise<Built> {
  const copy = await copySnapshot();
  const database = await openDatabase(join(copy.folder, databaseFile));
  try {
    await database.run(`${sql}; CHECKPOINT`);
  } finally {
    database.close();
  }
  return rehash(copy);
}

describe('a verification reads every file', () => {
  it('finds nothing in an intact snapshot', async () => {
    const copy = await copySnapshot();
    expect(await verify(copy)).toEqual([]);
    expect(await verifyBuilt(copy.folder, copy.manifest)).toEqual([]);
    expect(await glanceAt(copy.folder, copy.manifest)).toEqual([]);
  });

  it('throws the reason of an abort, while DuckDB works too, and does not call the snapshot damaged', async () => {
    const { folder, manifest } = await copySnapshot();
    const reason = new Error('Terminated.');
    // Hashing large files takes long, so it ends early.
    await expect(hashesAgree({ folder, manifest, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    // The listener of the open database comes first, so its connections are interrupted or refuse the next statement.
    const controller = new AbortController();
    const { runAndReadAll } = DuckDBConnection.prototype;
    vi.spyOn(DuckDBConnection.prototype, 'runAndReadAll').mockImplementation(function (
      this: DuckDBConnection,
      ...given
    ) {
      const running = runAndReadAll.apply(this, given);
      controller.abort(reason);
      return running;
    });
    await expect(verifySnapshot(folder, manifest, { signal: controller.signal })).rejects.toBe(reason);
  });

  it.each([databaseFile, votersFile, parquetPath('violations')])(
    'names %s if a byte is changed, or if it is truncated or missing',
    async (path) => {
      const copy = await copySnapshot();
      const file = join(copy.folder, path);
      const bytes = await readFile(file);
      const altered = Buffer.from(bytes);
      altered[bytes.length >> 1]! ^= 1;
      await writeFile(file, altered);
      expect(await verify(copy)).toEqual([expect.stringMatching(`${path}: .*SHA-256`)]);
      await truncate(file, bytes.length - 1);
      const shorter = `${path}: ${bytes.length - 1} bytes, but ${bytes.length} in the manifest`;
      expect(await verify(copy)).toEqual([shorter]);
      expect(await verifyBuilt(copy.folder, copy.manifest)).toEqual([shorter]);
      expect(await glanceAt(copy.folder, copy.manifest)).toEqual([shorter]);
      await rm(file);
      expect(await verify(copy)).toEqual([`${path}: is missing`]);
      expect(await verifyBuilt(copy.folder, copy.manifest)).toEqual([`${path}: is missing`]);
    },
  );

  it('names every missing file, and every file that is not in the manifest', async () => {
    const copy = await copySnapshot();
    // An engine that is pointed to the table's folder would read these rows twice.
    const more = votersFile.replace('voters.parquet', 'more.parquet');
    for (const extra of [more, `${databaseFile}.wal`])
      await copyFile(join(copy.folder, votersFile), join(copy.folder, extra));
    for (const check of [verify(copy), verifyBuilt(copy.folder, copy.manifest)])
      expect((await check).join('\n')).toMatch(
        /rekap\.duckdb\.wal[^]*more\.parquet|more\.parquet[^]*rekap\.duckdb\.wal/,
      );
    for (const path of paths) await rm(join(copy.folder, path));
    for (const path of paths) expect((await verify(copy)).join('\n')).toContain(`${path}: is missing`);
  });
});

describe('a verification compares the tables with the manifest, even if every hash matches', () => {
  it.each<[string[], RegExp[]]>([
    [
      [
        'UPDATE voters SET dpt_female = dpt_female + 1 WHERE regency = $$B$$',
        'UPDATE voters SET dpt_male = 0 WHERE dpt_male IS NULL',
        'UPDATE voters SET dapil_id = 1102',
        'DELETE FROM voting_rights_users',
        'DELETE FROM violations',
        'DELETE FROM quarantine',
        'DELETE FROM changes',
      ],
      [
        /table voters.*sum of dpt_female/,
        /table voters.*NULLs in dpt_male/,
        /partition 1102 as complete/,
        /table voting_rights_users.*rows/,
        /table violations: voters has none/,
        /table quarantine: voters has none/,
        /table changes: voters has none/,
      ],
    ],
    [['INSERT INTO voters SELECT * REPLACE ($$C$$ AS regency) FROM voters LIMIT 1'], [/table voters.*rows/]],
    [['ALTER TABLE voters RENAME is_consistent TO consistent'], [/table voters: its columns/]],
    [['DROP TABLE voters CASCADE'], [/voters/]],
  ])('names each of these changes: %s', async (changes, expected) => {
    const problems = (await verify(await alter(changes.join('; ')))).join('\n');
    for (const problem of expected) expect(problems).toMatch(problem);
    expect(problems).not.toContain('parquet/');
  });

  it('refuses a generated column, because it may compute anything', async () => {
    const altered = await alter(
      "DROP TABLE quarantine CASCADE; CREATE TABLE quarantine (a INTEGER, dataset TEXT AS (current_setting('access_mode')))",
    );
    expect(await verify(altered)).toEqual([`${databaseFile}: the table quarantine is refused: it computes a column`]);
  });

  it('names a table of a dataset that is not in the manifest', async () => {
    const { folder, manifest } = await copySnapshot();
    const { voters: _, ...datasets } = manifest.datasets;
    expect(await verify({ folder, manifest: { ...manifest, datasets } })).toEqual([
      'manifest.json: the dataset voters is missing',
    ]);
  });

  it.each<[string, (voters: ManifestDataset) => Partial<ManifestDataset>, RegExp]>([
    ['rows', ({ rows, carried_over }) => ({ rows: rows + 1, carried_over: carried_over + 1 }), /number of rows/],
    ['fetched', ({ ledger }) => ({ ledger: { ...ledger, fetched: ledger.fetched + 1 } }), /ledger/],
    ['a sum', ({ sums }) => ({ sums: { ...sums, grand_total: '145812' } }), /sum of grand_total/],
    ['NULLs', ({ nulls }) => ({ nulls: { ...nulls, dpt_male: 0 } }), /NULLs in dpt_male/],
    ['no verdict', () => ({ partitions: [] }), /partition 1101 as complete/],
    ['a partition in doubt', () => ({ partitions: [verdictOf({ complete: false })] }), /partition 1101 as complete/],
    ['fewer records than rows', () => ({ partitions: [verdictOf({ received: 1 })] }), /1101 has 2 rows.* 1 records/],
    ['no violations', () => ({ violations: {} }), /table violations: voters has .*, but none in the manifest/],
    ['no quarantine', () => ({ quarantined: 0 }), /table quarantine: voters has 1 records, but none in the manifest/],
  ])('names a manifest with %s', async (_, change, problem) => {
    const { folder, manifest } = await copySnapshot();
    const voters = manifest.datasets['voters']!;
    const datasets = { ...manifest.datasets, voters: { ...voters, ...change(voters) } };
    expect((await verify({ folder, manifest: { ...manifest, datasets } }))[0]).toMatch(problem);
  });

  it('names a wrong number of rows of violations, quarantine and changes', async () => {
    const { folder, manifest } = await copySnapshot();
    const tables = ['violations', 'quarantine', 'changes'];
    const isWrong = (path: string) => tables.some((table) => path === parquetPath(table));
    const files = manifest.files.map((file) => (isWrong(file.path) ? { ...file, rows: 99 } : file));
    const problems = await verify({ folder, manifest: { ...manifest, files } });
    expect(problems.toSorted()).toEqual(
      tables
        .toSorted()
        .map((table): unknown => expect.stringMatching(`^table ${table}: the number of rows is \\d+, but 99 in`)),
    );
  });
});

describe('a verification compares DuckDB with Parquet', () => {
  it('by the rows of a Parquet file', async () => {
    const copy = await copySnapshot();
    const [file, other] = [join(copy.folder, votersFile), join(copy.folder, 'other.parquet')];
    const database = await openDatabase(':memory:');
    await database.run(
      `COPY (SELECT * REPLACE (dptb_male + 1 AS dptb_male) FROM read_parquet(${quoteText(file)})) TO ${quoteText(other)} (FORMAT parquet)`,
    );
    database.close();
    await rename(other, file);
    expect(await verify(await rehash(copy))).toEqual([
      expect.stringMatching(/^parquet\/voters\/.*its rows do not match the table voters/),
    ]);
  });

  it.each([
    [
      [
        "UPDATE voters SET regency = 'X' || regency",
        "UPDATE violations SET message = 'fine'",
        "UPDATE quarantine SET record = '6'",
        'UPDATE changes SET old_value = new_value',
      ],
      ['voters', 'violations', 'quarantine', 'changes'],
    ],
    [['UPDATE voters SET is_consistent = NOT is_consistent'], ['voters']],
  ])('row by row, for what sums do not show: %s', async (changes, tables) => {
    const { folder, manifest } = await alter(changes.join('; '));
    for (const problems of [await verify({ folder, manifest }), await verifyBuilt(folder, manifest)]) {
      expect(problems).toHaveLength(tables.length);
      for (const table of tables)
        expect(problems.join('\n')).toMatch(new RegExp(`its rows do not match the table ${table}`));
    }
  });

  it('by their columns', async () => {
    const altered = await alter('ALTER TABLE changes RENAME old_value TO earlier_value');
    expect(await verify(altered)).toEqual([expect.stringMatching(/its columns are .* of the table changes/)]);
  });
});
