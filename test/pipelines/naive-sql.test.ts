/** Questions in the SQL that an analyst writes first give the right figures, although some figures of the source are unknown or wrong. */

import { expect, it } from 'vitest';
import { load, user, voter, wholeProject } from '../load/support.ts';

/** Two provinces. The men of A are unknown, B has more users than voters, and C is as it should be, also in an earlier election. */
async function loadPlaces() {
  const lists = { dptb_male: '0', dptb_female: '0', dptb_total: '0', dpk_male: '0', dpk_female: '0', dpk_total: '0' };
  const people = (male: number, female: number) => {
    const [men, women, all] = [String(male), String(female), String(male + female)];
    return {
      ...lists,
      dpt_male: men,
      dpt_female: women,
      dpt_total: all,
      male_total: men,
      female_total: women,
      grand_total: all,
    };
  };
  const places = {
    A: { dapil_id: '1101', province: 'ACEH', regency: 'A' },
    B: { dapil_id: '1101', province: 'ACEH', regency: 'B' },
    C: { dapil_id: '1201', province: 'BALI', regency: 'C' },
  };
  return load(
    {
      voters: [
        [
          voter({ ...places.A, ...people(400, 600), dpt_male: 'x', male_total: 'x' }),
          voter({ ...places.B, ...people(1, 1) }),
          voter({ ...places.C, ...people(1000, 1000) }),
          voter({ ...places.C, ...people(500, 500), election_year: '2019' }),
        ],
      ],
      voting_rights_users: [
        [
          user({ ...places.A, ...people(300, 500) }),
          user({ ...places.B, ...people(90, 95) }),
          user({ ...places.C, ...people(800, 900) }),
          user({ ...places.C, ...people(100, 100), election_year: '2019' }),
        ],
      ],
    },
    { project: wholeProject },
  );
}

const in2024 = "election = '2024 DPR-RI'";

const questions: readonly (readonly [what: string, sql: string, answer: unknown])[] = [
  ['voters are there', `SELECT sum(voters)::INTEGER AS n FROM fact_people WHERE ${in2024}`, 3002],
  [
    'voters of Aceh are there',
    `SELECT sum(voters)::INTEGER AS n FROM fact_people JOIN dim_regency USING (regency_key) WHERE province_of_regency = 'ACEH' AND ${in2024}`,
    1002,
  ],
  [
    'percent of the voters are women',
    `SELECT round(100 * sum(voters) FILTER (sex = 'female') / sum(voters), 2) AS n FROM fact_people WHERE ${in2024}`,
    53.33,
  ],
  [
    'voters are there of each sex',
    `SELECT list(row(sex, n) ORDER BY sex)::VARCHAR AS n FROM (SELECT sex, sum(voters)::INTEGER AS n FROM fact_people WHERE ${in2024} GROUP BY ALL)`,
    '[(female, 1601), (male, 1001), (unknown, 400)]',
  ],
  [
    'has the highest turnout',
    "SELECT regency AS n FROM turnout WHERE sex = 'both' ORDER BY users_per_dpt_and_dpk_pct DESC LIMIT 1",
    'C',
  ],
  ['is the highest turnout', 'SELECT max(users_per_dpt_and_dpk_pct) AS n FROM turnout WHERE election_year = 2024', 90],
  [
    'is the mean turnout',
    "SELECT avg(users_per_dpt_and_dpk_pct) AS n FROM turnout WHERE sex = 'both' AND election_year = 2024",
    85,
  ],
  [
    'people voted in Bali',
    "SELECT users_all::INTEGER AS n FROM turnout_by_province WHERE province = 'BALI' AND election_year = 2024",
    1700,
  ],
  ['people voted', 'SELECT sum(users_all)::INTEGER AS n FROM turnout_by_province WHERE election_year = 2024', 2685],
  ['provinces are there', 'SELECT count(*)::INTEGER AS n FROM turnout_by_province WHERE election_year = 2024', 2],
  [
    'is the turnout of women in Bali',
    "SELECT users_per_dpt_and_dpk_pct_female AS n FROM turnout_by_province WHERE province = 'BALI' AND election_year = 2024",
    90,
  ],
  [
    'is the mean turnout of the provinces',
    'SELECT avg(users_per_dpt_and_dpk_pct) AS n FROM turnout_by_province WHERE election_year = 2024',
    85,
  ],
];

it('answers what is asked', async () => {
  const { rows } = await loadPlaces();
  for (const [what, sql, answer] of questions) expect.soft(await rows(sql), what).toEqual([{ n: answer }]);
});
