/** Every view computes the same figures as this file. The twelve counts of a record differ, so that a swapped column is noticed. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load, loadOnce, user, voter, wholeProject } from '../load/support.ts';

type Sex = 'male' | 'female' | 'both';
type List = 'dpt' | 'dptb' | 'dpk' | 'all';
type Table = 'voters' | 'users';

const sexes = ['male', 'female', 'both'] as const;
const lists = ['dpt', 'dptb', 'dpk', 'all'] as const;

/** Two partitions of one province and one of another. */
const regencies = [
  { partition: 1101, province: 'P', regency: 'A' },
  { partition: 1101, province: 'P', regency: 'B' },
  { partition: 1102, province: 'P', regency: 'C' },
  { partition: 1201, province: 'Q', regency: 'A' },
] as const;

/** People of a list and sex; 'all' and 'both' are sums. */
function people(table: Table, place: number, list: List, sex: Sex): number {
  if (sex === 'both') return people(table, place, list, 'male') + people(table, place, list, 'female');
  if (list === 'all') return lists.slice(0, 3).reduce((sum, each) => sum + people(table, place, each, sex), 0);
  const size = { dpt: 10_000, dptb: 900, dpk: 70 }[list];
  return size * (place + 2) + (table === 'users' ? size / 10 + 3 : size / 5) + (sex === 'male' ? 1 : 17);
}

function column(list: List, sex: Sex): string {
  if (list === 'all') return sex === 'both' ? 'grand_total' : `${sex}_total`;
  return `${list}_${sex === 'both' ? 'total' : sex}`;
}

function recordOf(table: Table, place: number) {
  const { partition, province, regency } = regencies[place]!;
  const counts = lists.flatMap((list) =>
    sexes.map((sex) => [column(list, sex), String(people(table, place, list, sex))]),
  );
  const names = { dapil_id: String(partition), dapil_name: `D ${partition}`, province, regency };
  return (table === 'voters' ? voter : user)({ ...names, ...Object.fromEntries(counts) });
}

const nation = loadOnce((folder) => {
  const [ofVoters, ofUsers] = (['voters', 'users'] as const).map((table) =>
    regencies.map((_, place) => recordOf(table, place)),
  );
  return load({ voters: [ofVoters!], voting_rights_users: [ofUsers!] }, { folder, project: wholeProject });
});

/** Loads records of one response each into a project with all views. */
const loadRecords = (ofVoters: readonly unknown[], ofUsers: readonly unknown[] = []) =>
  load({ voters: [ofVoters], voting_rights_users: [ofUsers] }, { project: wholeProject });

const percent = (part: number, whole: number): number => (100 * part) / whole;

/** The figures of some regencies together. */
function turnout(places: readonly number[], sex: Sex) {
  const sum = (table: Table, list: List): number =>
    places.reduce((total, place) => total + people(table, place, list, sex), 0);
  const [users, all] = [sum('users', 'all'), sum('voters', 'all')];
  return {
    users_all: users,
    voters_all: all,
    users_per_dpt_pct: percent(users, sum('voters', 'dpt')),
    users_per_dpt_and_dpk_pct: percent(users, sum('voters', 'dpt') + sum('voters', 'dpk')),
    users_per_voters_pct: percent(users, all),
    voters_dpt_and_dpk: sum('voters', 'dpt') + sum('voters', 'dpk'),
    byList: {
      voters_dpt: sum('voters', 'dpt'),
      voters_dpk: sum('voters', 'dpk'),
      users_dpt: sum('users', 'dpt'),
      users_dptb: sum('users', 'dptb'),
      voters_dptb: sum('voters', 'dptb'),
      users_dpk: sum('users', 'dpk'),
      dpt_users_per_dpt_pct: percent(sum('users', 'dpt'), sum('voters', 'dpt')),
      dptb_users_per_dptb_pct: percent(sum('users', 'dptb'), sum('voters', 'dptb')),
      dpk_users_per_dpk_pct: percent(sum('users', 'dpk'), sum('voters', 'dpk')),
    },
  };
}

/** Queries the nation, with BIGINT as numbers. */
async function rowsOf(sql: string): Promise<Record<string, unknown>[]> {
  const { rows } = await nation();
  return (await rows(sql)).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
    ),
  );
}

