/** Declares the project with Indonesia's DPR-RI voter statistics, and the values for its SQL files. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineProject } from '../src/project/define.ts';

/** Resolved by name, which works in the sources and in the build. */
const reference = join(dirname(createRequire(import.meta.url).resolve('rekap/package.json')), 'data', 'reference');

interface Coded {
  readonly kemendagri_code: string;
  readonly names: readonly string[];
}

function codes({ kemendagri_code: code, names }: Coded, ...before: string[]): string[][] {
  return names.map((name) => [...before, code, name.replaceAll(/[^A-Z0-9]/g, '')]);
}

function readReference(file: string): unknown {
  return JSON.parse(readFileSync(join(reference, file), 'utf8'));
}

const districts = readReference('dapil-2024.json') as readonly { dapil_id: number; seats: number }[];
const provinces = readReference('kemendagri-codes.json') as readonly (Coded & { regencies: readonly Coded[] })[];

export default defineProject({
  name: 'dpr-ri',
  title: 'DPR-RI voter statistics',
  description:
    "Statistics of Indonesia's DPR-RI elections by electoral district (dapil), regency and sex: voters, and people who used their voting right.",
  auth: { header: 'x-api-key' },
  paging: { by: 'offset', limit: 'limit', offset: 'offset' },
  records: '/data',
  reportedCount: '/count',
  examples: [
    'FROM turnout_by_province;',
    'SELECT list, sum(voters) AS voters, sum(users) AS users FROM fact_people GROUP BY ALL;',
    "SELECT regency, message FROM violations WHERE severity = 'error';",
    'FROM data_quality WHERE errors > 0;',
  ],
  workbook: {
    title: 'Turnout by province',
    // The newest election, apart from those with less than half of the regencies of the largest, as in the report.
    query: `
      WITH newest AS (
        SELECT election_year, election_type FROM turnout_national
        ORDER BY regencies * 2 >= max(regencies) OVER () DESC, election_year DESC, election_type LIMIT 1
      )
      SELECT
        province AS "Province",
        users_per_dpt_and_dpk_pct_male AS "Men, %",
        users_per_dpt_and_dpk_pct_female AS "Women, %",
        users_per_dpt_and_dpk_pct AS "Men and women, %",
        users_compared AS "People who voted",
        voters_dpt_and_dpk_compared AS "Voters in DPT and DPK",
        voters_compared_pct AS "Voters compared, %",
        CASE
          WHEN users_per_dpt_and_dpk_pct IS NULL THEN 'no regency has figures that can be compared'
          WHEN voters_compared_pct < 95 THEN 'not ranked, because less than 95 % of its voters are compared'
        END AS "Note",
        election_type || ' ' || election_year AS "Election"
      FROM turnout_by_province JOIN newest USING (election_year, election_type)
      ORDER BY voters_compared_pct < 95, users_per_dpt_and_dpk_pct DESC NULLS LAST, province`,
    chart: ['Men, %', 'Women, %'],
  },
  sample: '../data/sample',
  sampleNotice: {
    en: 'The sample figures are made up.',
    id: 'Angka dalam data contoh ini bukan data sebenarnya.',
  },
  values: {
    seats: districts.map(({ dapil_id, seats }) => [dapil_id, seats]),
    province_codes: provinces.flatMap((province) => codes(province)),
    regency_codes: provinces.flatMap(({ kemendagri_code: code, regencies }) =>
      regencies.flatMap((regency) => codes(regency, code)),
    ),
  },
});
