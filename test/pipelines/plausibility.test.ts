/** Each check for unlikely values finds its case and nothing else. */

import { expect, it } from 'vitest';
import { loadProject } from '../support/bundled.ts';
import { load, project as withoutImplausible, user, voter } from '../load/support.ts';

/** With the checks and only the view that they read. */
const project = { ...withoutImplausible, checks: loadProject().checks };

/** Counts of a list: men, women, both. */
function list(name: string, male: number, female: number) {
  return { [`${name}_male`]: `${male}`, [`${name}_female`]: `${female}`, [`${name}_total`]: `${male + female}` };
}

function counts(dpt: readonly [number, number], dptb: readonly [number, number], dpk: readonly [number, number]) {
  const [male, female] = [0, 1].map((sex) => dpt[sex]! + dptb[sex]! + dpk[sex]!) as [number, number];
  const totals = { male_total: `${male}`, female_total: `${female}`, grand_total: `${male + female}` };
  return { ...list('dpt', ...dpt), ...list('dptb', ...dptb), ...list('dpk', ...dpk), ...totals };
}

const place = (regency: string, dapil_id = '1101', dapil_name = 'ACEH I', province = 'ACEH') => ({
  regency,
  dapil_id,
  dapil_name,
  province,
});

async function found(ofVoters: Record<string, unknown>[], ofUsers: Record<string, unknown>[]) {
  const { rows } = await load({ voters: [ofVoters], voting_rights_users: [ofUsers] }, { project });
  const violations = await rows('SELECT check_name, dataset, regency, severity FROM violations ORDER BY ALL');
  return violations.map((row) => Object.values(row).map(String).join(' '));
}

it('warns about unlikely turnout, halved counts and a repeated total', async () => {
  const ofVoters = [
    voter({ ...place('A'), ...counts([1000, 1100], [10, 20], [5, 6]) }),
    voter({ ...place('B'), ...counts([2000, 2100], [10, 20], [5, 6]) }),
    voter({ ...place('C'), ...counts([3000, 3000], [10, 10], [5, 5]) }),
    voter({ ...place('D'), ...counts([1990, 2110], [10, 20], [5, 6]) }),
    voter({ ...place('E'), ...counts([1991, 2109], [10, 20], [5, 6]) }),
  ];
  const ofUsers = [
    // All of the DPT and the DPK, then additional people from the DPTb.
    user({ ...place('A'), ...counts([1000, 1100], [0, 0], [5, 6]) }),
    user({ ...place('B'), ...counts([2000, 2100], [1, 0], [5, 6]) }),
    user({ ...place('C'), ...counts([900, 950], [0, 0], [5, 5]) }),
    user({ ...place('D'), ...counts([700, 800], [0, 0], [5, 6]) }),
    user({ ...place('E'), ...counts([710, 800], [0, 0], [5, 6]) }),
  ];
  expect(await found(ofVoters, ofUsers)).toEqual([
    'identical_sexes voters C warning',
    'repeated_total voters E warning',
    'turnout_above_100 voting_rights_users B warning',
    'turnout_exactly_100 voting_rights_users A warning',
  ]);
});

it('warns about a partition named after another province, whatever its number and spelling', async () => {
  const named = (dapil_id: string, dapil_name: string, province: string) => {
    const figures = counts([1000 + Number(dapil_id), 1100], [10, 20], [5, 6]);
    return voter({ ...place(`R ${dapil_id}`, dapil_id, dapil_name, province), ...figures });
  };
  const ofVoters = [
    named('1', 'ACEH I', 'ACEH'),
    named('2', 'DKI JAKARTA II', 'DAERAH KHUSUS JAKARTA'),
    named('3', 'P A P U A', 'PAPUA'),
    named('4', 'PAPUA BARAT', 'PAPUA'),
    named('5', 'BANGKA BELITUNG', 'LAMPUNG'),
    named('6', 'ATLANTIS', 'ACEH'),
    named('7', 'Jawa Timur 3', 'DAERAH ISIMEWA YOGYAKARTA'),
  ];
  const { rows } = await load({ voters: [ofVoters] }, { project });
  expect(
    await rows(
      "SELECT dapil_id, severity, actual, expected FROM violations WHERE check_name = 'district_in_other_province' ORDER BY ALL",
    ),
  ).toEqual([
    { dapil_id: 4, severity: 'warning', actual: 'PAPUA BARAT', expected: 'PAPUA' },
    { dapil_id: 5, severity: 'warning', actual: 'BANGKA BELITUNG', expected: 'LAMPUNG' },
    { dapil_id: 7, severity: 'warning', actual: 'Jawa Timur 3', expected: 'DAERAH ISIMEWA YOGYAKARTA' },
  ]);
});
