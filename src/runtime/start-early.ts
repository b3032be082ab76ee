/** Starts an iteration before its consumer does. */

/** Requests the first item at once. Iterate over the result once. */
export function startEarly<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let first: Promise<IteratorResult<Item>> | null = iterator.next();
  // The consumer gets the error when it starts to read.
  first.catch(() => undefined);
  return {
    [Symbol.asyncIterator]: () => ({
      next() {
        const item = first ?? iterator.next();
        first = null;
        return item;
      },
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    }),
  };
}
