/** Computes the findings at the top of the report. */

import { compareRates, type Count, countOf, isKnown } from './figure.ts';
import type { Place } from './figures.ts';

export interface WomenAndMen {
  readonly women: Count;
  readonly men: Count;
  readonly equal: Count;
  readonly provinces: Count;
  readonly unknown: Count;
}

export function compareSexes(provinces: readonly Place[]): WomenAndMen {
  const known = provinces.filter(({ turnout }) => isKnown(turnout.male) && isKnown(turnout.female));
  const order = known.map(({ turnout }) => compareRates(turnout.female, turnout.male));
  const count = (name: string, sign: number) =>
    countOf(`finding.${name}`, order.filter((value) => value === sign).length);
  return {
    women: count('provinces_women_higher', 1),
    men: count('provinces_men_higher', -1),
    equal: count('provinces_equal', 0),
    provinces: countOf('finding.provinces_compared', known.length),
    unknown: countOf('finding.provinces_unknown', provinces.length - known.length),
  };
}

/** Returns the provinces with the highest and the lowest turnout, several if they tie; null if fewer than two are known. */
export function extremes(provinces: readonly Place[]): { highest: readonly Place[]; lowest: readonly Place[] } | null {
  const known = provinces
    .filter(({ turnout }) => isKnown(turnout.both))
    .toSorted((a, b) => compareRates(b.turnout.both, a.turnout.both));
  if (known.length < 2) return null;
  const sameAs = (place: Place) => known.filter(({ turnout }) => compareRates(turnout.both, place.turnout.both) === 0);
  return { highest: sameAs(known[0]!), lowest: sameAs(known.at(-1)!) };
}
