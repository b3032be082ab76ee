/** The faults planted in the sample, so that every kind of check has something to find. */

import type { place } from '../../pipelines/shared.ts';
import type voters from '../../pipelines/voters.ts';

/** The count columns that both datasets share. */
export type CountColumn = Exclude<keyof typeof voters.columns, keyof typeof place>;

/** How a fault changes its row. */
type FaultChange =
  /** The figure is too high by `amount`, and so are the columns in `also`. */
  | { readonly kind: 'add'; readonly amount: number; readonly also: readonly CountColumn[] }
  /** More users than voters on one list: by `excess` for each sex. All sums of the row follow. */
  | { readonly kind: 'users above voters'; readonly list: 'dptb' | 'dpk'; readonly excess: number }
  /** The right figure, written as no count is written. */
  | { readonly kind: 'blank' | 'thousands separator' | 'trailing space' };

/** One fault in one row. */
export interface Fault {
  readonly dataset: 'voters' | 'voting_rights_users';
  readonly dapilId: number;
  readonly regency: string;
  /** The column that a check finds wrong. */
  readonly column: CountColumn;
  readonly change: FaultChange;
  /** What notices: a row check by its name, the reading of a count, or the comparison of users with voters. */
  readonly noticedBy: 'dpt_sexes_sum' | 'female_lists_sum' | 'empty count' | 'malformed count' | 'users above voters';
}

/** Every fault of the sample. No two share a row, and none touches the men or women in the DPT of voters. */
export const faults: readonly Fault[] = [
  {
    dataset: 'voters',
    dapilId: 1602,
    regency: 'OGAN ILIR',
    column: 'dpt_total',
    change: { kind: 'add', amount: 900, also: [] },
    noticedBy: 'dpt_sexes_sum',
  },
  {
    dataset: 'voters',
    dapilId: 6101,
    regency: 'KETAPANG',
    column: 'dptb_total',
    change: { kind: 'trailing space' },
    noticedBy: 'malformed count',
  },
  {
    dataset: 'voters',
    dapilId: 8101,
    regency: 'KEPULAUAN ARU',
    column: 'dpk_male',
    change: { kind: 'blank' },
    noticedBy: 'empty count',
  },
  {
    dataset: 'voting_rights_users',
    dapilId: 1302,
    regency: 'PASAMAN BARAT',
    column: 'dpk_total',
    change: { kind: 'users above voters', list: 'dpk', excess: 17 },
    noticedBy: 'users above voters',
  },
  {
    dataset: 'voting_rights_users',
    dapilId: 3307,
    regency: 'KEBUMEN',
    column: 'dptb_total',
    change: { kind: 'users above voters', list: 'dptb', excess: 58 },
    noticedBy: 'users above voters',
  },
  {
    dataset: 'voting_rights_users',
    dapilId: 5302,
    regency: 'TIMOR TENGAH UTARA',
    column: 'dpt_total',
    change: { kind: 'thousands separator' },
    noticedBy: 'malformed count',
  },
  {
    dataset: 'voting_rights_users',
    dapilId: 6401,
    regency: 'KUTAI TIMUR',
    column: 'dptb_total',
    change: { kind: 'users above voters', list: 'dptb', excess: 241 },
    noticedBy: 'users above voters',
  },
  {
    dataset: 'voting_rights_users',
    dapilId: 7302,
    regency: 'BONE',
    column: 'female_total',
    change: { kind: 'add', amount: 100, also: ['grand_total'] },
    noticedBy: 'female_lists_sum',
  },
];
