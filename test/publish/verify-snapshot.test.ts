/** A snapshot verifies when it is whole; whatever is altered in it, or in its manifest, is named. */

import { copyFile, cp, mkdir, mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, quoteText } from '../../src/duckdb/database.ts';
import { datasetTable, exportedTables } from '../../src/load/tables.ts';
import { assembleDataset, writeManifest } from '../../src/publish/manifest.ts';
import { verifyBuilt, verifySnapshot } from '../../src/publish/verify-snapshot.ts';
import type { Verdict } from '../../src/stages.ts';
import { describeFile } from '../../src/warehouse/check-files.ts';
import {
  databaseFile,
  type Manifest,
  type ManifestDataset,
  manifestFile,
  manifestHashFile,
  parquetPath,
} from '../../src/warehouse/snapshot-format.ts';
import { ask, load, makeFolder, project, user, voter } from '../load/support.ts';
import { manifestOf } from '../support/manifests.ts';

const paths = [
  databaseFile,
  ...exportedTables(project.pipelines)
    .map(({ name }) => name)
    .map(parquetPath),
];

let root: string;
let whole: { folder: string; manifest: Manifest };

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rekap-verify-'));
  whole = await buildSnapshot(join(root, 'whole'), join(root, 'before'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A copy of the whole snapshot, to be spoiled. */
async function copySnapshot(): Promise<{ folder: string; manifest: Manifest }> {
  const folder = await makeFolder();
  await cp(whole.folder, folder, { recursive: true });
  return { folder, manifest: whole.manifest };
}

/** Every record is of this district. */
const verdictOf = (dataset: string): Verdict => ({
  dataset,
  district: 1101,
  complete: true,
  proof: 'full listing',
  listed: 3,
  received: 3,
  pages: 1,
  readings: 1,
  read_at: '2026-11-20T03:00:00.000Z',
  reason: null,
});

/** A snapshot of a few records, some doubtful, with its manifest. */
async function buildSnapshot(folder: string, earlier: string): Promise<{ folder: string; manifest: Manifest }> {
  const records = [voter(), voter(), voter({ regency: 'B', dpt_male: 'x', grand_total: '7' }), 5];
  for (const made of [folder, earlier]) await mkdir(made);
  const before = await load(
    { voters: [[voter({ dpt_male: '1' })]], voting_rights_users: [[user()]] },
    { folder: earlier },
  );
  const { totals, reports } = await load(
    { voters: [records], voting_rights_users: [[user()]] },
    { folder, previous: before.tables },
  );
  const datasets: Record<string, ManifestDataset> = {};
  for (const pipeline of project.pipelines) {
    const { table } = pipeline;
    const schema = datasetTable(pipeline).columns.map(({ name, type }) => [name, type] as const);
    const facts = { verdicts: [verdictOf(table)], replaced: null, schema };
    datasets[table] = assembleDataset({ pipeline, totals: totals.get(table)!, ...facts, ...reports.get(table)! }, null);
  }
  const manifest = manifestOf({ snapshot: '20261120T030002Z-000001', datasets });
  return { folder, manifest: await withFiles(folder, manifest) };
}

/** The manifest with the files as they now are, as if the rest of it were made by somebody who writes other tables. */
async function withFiles(folder: string, manifest: Manifest): Promise<Manifest> {
  return { ...manifest, files: await Promise.all(paths.map((path) => describeFile(folder, path, null))) };
}

async function verify({ folder, manifest }: { folder: string; manifest: Manifest }): Promise<string[]> {
  for (const name of [manifestFile, manifestHashFile]) await rm(join(folder, name), { force: true });
  await writeManifest(folder, manifest);
  return verifySnapshot(folder, manifest, project.pipelines);
}

/** The manifest with one figure of voters replaced. */
function edit(manifest: Manifest, change: (voters: ManifestDataset) => Partial<ManifestDataset>): Manifest {
  const voters = manifest.datasets['voters']!;
  return { ...manifest, datasets: { ...manifest.datasets, voters: { ...voters, ...change(voters) } } };
}

async function countRows(folder: string, table: string): Promise<number> {
  const [row] = await ask(join(folder, databaseFile), `SELECT count(*)::INTEGER AS n FROM ${table}`);
  return Number(row!['n']);
}

async function alterDatabase(folder: string, sql: string): Promise<void> {
  const database = await openDatabase(join(folder, databaseFile));
  try {
    await database.run(`${sql}; CHECKPOINT`);
  } finally {
    database.close();
  }
}

describe('verifying a snapshot', () => {
  it('finds nothing where it is whole', async () => {
    expect(await verify(await copySnapshot())).toEqual([]);
  });

  it('names each file in which one byte is another, is missing, or is cut off', async () => {
    const { folder, manifest } = await copySnapshot();
    for (const path of paths) {
      const file = join(folder, path);
      const bytes = await readFile(file);
      const altered = Buffer.from(bytes);
      altered[bytes.length >> 1]! ^= 1;
      await writeFile(file, altered);
      expect(await verify({ folder, manifest })).toEqual([expect.stringContaining(path)]);
      await writeFile(file, bytes);
      await truncate(file, bytes.length - 1);
      expect(await verify({ folder, manifest })).toEqual([expect.stringContaining(path)]);
      await rm(file);
      expect(await verify({ folder, manifest })).toEqual([expect.stringMatching(`${path}.*missing`)]);
      await writeFile(file, bytes);
    }
    expect(await verify({ folder, manifest })).toEqual([]);
  });

  it('names every altered file, not only the first', async () => {
    const { folder, manifest } = await copySnapshot();
    for (const path of paths) await rm(join(folder, path));
    expect(await verify({ folder, manifest })).toHaveLength(paths.length);
  });

  it('names a write-ahead log beside the database', async () => {
    const { folder, manifest } = await copySnapshot();
    await copyFile(join(folder, databaseFile), join(folder, `${databaseFile}.wal`));
    expect(await verify({ folder, manifest })).toEqual([expect.stringContaining(`${databaseFile}.wal`)]);
  });

  it.each([
    [
      'UPDATE voters SET dpt_female = dpt_female + 1 WHERE dapil_id = 1101 AND regency = $$B$$',
      /table voters.*dpt_female/,
    ],
    ['UPDATE voters SET dpt_male = 0 WHERE dpt_male IS NULL', /table voters.*NULLs in dpt_male/],
    ['UPDATE voters SET dpt_male = NULL WHERE dpt_male IS NOT NULL', /table voters.*dpt_male/],
    ['DELETE FROM voting_rights_users', /table voting_rights_users.*rows/],
    ['INSERT INTO voters (regency, is_consistent) VALUES ($$C$$, true)', /table voters.*rows/],
    ['ALTER TABLE voters RENAME is_consistent TO consistent', /table voters: its columns/],
    ['DELETE FROM changes', /table changes: voters has none/],
    ['DROP TABLE voters CASCADE', /voters/],
  ])('compares the tables with the manifest even where the hashes agree: %s', async (sql, problem) => {
    const { folder, manifest } = await copySnapshot();
    await alterDatabase(folder, sql);
    const problems = await verify({ folder, manifest: await withFiles(folder, manifest) });
    expect(problems[0]).toMatch(problem);
    expect(problems.join('\n')).not.toContain('parquet/');
  });

  it('compares the Parquet files with the manifest even where the hashes agree', async () => {
    const { folder, manifest } = await copySnapshot();
    const file = join(folder, parquetPath('voters'));
    const other = join(folder, 'other.parquet');
    await alterDatabase(
      folder,
      `COPY (SELECT * REPLACE (dptb_male + 1 AS dptb_male) FROM read_parquet(${quoteText(file)})) TO ${quoteText(other)} (FORMAT parquet)`,
    );
    await rename(other, file);
    const problems = await verify({ folder, manifest: await withFiles(folder, manifest) });
    expect(problems).toEqual([expect.stringMatching(/^parquet\/voters\/voters\.parquet: .*dptb_male/)]);
  });

  it.each([
    ['a text', "UPDATE voters SET regency = 'X' || regency"],
    ['a mark', 'UPDATE voters SET is_consistent = NOT is_consistent'],
    ['a doubt', "UPDATE violations SET message = 'fine'"],
    ['a record in quarantine', "UPDATE quarantine SET record = '6'"],
    ['the history', 'UPDATE changes SET old_value = new_value'],
  ])('compares DuckDB with Parquet row by row, where no sum shows it: %s', async (_, sql) => {
    const { folder, manifest } = await copySnapshot();
    await alterDatabase(folder, sql);
    const problems = await verify({ folder, manifest: await withFiles(folder, manifest) });
    expect(problems).toEqual([expect.stringMatching(/^parquet\/.*its rows are not those of the table/)]);
  });

  it('names a database or a Parquet file that is none', async () => {
    for (const path of [databaseFile, parquetPath('voters')]) {
      const { folder, manifest } = await copySnapshot();
      await writeFile(join(folder, path), 'nothing of the kind');
      expect(await verify({ folder, manifest: await withFiles(folder, manifest) })).toHaveLength(1);
    }
  });

  const edits: [string, (voters: ManifestDataset) => Partial<ManifestDataset>, RegExp][] = [
    ['rows', ({ rows, carried_over }) => ({ rows: rows + 1, carried_over: carried_over + 1 }), /number of rows/],
    ['fetched', ({ ledger }) => ({ ledger: { ...ledger, fetched: ledger.fetched + 1 } }), /ledger/],
    ['published', ({ ledger }) => ({ ledger: { ...ledger, published: 3, fetched: ledger.fetched + 1 } }), /ledger/],
    ['a sum', ({ sums }) => ({ sums: { ...sums, grand_total: '145812' } }), /sum of grand_total/],
    ['a missing sum', () => ({ sums: {} }), /sum of dpt_male/],
    ['no verdict', () => ({ districts: [] }), /does not say that district 1101 is complete/],
    [
      'another verdict',
      ({ districts }) => ({ districts: districts.map((verdict) => ({ ...verdict, complete: false })) }),
      /does not say that district 1101 is complete/,
    ],
    [
      'fewer records than rows',
      ({ districts }) => ({ districts: districts.map((verdict) => ({ ...verdict, received: 1 })) }),
      /district 1101 has more rows \(2\) than the manifest says that it brought records \(1\)/,
    ],
    ['NULLs', ({ nulls }) => ({ nulls: { ...nulls, dpt_male: 0 } }), /NULLs in dpt_male/],
  ];

  it.each(edits)('names a manifest that says otherwise: %s', async (_, change, problem) => {
    const { folder, manifest } = await copySnapshot();
    expect((await verify({ folder, manifest: edit(manifest, change) }))[0]).toMatch(problem);
  });

  it('names counts of violations and quarantine that are not those of the tables', async () => {
    const { folder, manifest } = await copySnapshot();
    for (const change of [{ violations: {} }, { quarantined: 0 }])
      expect(await verify({ folder, manifest: edit(manifest, () => change) })).not.toEqual([]);
  });

  it.each(['violations', 'quarantine', 'changes'])(
    'names a number of rows of %s that is not the table’s',
    async (table) => {
      const { folder, manifest } = await copySnapshot();
      const withRows = (rows: number): Manifest => ({
        ...manifest,
        files: manifest.files.map((file) => (file.path === parquetPath(table) ? { ...file, rows } : file)),
      });
      const [right, wrong] = [await countRows(folder, table), 99];
      expect(await verify({ folder, manifest: withRows(right) })).toEqual([]);
      expect(await verify({ folder, manifest: withRows(wrong) })).toEqual([
        `table ${table}: the number of rows is ${right}, the manifest says ${wrong}`,
      ]);
    },
  );

  it('names a file of rows that the manifest does not know, or that it no longer lists', async () => {
    const { folder, manifest } = await copySnapshot();
    const unlisted = manifest.files.filter(({ path }) => path !== parquetPath('voters'));
    expect(await verify({ folder, manifest: { ...manifest, files: unlisted } })).not.toEqual([]);
    // An engine that is pointed to the table's folder would read these rows twice.
    const file = join(folder, parquetPath('voters'));
    await copyFile(file, file.replace('voters.parquet', 'more.parquet'));
    expect(await verify({ folder, manifest })).not.toEqual([]);
  });
});

describe('verifying a snapshot that was built a moment ago', () => {
  const verifyNow = ({ folder, manifest }: { folder: string; manifest: Manifest }) =>
    verifyBuilt(folder, manifest, project.pipelines);

  it('finds nothing where it is whole', async () => {
    expect(await verifyNow(await copySnapshot())).toEqual([]);
  });

  it('names a file that is missing, cut off, or more than there should be', async () => {
    const { folder, manifest } = await copySnapshot();
    const file = join(folder, parquetPath('voters'));
    const bytes = await readFile(file);
    await truncate(file, bytes.length - 1);
    expect(await verifyNow({ folder, manifest })).toEqual([expect.stringContaining(parquetPath('voters'))]);
    await rm(file);
    expect(await verifyNow({ folder, manifest })).toEqual([expect.stringMatching(/voters\.parquet: is missing/)]);
    await writeFile(file, bytes);
    await copyFile(join(folder, databaseFile), join(folder, `${databaseFile}.wal`));
    expect(await verifyNow({ folder, manifest })).toEqual([expect.stringContaining(`${databaseFile}.wal`)]);
  });

  it('reads what the tables and the Parquet files hold', async () => {
    const { folder, manifest } = await copySnapshot();
    await alterDatabase(folder, "UPDATE voters SET regency = 'X' || regency");
    expect(await verifyNow({ folder, manifest: await withFiles(folder, manifest) })).toEqual([
      expect.stringMatching(/^parquet\/.*its rows are not those of the table/),
    ]);
  });
});
