/** Suggests names for mistyped ones, and derives the names of variables. */

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

export function variableOf(option: string): string {
  return `REKAP_${option.replaceAll('-', '_').toUpperCase()}`;
}
