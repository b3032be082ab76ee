/** Makes verdicts of what was found. */

import type { Verdict } from '../../stages.ts';

/** What there is to say; `at` is when the last page came. */
export type VerdictParts = Pick<Verdict, 'dapil' | 'proof'> & Partial<Verdict> & { readonly at?: Date };

/** What is not said is as it is where nothing came. */
export function makeVerdict(dataset: string, now: Date, { at = now, reason = null, ...rest }: VerdictParts): Verdict {
  const nothing = { listed: null, received: 0, pages: 0, readings: 1 };
  return { dataset, ...nothing, ...rest, reason, complete: reason === null, read_at: at.toISOString() };
}
