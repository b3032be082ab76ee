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
    users,
    voters: all,
    voters_dpt: sum('voters', 'dpt'),
    voters_dpk: sum('voters', 'dpk'),
    users_per_dpt_pct: percent(users, sum('voters', 'dpt')),
    users_per_dpt_and_dpk_pct: percent(users, sum('voters', 'dpt') + sum('voters', 'dpk')),
    users_per_voters_pct: percent(users, all),
    byList: {
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
      const { byList: _byList, ...figures } = turnout(places, sex);
      const row = found.find((each) => (name === null || each[name] === group) && each['sex'] === sex);
      expect(row).toMatchObject({
        ...figures,
        regencies: places.length,
        regencies_left_out: 0,
        regencies_inconsistent: 0,
      });
    }
});

it('counts: one row per dataset, regency, list and sex', async () => {
  const found = await rowsOf('FROM counts');
  expect(found).toHaveLength(2 * regencies.length * lists.length * sexes.length);
  const written = { dpt: 'DPT', dptb: 'DPTb', dpk: 'DPK', all: 'all' };
  for (const { dataset, dapil_id, regency, list, sex, people: count } of found) {
    const table = dataset === 'voters' ? 'voters' : 'users';
    const place = regencies.findIndex((each) => each.district === dapil_id && each.regency === regency);
    const asked = lists.find((each) => written[each] === list)!;
    expect(count).toBe(people(table, place, asked, sex as Sex));
  }
  expect(
    new Set(found.map((row) => `${String(row['dataset'])} ${String(row['list'])} ${String(row['sex'])}`)).size,
  ).toBe(24);
});

it('dapil: what there is of each district', async () => {
  const sum = (district: number, table: Table, list: List): number =>
    regencies.reduce(
      (total, each, place) => total + (each.district === district ? people(table, place, list, 'both') : 0),
      0,
    );
  const ofDistrict = (district: number, provinces: string, size: number) => ({
    dapil_id: district,
    dapil_name: `D ${district}`,
    provinces,
    regencies: size,
    voters_dpt: sum(district, 'voters', 'dpt'),
    voters: sum(district, 'voters', 'all'),
    users: sum(district, 'users', 'all'),
  });
  expect(await rowsOf('FROM dapil')).toMatchObject([
    ofDistrict(1101, 'P', 2),
    ofDistrict(1102, 'P', 1),
    ofDistrict(1201, 'Q', 1),
  ]);
});
