/** What the answers of one endpoint show about how its server pages, and whether a short page can be believed. */

/** A server that has given so many pages of one full length, or a page this long, does not break its answers up. */
const convincingFullPages = 3;
const convincingLength = 100;

export class PagingHabits {
  private longest = 0;
  private fullPages = 0;
  private vary = false;

  /** Notes that a walk went on to a page of `length` records after one of `previous` (0 at the beginning). */
  note(previous: number, length: number): void {
    // A page in the midst of a walk that is shorter than the longest: short pages mean nothing here.
    if (previous > 0 && previous < this.longest) this.vary = true;
    if (length > this.longest) {
      this.longest = length;
      this.fullPages = 0;
    }
    if (length === this.longest) this.fullPages += 1;
  }

  /**
   * Whether a page of `length` records was surely not cut off by a cap on `limit`: it is shorter than the longest page, which
   * the server gives steadily. As long as that is not known, only an empty page says that nothing follows.
   */
  showsEnd(length: number): boolean {
    const isSteady = !this.vary && (this.fullPages >= convincingFullPages || this.longest >= convincingLength);
    return isSteady && length < this.longest;
  }
}
