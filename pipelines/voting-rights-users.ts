/** People who used their voting right in the DPR-RI election, by regency, list and sex. */

import { rowChecks } from './row-checks.ts';
import { definePipeline } from '../src/define-pipeline.ts';

export const votingRightsUsers = definePipeline({
  table: 'voting_rights_users',
  title: 'Voting-rights users',
  comment: 'People who used their voting right in the DPR-RI election, by regency, list and sex.',
  endpoint: '/api/datahakpilihdpr',
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
      field: 'JumlahPenggunaHakPilihLakiLakiDalamDPT',
      kind: 'count',
      comment: 'Male voting-rights users in the permanent list (DPT).',
    },
    dpt_female: {
      field: 'JumlahPenggunaHakPilihPerempuanDalamDPT',
      kind: 'count',
      comment: 'Female voting-rights users in the permanent list (DPT).',
    },
    dpt_total: {
      field: 'JumlahPenggunaHakPilihLakiLakiDanPerempuanDalamDPT',
      kind: 'count',
      comment: 'Male and female voting-rights users in the permanent list (DPT).',
    },
    dptb_male: {
      field: 'JumlahPenggunaHakPilihLakiLakiDalamDPTb',
      kind: 'count',
      comment: 'Male voting-rights users in the supplementary list (DPTb).',
    },
    dptb_female: {
      field: 'JumlahPenggunaHakPilihPerempuanDalamDPTb',
      kind: 'count',
      comment: 'Female voting-rights users in the supplementary list (DPTb).',
    },
    dptb_total: {
      field: 'JumlahPenggunaHakPilihLakiLakiDanPerempuanDalamDPTb',
      kind: 'count',
      comment: 'Male and female voting-rights users in the supplementary list (DPTb).',
    },
    dpk_male: {
      field: 'JumlahPenggunaHakPilihLakiLakiDalamDPK',
      kind: 'count',
      comment: 'Male voting-rights users in the additional list (DPK).',
    },
    dpk_female: {
      field: 'JumlahPenggunaHakPilihPerempuanDalamDPK',
      kind: 'count',
      comment: 'Female voting-rights users in the additional list (DPK).',
    },
    dpk_total: {
      field: 'JumlahPenggunaHakPilihLakiLakiDanPerempuanDalamDPK',
      kind: 'count',
      comment: 'Male and female voting-rights users in the additional list (DPK).',
    },
    male_total: {
      field: 'JumlahTotalPenggunaHakPilihLakiLaki',
      kind: 'count',
      comment: 'Male voting-rights users on all three lists.',
    },
    female_total: {
      field: 'JumlahTotalPenggunaHakPilihPerempuan',
      kind: 'count',
      comment: 'Female voting-rights users on all three lists.',
    },
    grand_total: {
      field: 'JumlahSeluruhPenggunaHakPilih',
      kind: 'count',
      comment: 'All voting-rights users on all three lists.',
    },
  },
  key: ['election_year', 'election_type', 'dapil_id', 'province', 'regency'],
  district: 'dapil_id',
  districtParameter: 'id_dapil',
  total: 'grand_total',
  checks: rowChecks,
});
