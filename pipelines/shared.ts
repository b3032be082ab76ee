/** Declares what both datasets share: columns of the place, the key, the filter, and the sums of every record. */

import { integer, reference, sum, text } from '../src/project/define.ts';

const small = { min: 0, max: 2_147_483_647 } as const;

export const place = {
  election_year: integer('TahunPemilu', 'Election year.', small),
  election_type: text('JenisPemilu', 'Election type, for example DPR-RI.'),
  dapil_id: integer(
    'IdDapil',
    "Identifier of the electoral district (dapil) in the service. It looks like an official code but isn't one. Don't join it with codes of the interior ministry or the statistics office.",
    small,
  ),
  dapil_name: text('NamaDapil', 'Name of the electoral district.'),
  province: text('NamaProvinsi', 'Name of the province.'),
  regency: text('NamaKabupaten', 'Name of the regency or city.'),
} as const;

export const shared = {
  unit: 'people',
  partition: {
    parameter: 'id_dapil',
    column: 'dapil_id',
    name: 'dapil_name',
    values: reference('../data/reference/dapil-2024.json', 'dapil_id'),
  },
  key: ['election_year', 'election_type', 'dapil_id', 'province', 'regency'],
  watch: ['grand_total'],
  // Both datasets have one record per regency or city of 2024.
  expectedRecords: 514,
  checks: [
    sum('dpt_total', ['dpt_male', 'dpt_female'], { name: 'dpt_sexes_sum' }),
    sum('dptb_total', ['dptb_male', 'dptb_female'], { name: 'dptb_sexes_sum' }),
    sum('dpk_total', ['dpk_male', 'dpk_female'], { name: 'dpk_sexes_sum' }),
    sum('male_total', ['dpt_male', 'dptb_male', 'dpk_male'], { name: 'male_lists_sum' }),
    sum('female_total', ['dpt_female', 'dptb_female', 'dpk_female'], { name: 'female_lists_sum' }),
    sum('grand_total', ['male_total', 'female_total'], { name: 'grand_total_sum' }),
  ],
} as const;