it('turnout has each regency by sex and list', async () => {
  const found = await rowsOf('FROM turnout');
  expect(found).toHaveLength(regencies.length * sexes.length);
  for (const [place, where] of regencies.entries())
    for (const sex of sexes) {
      const { byList, ...figures } = turnout([place], sex);
      const row = found.find(
        ({ dapil_id, regency, sex: of }) => dapil_id === where.partition && regency === where.regency && of === sex,
      );
      expect(row).toMatchObject({
        ...figures,
        ...byList,
        rate_status: 'compared',
        is_consistent: true,
        in_voters: true,
        in_users: true,
      });
    }
});

it.each([
  ['turnout_by_dapil', 'dapil_id', (place: number) => regencies[place]!.partition],
  ['turnout_by_province', 'province', (place: number) => regencies[place]!.province],
  ['turnout_national', null, () => null],
] as const)('%s has the sums of its regencies', async (view, name, groupOf) => {
  const found = await rowsOf(`FROM ${view}`);
  const groups = new Set(regencies.map((_, place) => groupOf(place)));
  expect(found).toHaveLength(groups.size * sexes.length);
  for (const group of groups)
    for (const sex of sexes) {
      const places = [...regencies.keys()].filter((place) => groupOf(place) === group);
      const { byList, voters_dpt_and_dpk, ...figures } = turnout(places, sex);
      const row = found.find((each) => (name === null || each[name] === group) && each['sex'] === sex);
      expect(row).toMatchObject({
        ...figures,
        users_compared: figures.users_all,
        voters_compared: figures.voters_all,
        voters_dpt_compared: byList.voters_dpt,
        voters_dpt_and_dpk_compared: voters_dpt_and_dpk,
        regencies: places.length,
        regencies_compared: places.length,
        regencies_in_voters: places.length,
        unknown_voters: 0,
      });
    }
});

it('turnout_by_list divides users by voters on each list', async () => {
  const found = await rowsOf("FROM turnout_by_list WHERE sex = 'male'");
  const { byList } = turnout([...regencies.keys()], 'male');
  expect(found).toMatchObject([
    { list: 'DPT', users_compared: byList.users_dpt, voters_compared: byList.voters_dpt },
    { list: 'DPTb', users_per_voters_pct: byList.dptb_users_per_dptb_pct, regencies_compared: 4 },
    { list: 'DPK', users_per_voters_pct: byList.dpk_users_per_dpk_pct },
  ]);
});

it('fact_people has one row per election, regency, list and sex', async () => {
  const found = await rowsOf(
    'FROM fact_people NATURAL JOIN dim_regency NATURAL JOIN dim_dapil JOIN dim_province USING (province_key)',
  );
  expect(found).toHaveLength(regencies.length * 3 * 2);
  for (const { dapil_id, regency, list, sex, voters: ofVoters, users: ofUsers, election, province } of found) {
    const place = regencies.findIndex((each) => each.partition === dapil_id && each.regency === regency);
    const [each, of] = [String(list).toLowerCase() as List, sex as Sex];
    expect({ ofVoters, ofUsers }).toEqual({
      ofVoters: people('voters', place, each, of),
      ofUsers: people('users', place, each, of),
    });
    expect({ election, province }).toEqual({ election: '2024 DPR-RI', province: regencies[place]!.province });
  }
});

it('the star schema has integer keys that depend only on the natural keys, and no column in two dimensions', async () => {
  const key = (...parts: readonly unknown[]) => {
    const digest = createHash('md5').update(parts.join(' / ')).digest();
    return Number(digest.readBigUInt64LE(8) >> 15n);
  };
  expect(await rowsOf('FROM dim_dapil ORDER BY dapil_id')).toMatchObject([
    {
      dapil_key: key(2024, 'DPR-RI', 1101),
      dapil_natural_key: '2024 / DPR-RI / 1101',
      dapil_name: 'D 1101',
      regencies: 2,
      seats: 7,
    },
    { dapil_key: key(2024, 'DPR-RI', 1102), dapil_name: 'D 1102', provinces: 'P', regencies: 1, seats: 6 },
    { dapil_key: key(2024, 'DPR-RI', 1201), dapil_name: 'D 1201', provinces: 'Q', regencies: 1, seats: 10 },
  ]);
  const found = await rowsOf('SELECT regency_key FROM dim_regency');
  expect(found.map((row) => row['regency_key']).toSorted((a, b) => Number(a) - Number(b))).toEqual(
    regencies
      .map(({ partition, province, regency }) => key(2024, 'DPR-RI', partition, province, regency))
      .toSorted((a, b) => a - b),
  );
  const columns = await rowsOf(
    "SELECT column_name, string_agg(view_name) AS views FROM (SELECT column_name, table_name AS view_name FROM duckdb_columns() WHERE table_name IN ('dim_dapil', 'dim_regency')) GROUP BY ALL HAVING count(*) > 1",
  );
  expect(columns).toEqual([]);
});

