/** Finds what a mistyped name was probably meant to be. */

import { distance } from 'fastest-levenshtein';

/** The name nearest to `typed`; undefined where none is within `most` letters, a third of its own without a word. */
export function closestName(
  typed: string,
  names: readonly string[],
  most: number = Math.max(2, Math.ceil(typed.length / 3)),
): string | undefined {
  const ranked = names.map((name) => ({ name, steps: distance(typed, name) })).toSorted((a, b) => a.steps - b.steps);
  const best = ranked[0];
  return best !== undefined && best.steps <= most ? best.name : undefined;
}

/** "Did you mean …?" where a name is near, else another advice; `write` puts a name as it is typed. */
export function didYouMean(
  typed: string,
  names: readonly string[],
  otherwise: string,
  write: (name: string) => string = (name) => name,
): string {
  const closest = closestName(typed, names);
  return closest === undefined ? otherwise : `Did you mean ${write(closest)}?`;
}

/** The variable of an option: REKAP_BASE_URL for base-url. */
export function variableOf(option: string): string {
  return `REKAP_${option.replaceAll('-', '_').toUpperCase()}`;
}
