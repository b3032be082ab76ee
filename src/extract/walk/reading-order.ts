/** The order in which districts are read. */

/**
 * Those that take several requests come first, so that none is left over at the end; what is at hand comes by turns with what has to be asked
 * for: while the one is read, the other is on its way.
 *
 * @param isClosed Whether the list surely passed all of a district.
 * @param isAhead Whether its first page was read ahead, or is on its way.
 */
export function orderReading(
  districts: readonly number[],
  isClosed: (dapil: number) => boolean,
  isAhead: (dapil: number) => boolean,
): number[] {
  const sorted = districts.toSorted((a, b) => a - b);
  const isAtHand = (dapil: number): boolean => isClosed(dapil) && isAhead(dapil);
  return alternate(
    [...sorted.filter((dapil) => !isClosed(dapil)), ...sorted.filter((dapil) => isClosed(dapil) && !isAtHand(dapil))],
    sorted.filter(isAtHand),
  );
}

/** The items of both by turns. */
function alternate<Item>(first: readonly Item[], second: readonly Item[]): Item[] {
  const longer = Math.max(first.length, second.length);
  return Array.from({ length: longer }, (_, index) => [
    ...first.slice(index, index + 1),
    ...second.slice(index, index + 1),
  ]).flat();
}
