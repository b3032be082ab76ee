/** Voters of the DPR-RI election by regency, list and sex. */

import { place, shared } from './shared.ts';
import { count, definePipeline } from '../src/project/define.ts';

export default definePipeline({
  table: 'voters',
  title: 'Voters',
  comment: 'Voters of the DPR-RI election by regency, list and sex.',
  path: '/api/datapemilihdpr',
  columns: {
    ...place,
    dpt_male: count('JumlahPemilihLakiLakiDalamDPT', 'Male voters in the permanent list (DPT).'),
    dpt_female: count('JumlahPemilihPerempuanDalamDPT', 'Female voters in the permanent list (DPT).'),
    dpt_total: count(
      'JumlahPemilihLakiLakiDanPerempuanDalamDPT',
      'Male and female voters in the permanent list (DPT).',
    ),
    dptb_male: count('JumlahPemilihLakiLakiDalamDPTb', 'Male voters in the supplementary list (DPTb).'),
    dptb_female: count('JumlahPemilihPerempuanDalamDPTb', 'Female voters in the supplementary list (DPTb).'),
    dptb_total: count(
      'JumlahPemilihLakiLakiDanPerempuanDalamDPTb',
      'Male and female voters in the supplementary list (DPTb).',
    ),
    dpk_male: count('JumlahPemilihLakiLakiDalamDPK', 'Male voters in the additional list (DPK).'),
    dpk_female: count('JumlahPemilihPerempuanDalamDPK', 'Female voters in the additional list (DPK).'),
    dpk_total: count(
      'JumlahPemilihLakiLakiDanPerempuanDalamDPK',
      'Male and female voters in the additional list (DPK).',
    ),
    male_total: count('JumlahTotalPemilihLakiLaki', 'Male voters on all three lists.'),
    female_total: count('JumlahTotalPemilihPerempuan', 'Female voters on all three lists.'),
    grand_total: count('JumlahSeluruhPemilih', 'All voters on all three lists.'),
  },
  ...shared,
});
