/** A query comes from a word, a file or a pipe, with values for its parameters, and its answer fits the terminal. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import readXlsxFile, { readSheet } from 'read-excel-file/node';
import { afterEach, describe, expect, it } from 'vitest';
import { command } from '../../src/cli/query.ts';
import { exportSnapshot } from '../../src/snapshots/export-snapshot.ts';
import { requireCurrent } from '../../src/warehouse/warehouse.ts';
import { shownWidth } from '../../src/cli/print/wrap-text.ts';
import { readRows } from '../support/read-table.ts';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { cliPath } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('rekap query', () => {
  it('takes values for its parameters, numbers and texts', async () => {
    const { warehouse } = await sampleWarehouse();
    const sql = 'SELECT regency FROM voters WHERE dapil_id = $dapil AND regency LIKE $like ORDER BY ALL;\n';
    const given = ['--param', 'dapil=1101', '--param', 'like=ACEH B%', '--format', 'csv', '--warehouse', warehouse];
    const { stdout, code } = await runHere(['query', sql, ...given]);
    expect({ stdout, code }).toEqual({ stdout: 'regency\nACEH BARAT\nACEH BARAT DAYA\nACEH BESAR\n', code: 0 });
  });

  it('writes a workbook that says where its rows come from', async () => {
    const { warehouse } = await sampleWarehouse();
    const out = join(await temporaryFolder(), 'provinces.xlsx');
    const sql = 'SELECT province, voters_all FROM turnout_by_province ORDER BY ALL LIMIT 2';
    expect((await runHere(['query', sql, '--out', out, '--warehouse', warehouse])).code).toBe(0);
    const [first] = await readRows<{ province: string; voters_all: bigint }>(warehouse, sql);
    const rows = await readSheet(out, 'Result');
    expect(rows).toHaveLength(3);
    expect(rows[1]).toEqual([first!.province, Number(first!.voters_all)]);
    const about = JSON.stringify(await readSheet(out, 'About'));
    for (const part of ['made up', 'Snapshot', JSON.stringify(sql).slice(1, -1)]) expect(about).toContain(part);
  });

  it('shows how to open the file elsewhere, and its tables, if it gets no statement', async () => {
    const { warehouse } = await sampleWarehouse();
    const words = [cliPath, 'query', '--warehouse', warehouse];
    const { stdout, status } = spawnSync(process.execPath, words, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(status).toBe(0);
    const { folder } = await requireCurrent(warehouse);
    expect(stdout).toContain(`duckdb -cmd "ATTACH '${join(folder, 'rekap.duckdb')}' AS rekap (READ_ONLY); USE rekap"`);
    expect(stdout).toContain('-ui');
    expect(stdout).toMatch(/^ {2}voters +Voters of /m);
    const [, meanings] = /rekap query "(SELECT [^"]+)"/.exec(stdout)!;
    const read = await runHere(['query', meanings!, '--json', '--warehouse', warehouse]);
    expect(JSON.parse(read.stdout)).toContainEqual(expect.objectContaining({ comment: expect.any(String) }));
  });

  it('takes a statement from a pipe', async () => {
    const { warehouse } = await sampleWarehouse();
    const words = [cliPath, 'query', '--format', 'csv', '--warehouse', warehouse];
    const { stdout, status } = spawnSync(process.execPath, words, { input: 'SELECT 1 AS one', encoding: 'utf8' });
    expect({ stdout, status }).toEqual({ stdout: 'one\n1\n', status: 0 });
  });

  it('reads an earlier snapshot by its id', async () => {
    const { warehouse } = await sampleWarehouse();
    const [first] = await readdir(join(warehouse, 'snapshots'));
    const sql = 'SELECT max(snapshot_id) AS id FROM snapshots_log';
    const words = ['query', sql, '--format', 'csv', '--warehouse', warehouse];
    expect((await runHere([...words, '--snapshot', first!])).stdout).toBe(`id\n${first}\n`);
    expect((await runHere([...words, '--snapshot', '20200101T000000Z-000000'])).code).toBe(2);
  });

  it.each([
    ['a parameter without a value', ['SELECT $x'], 'x'],
    ['a value without a parameter', ['SELECT 1', '--param', 'y=1'], 'y'],
    ['a value without a name', ['SELECT 1', '--param', '=1'], '--param'],
  ])('refuses %s by name', async (_, words, named) => {
    const { warehouse } = await sampleWarehouse();
    const { code, stderr } = await runHere(['query', ...words, '--warehouse', warehouse]);
    expect(code).toBe(2);
    expect(stderr).toContain(named);
  });
});

describe('on a terminal of 80 columns', () => {
  const { isTTY, columns, rows } = process.stdout;
  afterEach(() => void Object.assign(process.stdout, { isTTY, columns, rows }));

  const quoted = (line: string) => /rekap query "([^"$]+)"/.exec(line)?.[1];
  const pages = ['README.md', 'docs/tutorial.md', 'docs/how-to/ask-sql.md'];
  const ofPages = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/rekap query "([^"$]+)"/g)].map(([, sql]) => sql!),
  );
  const ofHelp = (command.examples ?? []).flatMap(([line]) => quoted(line) ?? []);

  it('every query of the help and of the documentation fits', async () => {
    const { warehouse } = await sampleWarehouse();
    Object.assign(process.stdout, { isTTY: true, columns: 80, rows: 10_000 });
    for (const sql of new Set([...ofHelp, ...ofPages].filter((text) => !text.startsWith('$(')))) {
      const { stdout, code } = await runHere(['query', sql, '--warehouse', warehouse], { PAGER: 'cat' });
      expect(code, sql).toBe(0);
      for (const line of stripVTControlCharacters(stdout).split('\n'))
        expect(shownWidth(line), sql).toBeLessThanOrEqual(80);
    }
  });

  it('groups the digits of figures but not those of ids', async () => {
    const { warehouse } = await sampleWarehouse();
    Object.assign(process.stdout, { isTTY: true, columns: 80, rows: 10_000 });
    const sql = 'FROM voters WHERE dapil_id = 1101 LIMIT 1';
    const { stdout } = await runHere(['query', sql, '--warehouse', warehouse], { PAGER: 'cat' });
    const text = stripVTControlCharacters(stdout);
    expect(text).toMatch(/dapil_id +1101$/m);
    expect(text).toMatch(/dpt_male +70,800$/m);
  });
});

describe('rekap export', () => {
  const exported = async (...words: string[]) => {
    const { warehouse } = await sampleWarehouse();
    const into = join(await temporaryFolder(), 'out');
    const { code, stdout } = await runHere(['export', '--out', into, ...words, '--warehouse', warehouse]);
    expect(code).toBe(0);
    return { warehouse, into, files: stdout.trim().split('\n') };
  };

  it('writes a workbook with every table, numbers as numbers, and a sheet that says what it is', async () => {
    const { warehouse, files } = await exported();
    const sheets = await readXlsxFile(files[0]!);
    const relations = await readRows<{ name: string }>(warehouse, 'SELECT name FROM (SHOW TABLES) ORDER BY ALL');
    const names = sheets.map(({ sheet }) => sheet);
    expect(names.slice(0, 2)).toEqual(['Turnout by province', 'About']);
    expect(names.slice(2).toSorted()).toEqual(relations.map(({ name }) => name));
    const provinces = (await readSheet(files[0]!, 1)).slice(3, -7).map((row) => [row[0], row[3]]);
    const rates = 'SELECT province AS p, users_per_dpt_and_dpk_pct AS pct FROM turnout_by_province';
    const expected = await readRows<{ p: string; pct: number }>(warehouse, rates);
    expect(new Map(provinces.filter(([name]) => name !== null) as [string, number][])).toEqual(
      new Map(expected.map(({ p, pct }) => [p, pct])),
    );
    const about = (await readSheet(files[0]!, 'About')).slice(0, 2);
    expect(JSON.stringify(about)).toContain('made up');
    const [head, ...rows] = await readSheet(files[0]!, 'fact_people');
    const people = rows.map((row) => row[head!.indexOf('voters')] as number | null);
    const [sum] = await readRows<{ people: bigint }>(
      warehouse,
      'SELECT sum(voters)::BIGINT AS people FROM fact_people',
    );
    expect(people.reduce<number>((total, each) => total + (each ?? 0), 0)).toBe(Number(sum!.people));
  });

  it('writes one table as a workbook, and refuses a name that is no table', async () => {
    const { warehouse, files } = await exported('turnout_by_province');
    expect((await readXlsxFile(files[0]!)).map(({ sheet }) => sheet)).toEqual(['About', 'turnout_by_province']);
    const wrong = await runHere(['export', 'turnout_by_provinces', '--warehouse', warehouse]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "turnout_by_province"?') });
  });

  it('writes into a folder named after the snapshot, unless that holds something', async () => {
    const { warehouse } = await sampleWarehouse();
    const [id] = await readdir(join(warehouse, 'snapshots'));
    const cwd = await temporaryFolder();
    const words = ['export', '--format', 'parquet', '--warehouse', warehouse];
    expect((await runHere(words, {}, cwd)).code).toBe(0);
    expect(await readdir(join(cwd, `rekap-${id}`))).toContain('ABOUT.txt');
    const again = await runHere(words, {}, cwd);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining(`rekap-${id} is not empty`) });
  });

  it('writes a file for each table as CSV, and the very files of the snapshot as Parquet', async () => {
    const csv = await exported('--format', 'csv');
    const [first] = await readRows<{ n: bigint }>(csv.warehouse, 'SELECT count(*) AS n FROM voters');
    const lines = (await readFile(join(csv.into, 'voters.csv'), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(Number(first!.n) + 1);
    const parquet = await exported('--format', 'parquet');
    const here = await readFile(join(parquet.into, 'voters.parquet'));
    expect(here).toEqual(await readFile(join(parquet.warehouse, 'current/parquet/voters/voters.parquet')));
  });

  it('leaves no file if it is interrupted', async () => {
    const folder = join(await temporaryFolder(), 'out');
    const snapshot = await requireCurrent((await sampleWarehouse()).warehouse);
    for (const format of ['csv', 'parquet', 'xlsx'] as const)
      await expect(exportSnapshot(snapshot, { format, folder, signal: AbortSignal.abort() })).rejects.toThrow('abort');
    expect(await readdir(folder)).toEqual([]);
  });

  it('writes nothing into the warehouse', async () => {
    const { warehouse } = await sampleWarehouse();
    const into = join(warehouse, 'current', 'out');
    expect((await runHere(['export', '--out', into, '--warehouse', warehouse])).code).toBe(2);
  });
});
