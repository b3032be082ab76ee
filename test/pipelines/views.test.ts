/** What every view reckons, against the same figures reckoned here: of twelve counts that are all different, none can stand for another. */

import { expect, it } from 'vitest';
import { countColumns } from '../../src/pipeline.ts';
import { voters } from '../../pipelines/voters.ts';
import { load, user, voter } from '../load/support.ts';

type Sex = 'male' | 'female' | 'both';
type List = 'dpt' | 'dptb' | 'dpk' | 'all';
type Table = 'voters' | 'users';

const sexes = ['male', 'female', 'both'] as const;
const lists = ['dpt', 'dptb', 'dpk', 'all'] as const;

/** Two districts of one province and one of another. */
const regencies = [
  { district: 1101, province: 'P', regency: 'A' },
  { district: 1101, province: 'P', regency: 'B' },
  { district: 1102, province: 'P', regency: 'C' },
  { district: 1201, province: 'Q', regency: 'A' },
] as const;

/** People of a list and sex; sums are sums. */
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
  const { district, province, regency } = regencies[place]!;
  const counts = lists.flatMap((list) =>
    sexes.map((sex) => [column(list, sex), String(people(table, place, list, sex))]),
  );
  const names = { dapil_id: String(district), dapil_name: `D ${district}`, province, regency };
  return (table === 'voters' ? voter : user)({ ...names, ...Object.fromEntries(counts) });
}

async function loaded() {
  const [ofVoters, ofUsers] = (['voters', 'users'] as const).map((table) =>
    regencies.map((_, place) => recordOf(table, place)),
  );
  return load({ voters: [ofVoters!], voting_rights_users: [ofUsers!] });
}

const percent = (part: number, whole: number): number => Math.round((10_000 * part) / whole) / 100;

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

/** Rows with BIGINT as numbers. */
async function rowsOf(sql: string): Promise<Record<string, unknown>[]> {
  const { rows } = await loaded();
  return (await rows(sql)).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
    ),
  );
}

it('no two counts of a record are the same', () => {
  const counts = (['voters', 'users'] as const).flatMap((table) =>
    lists.flatMap((list) => sexes.map((sex) => people(table, 0, list, sex))),
  );
  expect(new Set(counts).size).toBe(2 * countColumns(voters).length);
});

it('turnout: each regency by sex and list', async () => {
  const found = await rowsOf('FROM turnout');
  expect(found).toHaveLength(regencies.length * sexes.length);
  for (const [place, where] of regencies.entries())
    for (const sex of sexes) {
      const { byList, ...figures } = turnout([place], sex);
      const row = found.find(
        ({ dapil_id, regency, sex: of }) => dapil_id === where.district && regency === where.regency && of === sex,
      );
      expect(row).toMatchObject({ ...figures, ...byList, is_complete: true, is_consistent: true });
    }
});

it.each([
  ['turnout_by_dapil', 'dapil_id', (place: number) => regencies[place]!.district],
  ['turnout_by_province', 'province', (place: number) => regencies[place]!.province],
  ['turnout_national', null, () => null],
] as const)('%s: the sums of its regencies', async (view, name, groupOf) => {
  const found = await rowsOf(`FROM ${view}`);
  const groups = new Set(regencies.map((_, place) => groupOf(place)));
  expect(found).toHaveLength(groups.size * sexes.length);
  for (const group of groups)
    for (const sex of sexes) {
      const places = [...regencies.keys()].filter((place) => groupOf(place) === group);
      const { byList, ...figures } = turnout(places, sex);
      const row = found.find((each) => (name === null || each[name] === group) && each['sex'] === sex);
      expect(row).toMatchObject({
        ...figures,
        users_compared: figures.users_all,
        voters_compared: figures.voters_all,
        voters_dpt_compared: byList.voters_dpt,
        voters_dpk_compared: byList.voters_dpk,
        regencies: places.length,
        regencies_left_out: 0,
        regencies_inconsistent: 0,
      });
    }
});

