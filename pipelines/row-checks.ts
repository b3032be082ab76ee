/** The sums that hold in every record of these endpoints: by sex within each list, and across the three lists. */

import type { SumCheck } from '../src/pipeline.ts';

/** The count columns that both datasets share. */
export type CountColumn =
  | 'dpt_male'
  | 'dpt_female'
  | 'dpt_total'
  | 'dptb_male'
  | 'dptb_female'
  | 'dptb_total'
  | 'dpk_male'
  | 'dpk_female'
  | 'dpk_total'
  | 'male_total'
  | 'female_total'
  | 'grand_total';

export const rowChecks: readonly SumCheck<CountColumn>[] = [
  { name: 'dpt_sexes_sum', severity: 'error', parts: ['dpt_male', 'dpt_female'], whole: 'dpt_total' },
  { name: 'dptb_sexes_sum', severity: 'error', parts: ['dptb_male', 'dptb_female'], whole: 'dptb_total' },
  { name: 'dpk_sexes_sum', severity: 'error', parts: ['dpk_male', 'dpk_female'], whole: 'dpk_total' },
  { name: 'male_lists_sum', severity: 'error', parts: ['dpt_male', 'dptb_male', 'dpk_male'], whole: 'male_total' },
  {
    name: 'female_lists_sum',
    severity: 'error',
    parts: ['dpt_female', 'dptb_female', 'dpk_female'],
    whole: 'female_total',
  },
  { name: 'grand_total_sum', severity: 'error', parts: ['male_total', 'female_total'], whole: 'grand_total' },
];
