/** The pages of a list in their turn, asked for before it comes as far as the list is likely to go. */

/**
 * So many pages of a list are asked for at a time at most: fewer in vain than the failures in a row that end a run, where a source fails
 * behind its end.
 */
const widest = 5;

export interface ListQuestion<Fetched> {
  /** Records that a page is asked for. */
  readonly pageSize: number;
  /** Records that the list is likely to have; 0 where nothing is known of it. */
  readonly expected: number;
  /** `reading` is 0 for the list itself. */
  fetch(offset: number, reading: number): Promise<Fetched>;
}

/**
 * As long as pages come full, those up to the records that are expected are asked for at once, and a list that goes on behind them in
 * pairs. Where the pages of a source vary, that goes wrong once, and is left at that.
 */
export class NextPages<Fetched> {
  private readonly question: ListQuestion<Fetched>;
  /** Asked for before their turn, by offset. */
  private readonly asked = new Map<number, Promise<Fetched>>();
  /** When those have come that were passed over; not the pages themselves, which nobody needs. */
  private readonly passedOver: Promise<unknown>[] = [];
  private isOff = false;
  private length = 0;

  constructor(question: ListQuestion<Fetched>) {
    this.question = question;
  }

  /** The page at an offset, which is where the records received end; `length` is how many the page before it held. */
  at(offset: number, length: number): Promise<Fetched> {
    const { asked } = this;
    this.isOff ||= asked.size > 0 && !asked.has(offset);
    const page = asked.get(offset) ?? this.question.fetch(offset, 0);
    asked.delete(offset);
    for (const [other, passed] of asked) if (other < offset) this.passOver(other, passed);
    const isFull = length > 0 && (length === this.question.pageSize || length === this.length);
    this.length = length;
    if (isFull && !this.isOff) this.askBeyond(offset, length);
    return page;
  }

  /** Waits for what was asked for in vain. */
  async settle(): Promise<void> {
    await Promise.allSettled([...this.passedOver, ...this.asked.values()]);
  }

  private askBeyond(offset: number, length: number): void {
    const { asked, question } = this;
    // A list that has come further than expected may go on for ever so long.
    const end = offset > question.expected ? offset + length + 1 : question.expected;
    for (let next = offset + length; next < end && asked.size + 1 < widest; next += length) {
      if (asked.has(next)) continue;
      const page = question.fetch(next, 0);
      // Whoever needs it meets its failure.
      page.catch(() => undefined);
      asked.set(next, page);
    }
  }

  private passOver(offset: number, page: Promise<Fetched>): void {
    this.asked.delete(offset);
    const ignore = (): void => undefined;
    this.passedOver.push(page.then(ignore, ignore));
  }
}
