/** Computes the findings at the top of the report. */

import { compareRates, type Count, countOf, isKnown, type Rate } from './figure.ts';
import { isPartial, type Place } from './places.ts';

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

export interface Extremes {
  readonly highest: readonly Place[];
  readonly lowest: readonly Place[];
}

/** Returns the ranked provinces with the highest and the lowest turnout, several if they tie; null if fewer than two are ranked, or all tie. */
export function extremes(provinces: readonly Place[]): Extremes | null {
  return extremesBy(
    provinces.filter((place) => !isPartial(place)),
    ({ turnout }) => turnout.both,
  );
}

/** Returns the same for all provinces, with the regencies that contradict themselves; null if the provinces are the same. */
export function extremesWithContradicting(provinces: readonly Place[], { highest, lowest }: Extremes): Extremes | null {
  const found = extremesBy(provinces, ({ scope }) => scope!.withContradicting);
  const namesOf = (places: readonly Place[]): string => places.map(({ name }) => name).join('\n');
  const isSame =
    found === null || (namesOf(found.highest) === namesOf(highest) && namesOf(found.lowest) === namesOf(lowest));
  return isSame ? null : found;
}

function extremesBy(places: readonly Place[], rateOf: (place: Place) => Rate): Extremes | null {
  const known = places.filter((place) => isKnown(rateOf(place))).toSorted((a, b) => compareRates(rateOf(b), rateOf(a)));
  if (known.length < 2 || compareRates(rateOf(known[0]!), rateOf(known.at(-1)!)) === 0) return null;
  const sameAs = (place: Place) => known.filter((other) => compareRates(rateOf(other), rateOf(place)) === 0);
  return { highest: sameAs(known[0]!), lowest: sameAs(known.at(-1)!) };
}
