/** Finds what a mistyped name was probably meant to be. */

import { distance } from 'fastest-levenshtein';

/** The name nearest to `typed`; undefined where none is within a third of its length. */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const ranked = names.map((name) => ({ name, steps: distance(typed, name) })).toSorted((a, b) => a.steps - b.steps);
  const best = ranked[0];
  return best !== undefined && best.steps <= Math.max(2, Math.ceil(typed.length / 3)) ? best.name : undefined;
}
