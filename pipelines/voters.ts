/** Voters of the DPR-RI election by regency, list and sex. */

import { rowChecks } from './row-checks.ts';
import { definePipeline } from '../src/define-pipeline.ts';

export const voters = definePipeline({
  table: 'voters',
  title: 'Voters',
  comment: 'Voters of the DPR-RI election by regency, list and sex.',
  endpoint: '/api/datapemilihdpr',
  columns: {
    election_year: { field: 'TahunPemilu', kind: 'integer', comment: 'Election year.' },
    election_type: { field: 'JenisPemilu', kind: 'text', comment: 'Election type, for example DPR-RI.' },
    dapil_id: {
      field: 'IdDapil',
      kind: 'integer',
      comment:
        "Identifier of the electoral district (dapil) in the service. It looks like an official code but isn't one. Don't join it with codes of the interior ministry or the statistics office.",
    },
    dapil_name: { field: 'NamaDapil', kind: 'text', comment: 'Name of the electoral district.' },
    province: { field: 'NamaProvinsi', kind: 'text', comment: 'Name of the province.' },
    regency: { field: 'NamaKabupaten', kind: 'text', comment: 'Name of the regency or city.' },
    dpt_male: {
      field: 'JumlahPemilihLakiLakiDalamDPT',
      kind: 'count',
      comment: 'Male voters in the permanent list (DPT).',
    },
    dpt_female: {
      field: 'JumlahPemilihPerempuanDalamDPT',
      kind: 'count',
      comment: 'Female voters in the permanent list (DPT).',
    },
    dpt_total: {
      field: 'JumlahPemilihLakiLakiDanPerempuanDalamDPT',
      kind: 'count',
      comment: 'Male and female voters in the permanent list (DPT).',
    },
    dptb_male: {
      field: 'JumlahPemilihLakiLakiDalamDPTb',
      kind: 'count',
      comment: 'Male voters in the supplementary list (DPTb).',
    },
    dptb_female: {
      field: 'JumlahPemilihPerempuanDalamDPTb',
      kind: 'count',
      comment: 'Female voters in the supplementary list (DPTb).',
    },
    dptb_total: {
      field: 'JumlahPemilihLakiLakiDanPerempuanDalamDPTb',
      kind: 'count',
      comment: 'Male and female voters in the supplementary list (DPTb).',
    },
    dpk_male: {
      field: 'JumlahPemilihLakiLakiDalamDPK',
      kind: 'count',
      comment: 'Male voters in the additional list (DPK).',
    },
    dpk_female: {
      field: 'JumlahPemilihPerempuanDalamDPK',
      kind: 'count',
      comment: 'Female voters in the additional list (DPK).',
    },
    dpk_total: {
      field: 'JumlahPemilihLakiLakiDanPerempuanDalamDPK',
      kind: 'count',
      comment: 'Male and female voters in the additional list (DPK).',
    },
    male_total: { field: 'JumlahTotalPemilihLakiLaki', kind: 'count', comment: 'Male voters on all three lists.' },
    female_total: { field: 'JumlahTotalPemilihPerempuan', kind: 'count', comment: 'Female voters on all three lists.' },
    grand_total: { field: 'JumlahSeluruhPemilih', kind: 'count', comment: 'All voters on all three lists.' },
  },
  key: ['election_year', 'election_type', 'dapil_id', 'province', 'regency'],
  district: 'dapil_id',
  districtParameter: 'id_dapil',
  total: 'grand_total',
  checks: rowChecks,
});
