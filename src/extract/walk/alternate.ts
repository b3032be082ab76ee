/** Mixes what is at hand with what has to be asked for. */

/** The items of both by turns: while what is at hand is read, what is asked for is on its way. */
export function alternate<Item>(first: readonly Item[], second: readonly Item[]): Item[] {
  const longer = Math.max(first.length, second.length);
  return Array.from({ length: longer }, (_, index) => [
    ...first.slice(index, index + 1),
    ...second.slice(index, index + 1),
  ]).flat();
}
