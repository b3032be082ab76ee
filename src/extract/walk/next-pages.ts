/** The pages of a list in their turn, asked for before it comes as far as the list is likely to go. */

/** So many pages of a list are asked for at a time at most, and one fewer in vain. However many requests a run may have under way: its replay must ask for the same. */
const widest = 5;

export interface ListQuestion<Fetched> {
  /** Records that a page is asked for. */
  readonly pageSize: number;
  /** Records that the list is likely to have; 0 where nothing is known of it. */
  readonly expected: number;
  fetch(offset: number): Promise<Fetched>;
  /** Asks once for a page before its turn; null where that fails, whatever the reason: then it is asked for in its turn, if that comes. */
  fetchEarly(offset: number): Promise<Fetched | null>;
  /** Takes a page that came early and that the list had no use for. */
  unused(page: Fetched): void;
}

/**
 * As long as pages come full, those up to the records that are expected are asked for at once, five at most, and a list that goes on behind them in
 * pairs. Where the pages of a source vary, or it fails when it is asked so, that goes wrong once, and is left at that.
 */
export class NextPages<Fetched> {
  private readonly question: ListQuestion<Fetched>;
  /** Asked for before their turn, by offset. */
  private readonly asked = new Map<number, Promise<Fetched | null>>();
  /** When those have come that were passed over. */
  private readonly passedOver: Promise<void>[] = [];
  private isOff = false;
  private length = 0;

  constructor(question: ListQuestion<Fetched>) {
    this.question = question;
  }

  /** The page at an offset, which is where the records received end; `length` is how many the page before it held. */
  at(offset: number, length: number): Promise<Fetched> {
    const { asked } = this;
    const page = this.take(offset);
    for (const [other, passed] of asked) if (other < offset) this.passOver(other, passed);
    this.isOff ||= this.passedOver.length > 0;
    const isFull = length > 0 && (length === this.question.pageSize || length === this.length);
    this.length = length;
    if (isFull && !this.isOff) this.askBeyond(offset, length);
    return page;
  }

  /** What came of pages behind the one whose turn was the last. */
  async beyond(): Promise<Fetched[]> {
    const pages = await Promise.all(this.asked.values());
    return pages.filter((page) => page !== null);
  }

  /** Waits for what was asked for in vain, and hands it over. */
  async settle(): Promise<void> {
    for (const [offset, page] of this.asked) this.passOver(offset, page);
    await Promise.all(this.passedOver);
  }

  private take(offset: number): Promise<Fetched> {
    const early = this.asked.get(offset);
    this.asked.delete(offset);
    return early === undefined ? this.question.fetch(offset) : this.orInItsTurn(offset, early);
  }

  private async orInItsTurn(offset: number, early: Promise<Fetched | null>): Promise<Fetched> {
    const page = await early;
    if (page !== null) return page;
    this.isOff = true;
    return this.question.fetch(offset);
  }

  private askBeyond(offset: number, length: number): void {
    const { asked, question } = this;
    // A list that has come further than expected may go on for ever so long.
    const end = offset > question.expected ? offset + length + 1 : question.expected;
    for (let next = offset + length; next < end && asked.size + 1 < widest; next += length) {
      if (!asked.has(next)) asked.set(next, question.fetchEarly(next));
    }
  }

  private passOver(offset: number, page: Promise<Fetched | null>): void {
    this.asked.delete(offset);
    this.passedOver.push(page.then((fetched) => (fetched === null ? undefined : this.question.unused(fetched))));
  }
}
