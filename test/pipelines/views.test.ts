/** What test/oracle doesn't recompute of the views: names that differ, official codes, and denominators of 0. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load, user, voter, wholeProject } from '../load/support.ts';

/** Loads records of one response each into a project with all views. */
const loadRecords = (ofVoters: readonly unknown[], ofUsers: readonly unknown[] = []) =>
  load({ voters: [ofVoters], voting_rights_users: [ofUsers] }, { project: wholeProject });

it('a regency that the datasets spell differently is one regency, and a district has the name of most rows', async () => {
  const place = (dapil_id: string, regency: string, dapil_name = 'D 1101') => ({ dapil_id, regency, dapil_name });
  const { rows } = await loadRecords(
    [place('1101', 'A'), place('1101', 'B', 'D 1'), place('1102', 'C')].map(voter),
    [place('1101', ' a'), place('1101', 'B'), place('1102', 'C')].map(user),
  );
  expect(await rows('SELECT regency, rate_status FROM regency_figures ORDER BY ALL')).toEqual(
    ['A', 'B', 'C'].map((regency) => ({ regency, rate_status: 'compared' })),
  );
  const found = await rows("SELECT dataset, regency FROM violations WHERE check_name LIKE 'regency_%' ORDER BY ALL");
  expect(found).toEqual([
    { dataset: 'voters', regency: 'A' },
    { dataset: 'voting_rights_users', regency: ' a' },
  ]);
  // Three of four rows say D 1101.
  for (const view of ['dim_dapil', 'turnout', 'turnout_by_dapil'])
    expect(await rows(`SELECT DISTINCT dapil_name FROM ${view} WHERE dapil_id = 1101`)).toEqual([
      { dapil_name: 'D 1101' },
    ]);
  const shared = `SELECT column_name FROM duckdb_columns() WHERE table_name IN ('dim_dapil', 'dim_regency')
    GROUP BY ALL HAVING count(*) > 1`;
  expect(await rows(shared)).toEqual([]);
});

describe('official codes', () => {
  it('are set if the name matches within its province', async () => {
    const named = (dapil_id: string, province: string, regency: string) => voter({ dapil_id, province, regency });
    const { rows } = await loadRecords([
      named('1101', 'ACEH', 'ACEH SELATAN'),
      named('1101', 'ACEH', 'KAB. ACEH  TENGGARA'),
      named('1101', 'ACEH', 'NIAS'),
      named('3101', 'DAERAH KHUSUS JAKARTA', 'JAKARTA TIMUR'),
      named('3101', 'DAERAH KHUSUS JAKARTA', 'KEP. SERIBU'),
      named('9999', 'ATLANTIS', 'ACEH SELATAN'),
    ]);
    const found = await rows(
      'SELECT regency, province, r.kemendagri_code AS code, p.kemendagri_code AS province_code FROM fact_people JOIN dim_regency r USING (regency_key) JOIN dim_province p USING (province_key) GROUP BY ALL ORDER BY province, regency',
    );
    expect(found.map((row) => Object.values(row))).toEqual([
      ['ACEH SELATAN', 'ACEH', '11.01', '11'],
      ['KAB. ACEH  TENGGARA', 'ACEH', '11.02', '11'],
      ['NIAS', 'ACEH', null, '11'],
      ['ACEH SELATAN', 'ATLANTIS', null, null],
      ['JAKARTA TIMUR', 'DAERAH KHUSUS JAKARTA', '31.75', '31'],
      ['KEP. SERIBU', 'DAERAH KHUSUS JAKARTA', '31.01', '31'],
    ]);
  });

  it('exist for every province and regency of the sample except the one with voters abroad', async () => {
    const provinces = JSON.parse(
      await readFile(join(import.meta.dirname, '../../data/reference/dapil-2024.json'), 'utf8'),
    ) as { province: string; regencies: string[] }[];
    const records = provinces.flatMap(({ province, regencies: names }) =>
      names.map((regency) => voter({ province, regency })),
    );
    const { rows } = await loadRecords(records);
    expect(await rows('SELECT regency FROM dim_regency WHERE kemendagri_code IS NULL')).toEqual([
      { regency: 'JAKARTA PUSAT + LUAR NEGERI' },
    ]);
    expect(await rows('SELECT count(*) AS provinces FROM dim_province WHERE kemendagri_code IS NOT NULL')).toEqual([
      { provinces: 38n },
    ]);
  });
});

it('a denominator of 0 gives NULL in every view, never Infinity', async () => {
  const zeros = Object.entries(voter()).map(([field, text]) => [field, field.startsWith('Jumlah') ? '0' : text]);
  const { rows, dictionary } = await loadRecords([Object.fromEntries(zeros)], [user()]);
  const shares: unknown[] = [];
  for (const { name, kind } of dictionary)
    if (kind === 'view')
      for (const row of await rows(`FROM ${name}`))
        shares.push(...Object.values(row).filter((value) => typeof value === 'number'));
  expect(shares.length).toBeGreaterThan(20);
  expect(shares.filter((value) => !Number.isFinite(value))).toEqual([]);
});
