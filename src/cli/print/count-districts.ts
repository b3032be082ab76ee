/** Says how many districts have records, and how many were asked for where some have none. */

import { formatNumber } from '../../runtime/numbers.ts';
import type { Verdict } from '../../stages.ts';

/** 84, or 75 (84 asked): those of the reference are asked for too, whether the source has records of them or not. */
export function countDistricts(verdicts: readonly Verdict[]): string {
  const asked = verdicts.filter(({ district }) => district !== null);
  const read = asked.filter(({ received }) => received > 0);
  const count = formatNumber(read.length);
  return read.length === asked.length ? count : `${count} (${formatNumber(asked.length)} asked)`;
}
