/** People who used their voting right in the DPR-RI election, by regency, list and sex. */

import { place, shared } from './shared.ts';
import { count, definePipeline } from '../src/project/define.ts';

export default definePipeline({
  table: 'voting_rights_users',
  title: 'People who voted',
  comment: 'People who used their voting right in the DPR-RI election, by regency, list and sex.',
  path: '/api/datahakpilihdpr',
  columns: {
    ...place,
    dpt_male: count('JumlahPenggunaHakPilihLakiLakiDalamDPT', 'Men who voted, in the permanent list (DPT).'),
    dpt_female: count('JumlahPenggunaHakPilihPerempuanDalamDPT', 'Women who voted, in the permanent list (DPT).'),
    dpt_total: count(
      'JumlahPenggunaHakPilihLakiLakiDanPerempuanDalamDPT',
      'Men and women who voted, in the permanent list (DPT).',
    ),
    dptb_male: count('JumlahPenggunaHakPilihLakiLakiDalamDPTb', 'Men who voted, in the supplementary list (DPTb).'),
    dptb_female: count(
      'JumlahPenggunaHakPilihPerempuanDalamDPTb',
      'Women who voted, in the supplementary list (DPTb).',
    ),
    dptb_total: count(
      'JumlahPenggunaHakPilihLakiLakiDanPerempuanDalamDPTb',
      'Men and women who voted, in the supplementary list (DPTb).',
    ),
    dpk_male: count('JumlahPenggunaHakPilihLakiLakiDalamDPK', 'Men who voted, in the additional list (DPK).'),
    dpk_female: count('JumlahPenggunaHakPilihPerempuanDalamDPK', 'Women who voted, in the additional list (DPK).'),
    dpk_total: count(
      'JumlahPenggunaHakPilihLakiLakiDanPerempuanDalamDPK',
      'Men and women who voted, in the additional list (DPK).',
    ),
    male_total: count('JumlahTotalPenggunaHakPilihLakiLaki', 'Men who voted, on all three lists.'),
    female_total: count('JumlahTotalPenggunaHakPilihPerempuan', 'Women who voted, on all three lists.'),
    grand_total: count('JumlahSeluruhPenggunaHakPilih', 'All people who voted, on all three lists.'),
  },
  ...shared,
});
