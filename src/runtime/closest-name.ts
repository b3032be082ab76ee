/** Suggests names for mistyped ones. */

import { distance } from 'fastest-levenshtein';

/** Returns the name nearest to `typed`; undefined if all differ by more than `most` letters. */
export function closestName(
  typed: string,
  names: readonly string[],
  most: number = Math.max(2, Math.ceil(typed.length / 3)),
): string | undefined {
  const ranked = names.map((name) => ({ name, steps: distance(typed, name) })).toSorted((a, b) => a.steps - b.steps);
  const best = ranked[0];
  return best !== undefined && best.steps <= most ? best.name : undefined;
}

/** Returns "Did you mean …?" if a name is similar, otherwise `otherwise`. `write` formats the name. */
export function didYouMean(
  typed: string,
  names: readonly string[],
  otherwise: string,
  write: (name: string) => string = (name) => name,
): string {
  const closest = closestName(typed, names);
  return closest === undefined ? otherwise : `Did you mean ${write(closest)}?`;
}

/** Adds "; did you mean …?" to a problem if a name is similar. */
export function withSuggestion(problem: string, typed: string, names: readonly string[]): string {
  const closest = closestName(typed, names);
  return closest === undefined ? problem : `${problem}; did you mean "${closest}"?`;
}