describe('a regency that cannot enter a rate', () => {
  /** The first is compared; the others are each left out for one reason. */
  const doubtful = loadOnce((folder) => {
    const ofVoters = [
      recordOf('voters', 0),
      { ...recordOf('voters', 1), JumlahPemilihLakiLakiDalamDPK: '' },
      { ...recordOf('voters', 2), JumlahSeluruhPemilih: '7' },
      recordOf('voters', 3),
      voter({ regency: 'Z', dapil_id: '1202', dpt_male: '0' }),
    ];
    const ofUsers = [...[0, 1, 2].map((place) => recordOf('users', place)), user({ regency: 'Z', dapil_id: '1202' })];
    return load({ voters: [ofVoters], voting_rights_users: [ofUsers] }, { folder, project: wholeProject });
  });

  it('is counted by its reason, in every view of turnout', async () => {
    const { rows } = await doubtful();
    const reasons = await rows('SELECT DISTINCT regency, rate_status FROM turnout ORDER BY ALL');
    expect(reasons.map((row) => Object.values(row))).toEqual([
      ['A', 'compared'],
      ['A', 'missing in a dataset'],
      ['B', 'unknown'],
      ['C', 'contradicting'],
      ['Z', 'zero denominator'],
    ]);
    const counts = { regencies: 5, regencies_missing: 1, regencies_unknown: 1, regencies_zero_denominator: 1 };
    const expected = { ...counts, regencies_contradicting: 1, regencies_compared: 1 };
    for (const view of ['turnout_national', "turnout_by_list WHERE list = 'DPT'"])
      expect((await rows(`FROM ${view}`)).at(0), view).toMatchObject(expected);
  });

  it('is in no rate, unless it is contradictory and the rate includes those', async () => {
    const { rows } = await doubtful();
    const [found] = await rows("FROM turnout_national WHERE sex = 'both'");
    const one = turnout([0], 'both');
    const two = turnout([0, 2], 'both');
    expect(found).toMatchObject({
      users_compared: BigInt(one.users_all),
      users_per_dpt_and_dpk_pct: one.users_per_dpt_and_dpk_pct,
      users_per_dpt_and_dpk_pct_with_contradicting: two.users_per_dpt_and_dpk_pct,
      users_with_contradicting: BigInt(two.users_all),
      regencies_in_voters: 5,
      regencies_in_users: 4,
    });
  });

  it('has NULL for unknown and missing counts, but only unknown ones are counted as unknown', async () => {
    const { rows } = await doubtful();
    const cells = await rows(
      'SELECT count(*) FILTER (voters IS NULL) AS no_voters, sum(unknown_voters) AS unknown_voters, count(*) FILTER (users IS NULL) AS no_users, sum(unknown_users) AS unknown_users FROM fact_people',
    );
    expect(cells).toEqual([{ no_voters: 1n, unknown_voters: 1n, no_users: 6n, unknown_users: 0n }]);
  });
});

