/** Judges a finished walk: is the district complete, must it be read again, or is it incomplete; pure, so that every case is a test. */

import { maxReadings } from '../../readings.ts';
import type { Account } from './tally.ts';
import type { Walk } from './walk-district.ts';

/** What is compared of a walk. */
export type WalkFigures = Omit<Walk, 'pages' | 'at' | 'claim' | 'refusal'>;

export type Judgement =
  | { readonly kind: 'complete'; readonly warning: string | null }
  | { readonly kind: 'read again' }
  | { readonly kind: 'incomplete'; readonly reason: string };

/**
 * A district is complete when two accounts of it agree: the sweep's and a walk's, or two walks'. One answer that holds everything
 * needs no second account, for nothing can slip between its pages.
 *
 * @param listed What the sweep listed for the district; null where it listed nothing or there was no sweep.
 * @param earlier The walks over the same district before this one, the first one first; null for one that came to nothing.
 * @param circumstances `sweepOverlaps`: pages of the sweep overlapped, so that it may list a record more often than there is one.
 */
export function judgeWalk(
  walk: WalkFigures,
  listed: Account | null,
  earlier: readonly (WalkFigures | null)[],
  { sweepOverlaps = false } = {},
): Judgement {
  const reading = earlier.length + 1;
  const lacksRepeats = listed !== null && listed.total > walk.total && !sweepOverlaps;
  const isShort = walk.lack !== null || lacksRepeats;
  if (walk.end === 'sweep' && !isShort) return { kind: 'complete', warning: null };
  if (walk.overlaps && !isShort) return judgeOverlap(walk, earlier, reading);
  const previous = earlier.at(-1) ?? null;
  const agreesWithSweep =
    walk.isBesideSweep && listed !== null && listed.set === walk.set && listed.total === walk.total;
  // In the same pages the same record may be passed over. That all readings come in them is chance, for they are asked for otherwise.
  const isElsewhere = previous?.borders.areThoseOf(walk.borders) !== true || reading === maxReadings;
  const agreesWithPrevious =
    previous !== null && isElsewhere && previous.order === walk.order && previous.total === walk.total;
  if (!isShort && (agreesWithSweep || agreesWithPrevious || walk.inOnePiece)) {
    const isRestated = agreesWithPrevious && previous.content !== walk.content;
    if (isRestated && reading < maxReadings) return { kind: 'read again' };
    const isLonger = listed !== null && walk.distinct > listed.distinct;
    const warning = isLonger ? describeShortSweep(walk, listed) : isRestated ? describeRestated(reading) : null;
    return { kind: 'complete', warning };
  }
  if (reading < maxReadings) return { kind: 'read again' };
  if (isShort) return { kind: 'incomplete', reason: describeShortness(walk, listed, earlier) };
  return {
    kind: 'incomplete',
    reason: `${reading} readings brought different records or another order each time; the source is not steady`,
  };
}

/**
 * Pages that overlap: the source holds a record twice, or its pages slipped and another record was passed over. Only a source
 * that repeats the very same records in the very same order at every reading is believed to hold them twice.
 */
function judgeOverlap(walk: WalkFigures, earlier: readonly (WalkFigures | null)[], reading: number): Judgement {
  if (reading < maxReadings) return { kind: 'read again' };
  if (earlier.every((before) => before?.order === walk.order)) return { kind: 'complete', warning: null };
  return {
    kind: 'incomplete',
    reason: `its pages overlap, and its ${reading} readings do not bring the same records in the same order`,
  };
}

function describeShortness(
  walk: WalkFigures,
  listed: Account | null,
  earlier: readonly (WalkFigures | null)[],
): string {
  const { lack, distinct } = walk;
  const reading = earlier.length + 1;
  const best = Math.max(0, ...earlier.map((before) => before?.distinct ?? 0));
  if (distinct < best)
    return `one of its ${reading} readings brought ${best} records, another ${distinct}; the source does not always give all that it has, or changed in between`;
  if (lack !== null && distinct > 0 && lack.count === lack.shown.distinct)
    return `${lack.shown.said} ${lack.count} records, and its own pages brought ${distinct} others in ${reading} readings; the source names the same places otherwise there, or changed in between`;
  if (lack !== null)
    return `${lack.shown.said} ${lack.shown.distinct} records, of which its own pages lack ${lack.count} in ${reading} readings; the source loses records or changed in between`;
  return `the sweep listed ${listed!.total} records, some of one and the same key, its own pages brought ${walk.total}; the source does not give all that it has`;
}

function describeRestated(reading: number): string {
  return `${reading} readings brought the same records with other values; those of the last are published`;
}

function describeShortSweep(walk: WalkFigures, listed: Account): string {
  return `the sweep listed ${listed.distinct} records, its own pages brought ${walk.distinct}: the unfiltered list is short`;
}
