/** What the answers of one endpoint show about how its server pages, and whether a short page can be believed. */

/** A server whose sweep came in so many pages of one full length, or in a page this long, does not break its answers up. */
const convincingFullPages = 5;
const convincingLength = 100;

export class PagingHabits {
  /** Records of the longest page so far. */
  longest = 0;
  private fullSweepPages = 0;
  private vary = false;

  /** What the sweep has shown, for a walk to go on learning by itself: its proof must not depend on the walks before it. */
  forWalk(): PagingHabits {
    return Object.assign(new PagingHabits(), this);
  }

  /** Notes that a walk went on to a page of `length` records after one of `previous` (0 at the beginning). */
  note(previous: number, length: number): void {
    // A page in the midst of a walk that is shorter than the longest: short pages mean nothing here.
    if (previous > 0 && previous < this.longest) this.vary = true;
    if (length <= this.longest) return;
    this.longest = length;
    this.fullSweepPages = 0;
  }

  /** Notes a page of the sweep, which comes before any district is judged. */
  noteSweep(previous: number, length: number): void {
    this.note(previous, length);
    if (length === this.longest) this.fullSweepPages += 1;
  }

  /**
   * Whether a page of `length` records was surely not cut off by a cap on `limit`: it is shorter than the longest page, which
   * the server gives steadily. As long as that is not known, only an empty page says that nothing follows.
   */
  showsEnd(length: number): boolean {
    const isSteady = !this.vary && (this.fullSweepPages >= convincingFullPages || this.longest >= convincingLength);
    return isSteady && length < this.longest;
  }
}