it('reconciliation lists the differences between totals and the sums of their parts', async () => {
  const ofVoters = [
    { ...recordOf('voters', 0), JumlahSeluruhPemilih: '7' },
    { ...recordOf('voters', 1), JumlahPemilihLakiLakiDalamDPK: '' },
    { ...recordOf('voters', 2), JumlahTotalPemilihPerempuan: 'x' },
    recordOf('voters', 3),
  ];
  const { rows } = await loadRecords(ofVoters, [recordOf('users', 0)]);
  const listed = await rows(
    'SELECT regency, total_column, source_total, difference, unknown_parts FROM reconciliation ORDER BY ALL',
  );
  const dpk = BigInt(people('voters', 1, 'dpk', 'male'));
  const women = BigInt(people('voters', 2, 'all', 'female'));
  expect(listed.map((row) => Object.values(row))).toEqual([
    ['A', 'grand_total', 7n, 7n - BigInt(people('voters', 0, 'all', 'both')), null],
    ['B', 'dpk_total', BigInt(people('voters', 1, 'dpk', 'both')), dpk, 'dpk_male'],
    ['B', 'male_total', BigInt(people('voters', 1, 'all', 'male')), dpk, 'dpk_male'],
    ['C', 'female_total', null, -women, null],
    ['C', 'grand_total', BigInt(people('voters', 2, 'all', 'both')), women, 'female_total'],
  ]);
  const [sums] = await rows(
    `SELECT (SELECT sum(grand_total) FROM voters) - (SELECT sum(difference) FROM reconciliation
       WHERE dataset = 'voters' AND total_column IN ('grand_total', 'male_total', 'female_total')) = (SELECT sum(voters) FROM fact_people) AS equal`,
  );
  expect(sums).toEqual({ equal: true });
});

it('data_quality counts by how many people the figures of a partition contradict each other', async () => {
  const wrong = { JumlahPemilihLakiLakiDanPerempuanDalamDPT: '7', JumlahPemilihLakiLakiDalamDPK: '' };
  const { rows } = await loadRecords(
    [recordOf('voters', 0), { ...recordOf('voters', 1), ...wrong }],
    [recordOf('users', 0), recordOf('users', 1)],
  );
  const [dpt, dpk] = [people('voters', 1, 'dpt', 'both'), people('voters', 1, 'dpk', 'male')];
  const all = [0, 1].reduce((sum, place) => sum + people('voters', place, 'all', 'both'), 0);
  expect(await rows("FROM data_quality WHERE dataset = 'voters'")).toMatchObject([
    {
      dapil_id: 1101,
      regencies: 2,
      regencies_consistent: 1,
      consistent_pct: 50,
      unknown_figures: 1n,
      unequal_sums: 3,
      people_differing: BigInt(dpt - 7 + 2 * dpk),
      people_in_totals: BigInt(all),
      people_in_lists: BigInt(all - dpk),
    },
  ]);
});

it('a regency that the datasets spell differently is one regency', async () => {
  const spelled = { ...recordOf('users', 0), NamaKabupaten: ' a' };
  const { rows } = await loadRecords(
    [recordOf('voters', 0), { ...recordOf('voters', 1), NamaDapil: 'D 1' }, recordOf('voters', 2)],
    [spelled, recordOf('users', 1), recordOf('users', 2)],
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
});

it('two elections in one source are summed separately', async () => {
  const again = (record: ReturnType<typeof recordOf>) => ({ ...record, TahunPemilu: '2019' });
  const [ofVoters, ofUsers] = (['voters', 'users'] as const).map((table) =>
    [0, 1].map((place) => recordOf(table, place)),
  );
  const { rows } = await loadRecords([...ofVoters!, ...ofVoters!.map(again)], ofUsers);
  const sum = [0, 1].reduce((total, place) => total + people('voters', place, 'all', 'both'), 0);
  expect(
    await rows(
      'SELECT election, sum(voters)::BIGINT AS voters, sum(users)::BIGINT AS users FROM fact_people GROUP BY ALL ORDER BY ALL',
    ),
  ).toMatchObject([
    { election: '2019 DPR-RI', voters: BigInt(sum), users: null },
    { election: '2024 DPR-RI', voters: BigInt(sum) },
  ]);
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
  const zeros = Object.fromEntries(
    Object.entries(recordOf('voters', 0)).map(([field, text]) => [field, field.startsWith('Jumlah') ? '0' : text]),
  );
  const { rows, dictionary } = await loadRecords([zeros], [recordOf('users', 0)]);
  const shares: unknown[] = [];
  for (const { name, kind } of dictionary)
    if (kind === 'view')
      for (const row of await rows(`FROM ${name}`))
        shares.push(...Object.values(row).filter((value) => typeof value === 'number'));
  expect(shares.length).toBeGreaterThan(20);
  expect(shares.filter((value) => !Number.isFinite(value))).toEqual([]);
});
