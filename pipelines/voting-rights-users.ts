/** People who used their voting right in the DPR-RI election, by regency, list and sex. */

import { place, shared } from './shared.ts';
import { count, definePipeline } from '../src/project/define.ts';

export default definePipeline({
  table: 'voting_rights_users',
  title: 'Voting-rights users',
  comment: 'People who used their voting right in the DPR-RI election, by regency, list and sex.',
  path: '/api/datahakpilihdpr',
  columns: {
    ...place,
    dpt_male: count('JumlahPenggunaHakPilihLakiLakiDalamDPT', 'Male voting-rights users in the permanent list (DPT).'),
    dpt_female: count(
      'JumlahPenggunaHakPilihPerempuanDalamDPT',
      'Female voting-rights users in the permanent list (DPT).',
    ),
    dpt_total: count(
      'JumlahPenggunaHakPilihLakiLakiDanPerempuanDalamDPT',
      'Male and female voting-rights users in the permanent list (DPT).',
    ),
    dptb_male: count(
      'JumlahPenggunaHakPilihLakiLakiDalamDPTb',
      'Male voting-rights users in the supplementary list (DPTb).',
    ),
    dptb_female: count(
      'JumlahPenggunaHakPilihPerempuanDalamDPTb',
      'Female voting-rights users in the supplementary list (DPTb).',
    ),
    dptb_total: count(
      'JumlahPenggunaHakPilihLakiLakiDanPerempuanDalamDPTb',
      'Male and female voting-rights users in the supplementary list (DPTb).',
    ),
    dpk_male: count('JumlahPenggunaHakPilihLakiLakiDalamDPK', 'Male voting-rights users in the additional list (DPK).'),
    dpk_female: count(
      'JumlahPenggunaHakPilihPerempuanDalamDPK',
      'Female voting-rights users in the additional list (DPK).',
    ),
    dpk_total: count(
      'JumlahPenggunaHakPilihLakiLakiDanPerempuanDalamDPK',
      'Male and female voting-rights users in the additional list (DPK).',
    ),
    male_total: count('JumlahTotalPenggunaHakPilihLakiLaki', 'Male voting-rights users on all three lists.'),
    female_total: count('JumlahTotalPenggunaHakPilihPerempuan', 'Female voting-rights users on all three lists.'),
    grand_total: count('JumlahSeluruhPenggunaHakPilih', 'All voting-rights users on all three lists.'),
  },
  ...shared,
});
