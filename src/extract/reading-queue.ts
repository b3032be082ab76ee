/** Hands districts on as they are proved: the extraction puts them in, whoever builds the tables takes them out. */

export class ReadingQueue<Item> implements AsyncIterable<Item> {
  private readonly items: Item[] = [];
  private wake: () => void = () => {};
  private ended = false;
  private failure: { readonly reason: unknown } | null = null;
  /** Whether nobody takes anything more. */
  isAbandoned = false;

  put(item: Item): void {
    this.items.push(item);
    this.wake();
  }

  /** Nothing more comes. */
  end(): void {
    this.ended = true;
    this.wake();
  }

  /** Nothing more comes, because of a failure; it is thrown at once, whatever waits. */
  fail(reason: unknown): void {
    this.failure = { reason };
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    try {
      for (;;) {
        if (this.failure !== null) throw this.failure.reason;
        const item = this.items.shift();
        if (item !== undefined) yield item;
        else if (this.ended) return;
        else await new Promise<void>((resolve) => (this.wake = resolve));
      }
    } finally {
      this.isAbandoned = true;
    }
  }
}
