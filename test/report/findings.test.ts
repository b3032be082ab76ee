/** The places that the report names as highest and lowest. */

import { expect, it } from 'vitest';
import { extremes, extremesWithContradicting } from '../../pipelines/report/findings.ts';
import type { Place } from '../../pipelines/report/places.ts';

const none = { name: '', count: 0n };
const percent = (numerator: number, denominator = 100) => ({
  name: '',
  numerator: BigInt(numerator),
  denominator: BigInt(denominator),
});

/** @param covered Percent of the voters whose regency is compared. @param whole Turnout with contradictory figures. */
const place = (name: string, turnout: number, covered = 100, whole = turnout): Place => ({
  name,
  province: null,
  turnout: { both: percent(turnout), male: percent(turnout), female: percent(turnout) },
  users: none,
  voters: none,
  status: null,
  scope: {
    voters: percent(covered),
    withContradicting: percent(whole),
    left: { missing: none, unknown: none, zero_denominator: none, contradicting: none },
  },
  worst: null,
  row: '',
  key: name,
  kemendagriCode: null,
});

const namesOf = (found: ReturnType<typeof extremes>) =>
  found && [found.highest, found.lowest].map((places) => places.map(({ name }) => name).join(' '));

it.each<[string, Place[], string[] | null]>([
  ['of whole places', [place('A', 70), place('B', 80), place('C', 90)], ['C', 'A']],
  ['several if they tie', [place('A', 70), place('B', 70), place('C', 90)], ['C', 'A B']],
  ['with 95 % of the voters', [place('A', 70, 95), place('B', 80)], ['B', 'A']],
  ['not with less', [place('A', 70, 94), place('B', 80), place('C', 90)], ['C', 'B']],
  ['none if all tie', [place('A', 70), place('B', 70)], null],
  ['none of a single place', [place('A', 70, 94), place('B', 80)], null],
])('extremes: %s', (_, places, expected) => {
  expect(namesOf(extremes(places))).toEqual(expected);
});

it.each<[string, Place[], string[] | null]>([
  ['not if they stay', [place('A', 70), place('B', 90, 96, 85)], null],
  ['if a place that is not ranked is lower', [place('A', 70), place('B', 90), place('C', 80, 75, 66)], ['B', 'C']],
  ['if a ranked place changes', [place('A', 70), place('B', 80, 99, 69), place('C', 90)], ['C', 'B']],
])('extremes with contradictory figures: %s', (_, places, expected) => {
  expect(namesOf(extremesWithContradicting(places, extremes(places)!))).toEqual(expected);
});
