/** Evidence leads from a doubtful figure to the answers of the source, byte for byte, whichever run received them. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../src/snapshots/find-evidence.ts';
import type { Statement } from '../../src/snapshots/statement.ts';
import { alterFile } from '../support/alter-file.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const total = 'JumlahPemilihLakiLakiDanPerempuanDalamDPT';

/** A nation whose first regency breaks a sum, and whose second has no name. */
function doubtfulNation() {
  const data = smallNation({ 1101: 5, 1102: 4 });
  data.datapemilihdpr[0]![total] = '999';
  data.datapemilihdpr[1]!['NamaKabupaten'] = '';
  return data;
}

const prepared = preparedSnapshots(doubtfulNation());

async function doubtful() {
  const { warehouse, known } = await prepared();
  return { warehouse, run: known[0], data: doubtfulNation() };
}

const ask = async (warehouse: string, ...words: string[]) => {
  const { stdout, code, stderr } = await runHere(['evidence', ...words, '--json', '--warehouse', warehouse]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout) as Evidence[];
};

describe('evidence', () => {
  it('holds the record of both passes, where it was, the sum that fails, and since when', async () => {
    const { warehouse, run, data } = await doubtful();
    const [voters] = await ask(warehouse, 'kota 1101-0', '--dataset', 'voters');
    expect(voters!.records.map(({ account }) => account).toSorted()).toEqual(['full listing', 'partition']);
    for (const { record, status, place, response, file, run: of, url } of voters!.records) {
      expect(JSON.parse(record)).toEqual(data.datapemilihdpr[0]);
      expect({ status, of, file }).toEqual({ status: 200, of: run, file: `${run}-response-${response}.json` });
      expect(Number(new URL(url, 'http://source.test').searchParams.get('offset')) + place).toBe(1);
    }
    const sum = voters!.violations.find(({ check_name }) => check_name === 'dpt_sexes_sum')!;
    expect(sum).toMatchObject({ actual: '999', first_snapshot: run });
    expect(sum.figures.map(({ field }) => data.datapemilihdpr[0]![field])).toEqual(
      sum.figures.map(({ value }) => value),
    );
    expect(sum.messages.id).toContain(total);
  });

  it.each([
    ['a part of a sum', 'dpt_male', ['dpt_sexes_sum']],
    ['the whole of it', 'dpt_total', ['dpt_sexes_sum']],
    ['a column of another check', 'dptb_total', []],
  ])('of a column shows the violations that it is in: %s', async (_, column, checks) => {
    const { warehouse, data } = await doubtful();
    const words = ['KOTA 1101-0', '--dataset', 'voters', '--column', column];
    const [voters] = await ask(warehouse, ...words);
    const found = voters!.violations.map(({ check_name }) => check_name);
    expect(found.filter((name) => name === 'dpt_sexes_sum')).toEqual(checks);
    expect(voters!.figures.map((figure) => [figure.column, figure.value])).toEqual([
      [column, data.datapemilihdpr[0]![voters!.figures[0]!.field]],
    ]);
    const { stdout } = await runHere(['evidence', ...words, '--warehouse', warehouse]);
    expect(stdout.includes('dpt_sexes_sum')).toBe(checks.length > 0);
  });

  it('writes the answers as they came, with the hashes that it names', async () => {
    const { warehouse } = await doubtful();
    const folder = join(await temporaryFolder(), 'out');
    const found = await ask(warehouse, 'KOTA 1101-0', '--out', folder);
    const hashOf = async (name: string) =>
      createHash('sha256')
        .update(await readFile(join(folder, name)))
        .digest('hex');
    const lines = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trim().split('\n');
    for (const line of lines) {
      const [hash, name] = line.split('  ') as [string, string];
      expect(hash).toBe(await hashOf(name));
    }
    for (const { file, sha256 } of found.flatMap(({ records }) => records)) expect(await hashOf(file)).toBe(sha256);
    const again = await runHere(['evidence', 'KOTA 1101-0', '--out', folder, '--warehouse', warehouse]);
    expect(again.code).toBe(2);
  });

  it('of a record in quarantine has it as it came', async () => {
    const { warehouse, data } = await doubtful();
    const [one] = await ask(warehouse);
    expect(one).toMatchObject({ dataset: 'voters', place: null });
    expect(one!.records.length).toBeGreaterThan(0);
    for (const { record } of one!.records) expect(JSON.parse(record)).toEqual(data.datapemilihdpr[1]);
  });

  it('of a partition that was carried over comes from the run that received it', async () => {
    const { warehouse, run, data } = await doubtful();
    data.datapemilihdpr[6]![total] = '1';
    const { url } = await serveData(data);
    const part = await runSync(syncOptions(warehouse, url, { partitions: ['1102'], source: 'test' }));
    expect(part.outcome).toBe('published');
    const [voters] = await ask(warehouse, 'KOTA 1101-0', '--dataset', 'voters');
    expect(new Set(voters!.records.map((record) => record.run))).toEqual(new Set([run]));
  });

  it('of a name that nothing has suggests the nearest', async () => {
    const { warehouse } = await doubtful();
    const { code, stderr } = await runHere(['evidence', 'KOTA 11010', '--warehouse', warehouse]);
    expect(code).toBe(2);
    expect(stderr).toContain('KOTA 1101-0');
  });
});

