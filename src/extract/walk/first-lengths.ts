/**
 * Where the pages of a reading begin, by how long its first one is: elsewhere than those of the account before, so that a source which
 * passes over a record at the same place every time is found out. Also where a page holds but two records; with one, there is no elsewhere.
 */

import { firstReading } from '../../readings.ts';

/** One after another, each against the longest page. */
const lengths: readonly ((longest: number) => number)[] = [
  (longest) => longest,
  (longest) => Math.ceil(longest / 2),
  (longest) => Math.floor(longest / 3) || longest,
  (longest) => Math.floor((longest * 2) / 3) || longest,
];

/**
 * Records that the first page of a reading counts for.
 *
 * @param longest Records of the longest page of the account before.
 * @param beginsPage Whether the district begins a page of the list of all districts: that is then the account before the first reading,
 * whose pages would begin where its pages do.
 */
export function firstLength(reading: number, longest: number, beginsPage: boolean): number {
  const turn = reading - firstReading + (beginsPage ? 1 : 0);
  return lengths[turn % lengths.length]!(longest);
}