it('fact_people: one row per dataset, regency, list and sex, and none that is a sum of others', async () => {
  const found = await rowsOf('FROM fact_people JOIN dim_regency USING (regency_key) JOIN dim_dapil USING (dapil_key)');
  expect(found).toHaveLength(2 * regencies.length * 3 * 2);
  const written = { dpt: 'DPT', dptb: 'DPTb', dpk: 'DPK', all: 'all' };
  for (const { dataset, dapil_id, regency, list, sex, people: count, election } of found) {
    const table = dataset === 'voters' ? 'voters' : 'users';
    const place = regencies.findIndex((each) => each.district === dapil_id && each.regency === regency);
    expect(count).toBe(
      people(
        table,
        place,
        lists.find((each) => written[each] === list)!,
        sex as Sex,
      ),
    );
    expect(election).toBe('2024 DPR-RI');
  }
});

it('dim_dapil and dim_regency: each place once, with the seats that the law of 2024 gives a district', async () => {
  expect(await rowsOf('FROM dim_dapil')).toMatchObject([
    { dapil_key: '2024 / DPR-RI / 1101', name: 'D 1101', province: 'P', regencies: 2, seats: 7 },
    { dapil_key: '2024 / DPR-RI / 1102', name: 'D 1102', province: 'P', regencies: 1, seats: 6 },
    { dapil_key: '2024 / DPR-RI / 1201', name: 'D 1201', province: 'Q', regencies: 1, seats: 10 },
  ]);
  expect(await rowsOf('SELECT regency, province, dapil_key FROM dim_regency')).toEqual(
    regencies.map(({ district, province, regency }) => ({
      regency,
      province,
      dapil_key: `2024 / DPR-RI / ${district}`,
    })),
  );
});

it('data_quality: what of each district contradicts itself', async () => {
  const { rows } = await load({
    voters: [[recordOf('voters', 0), { ...recordOf('voters', 1), JumlahSeluruhPemilih: '7' }]],
    voting_rights_users: [[recordOf('users', 0), recordOf('users', 1)]],
  });
  const all = [0, 1].map((place) => people('voters', place, 'all', 'both'));
  expect(await rows("FROM data_quality WHERE dataset = 'voters'")).toEqual([
    {
      dataset: 'voters',
      dapil_key: '2024 / DPR-RI / 1101',
      regencies: 2,
      regencies_consistent: 1,
      consistent_pct: 50,
      errors: expect.any(Number),
      warnings: expect.any(Number),
      people_in_totals: BigInt(all[0]! + 7),
      people_in_lists: BigInt(all[0]! + all[1]!),
    },
  ]);
});

it('a divisor of 0 gives NULL in every view, never Infinity', async () => {
  const zeros = Object.fromEntries(
    Object.entries(recordOf('voters', 0)).map(([field, text]) => [field, field.startsWith('Jumlah') ? '0' : text]),
  );
  const { rows, dictionary } = await load({ voters: [[zeros]], voting_rights_users: [[recordOf('users', 0)]] });
  const shares: unknown[] = [];
  for (const { name, kind } of dictionary)
    if (kind === 'view')
      for (const row of await rows(`FROM ${name}`))
        shares.push(...Object.values(row).filter((value) => typeof value === 'number'));
  expect(shares.length).toBeGreaterThan(20);
  expect(shares.filter((value) => !Number.isFinite(value))).toEqual([]);
});

it('every public column of one name has one sum: no view doubles what another counts', async () => {
  const { rows, dictionary } = await loaded();
  const sums = new Map<string, Map<string, unknown>>();
  for (const { name, columns } of dictionary)
    for (const { name: heading } of columns) {
      const [dataset] = /^(voters|users|people)(?=$|_all$)/.exec(heading) ?? [];
      if (dataset === undefined) continue;
      const bySex = columns.some((each) => each.name === 'sex') && heading !== 'people';
      const of = heading === 'people' ? ['voters', 'voting_rights_users'] : [null];
      for (const each of of) {
        const conditions = [...(bySex ? ["sex = 'both'"] : []), ...(each === null ? [] : [`dataset = '${each}'`])];
        const [found] = await rows(
          `SELECT sum(${heading})::VARCHAR AS total FROM ${name} ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}`,
        );
        const what = (each ?? dataset).startsWith('vot') && each !== 'voting_rights_users' ? 'voters' : 'users';
        sums.set(what, (sums.get(what) ?? new Map()).set(`${name}.${heading}`, found!['total']));
      }
    }
  for (const table of ['voters', 'users'] as const) {
    const total = regencies.reduce((sum, _, place) => sum + people(table, place, 'all', 'both'), 0);
    expect(sums.get(table)!.size).toBeGreaterThan(4);
    expect(new Set(sums.get(table)!.values())).toEqual(new Set([String(total)]));
  }
});