describe('a statement', () => {
  const state = async (warehouse: string, ...words: string[]) => {
    const { stdout, stderr, code } = await runHere(['evidence', '--statement', ...words, '--warehouse', warehouse]);
    return { stdout, stderr, code };
  };

  it.each([
    ['everything', [], 2, 9, 8],
    ['a district', ['dapil 1102'], 1, 4, 4],
    ['a regency', ['kota 1101-0'], 1, 1, 1],
  ] as const)(
    'of %s says what was read, what proves it, and what is unknown',
    async (_, words, lists, users, voters) => {
      const { warehouse, run, data } = await doubtful();
      const { stdout } = await state(warehouse, ...words, '--json');
      const statement = JSON.parse(stdout) as Statement;
      const manifest = await readFile(join(warehouse, 'current/manifest.json'));
      expect(statement).toMatchObject({
        snapshot: run,
        sha256: createHash('sha256').update(manifest).digest('hex'),
        place: words.length === 0 ? null : { name: words[0].toUpperCase() },
      });
      const [first, second] = statement.datasets as [Statement['datasets'][0], Statement['datasets'][0]];
      expect([first.rows, second.rows]).toEqual([voters, users]);
      for (const dataset of statement.datasets) expect(dataset).toMatchObject({ lists, confirmed: lists });
      const isWithDoubts = words[0] !== 'dapil 1102';
      expect(first.violations.some(({ check }) => check === 'dpt_sexes_sum')).toBe(isWithDoubts);
      // The record without a name belongs to no place.
      expect(first.quarantined).toBe(words.length === 0 ? 1 : 0);
      const inPlace = data.datahakpilihdpr.filter(
        ({ NamaDapil, NamaKabupaten }) =>
          words.length === 0 || [NamaDapil, NamaKabupaten].includes(words[0].toUpperCase()),
      );
      const sum = inPlace.reduce((total_, record) => total_ + Number(record['JumlahSeluruhPenggunaHakPilih']), 0);
      expect(second.sums).toEqual([{ of: '', column: 'grand_total', sum: String(sum), known: users, rows: users }]);
    },
  );

  it('is a page without resources from elsewhere', async () => {
    const { warehouse, run } = await doubtful();
    const file = join(await temporaryFolder(), 'statement.html');
    expect(await state(warehouse, '--out', file)).toMatchObject({ stdout: `${file}\n`, code: 0 });
    const page = await readFile(file, 'utf8');
    expect(page).toContain(run);
    expect(page).not.toMatch(/<script|src=|url\(/);
  });

  it('is not made of a snapshot that was altered, or of a name that is unknown', async () => {
    const { warehouse } = await doubtful();
    expect(await state(warehouse, 'NOWHERE')).toMatchObject({ code: 2, stdout: '' });
    await alterFile(join(warehouse, 'current/parquet/voters/voters.parquet'), (bytes) => bytes.fill(0, 100, 110));
    expect(await state(warehouse)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('damaged') });
  });
});
