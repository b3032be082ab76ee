/** Judges a finished walk: is the district complete, must it be read again, or is it incomplete; pure, so that every case is a test. */

import type { Listed } from './listing.ts';
import type { Walk } from './walk-district.ts';

/** How often one district is read before it counts as incomplete. */
export const maxReadings = 3;

/** What is compared of a walk. */
export type WalkFigures = Pick<Walk, 'distinct' | 'total' | 'end'>;

export type Judgement =
  | { readonly kind: 'complete'; readonly warning: string | null }
  | { readonly kind: 'read again' }
  | { readonly kind: 'incomplete'; readonly reason: string };

/**
 * @param listed What the sweep listed for the district; null where it listed nothing or there was no sweep.
 * @param earlier The walk before this one over the same district; null for the first.
 * @param reading Which reading of the district this was, from 1.
 */
export function judgeWalk(
  walk: WalkFigures,
  listed: Listed | null,
  earlier: WalkFigures | null,
  reading: number,
): Judgement {
  if (walk.end === 'sweep') return { kind: 'complete', warning: null };
  const expected = listed?.distinct ?? 0;
  if (walk.distinct < expected) {
    if (reading < maxReadings) return { kind: 'read again' };
    return {
      kind: 'incomplete',
      reason: `the sweep listed ${expected} records, its own pages brought ${walk.distinct} in ${reading} readings; the source loses records or changed in between`,
    };
  }
  const repeats = walk.total - walk.distinct;
  const listedRepeats = listed === null ? 0 : listed.total - listed.distinct;
  // Repeats that the sweep did not show: the source itself may hold them, or its pages slipped and others were missed.
  // The same figures from two readings in a row mean that they are the source's own.
  const steady = earlier !== null && earlier.distinct === walk.distinct && earlier.total === walk.total;
  if (repeats !== listedRepeats && !steady) {
    if (reading < maxReadings) return { kind: 'read again' };
    return {
      kind: 'incomplete',
      reason: `its pages overlap differently at each of ${reading} readings; the source's order is not steady`,
    };
  }
  if (listed !== null && walk.distinct > expected) {
    return {
      kind: 'complete',
      warning: `the sweep listed ${expected} records, its own pages brought ${walk.distinct}: the unfiltered list is short`,
    };
  }
  return { kind: 'complete', warning: null };
}
