/** Where the pages of one walk over a district ended: what a source passes over there is missing from every account that has a border at the same place. */

export class Borders {
  /** After how many of the district's records a page ended and another followed. */
  private readonly inner = new Set<number>();
  private longest = 0;
  private last = 0;

  /** Notes a page of so many rows, which followed on so many of the district's records. */
  note(before: number, length: number): void {
    if (this.last > 0) this.inner.add(before);
    this.last = length;
    this.longest = Math.max(this.longest, length);
  }

  /**
   * Whether one is among those of the sweep. The walk has one where it stands, after `total` records, unless its last page was shorter than
   * is usual: than its own where it has looked further, and else than those of the sweep, where these were as long as was asked for.
   *
   * @param usual Rows of a page that was not cut off; null where the walk has looked further.
   */
  meet(swept: ReadonlySet<number>, total: number, usual: number | null): boolean {
    if (this.last >= (usual ?? this.longest) && swept.has(total)) return true;
    return [...this.inner].some((border) => swept.has(border));
  }

  /** Whether another walk came in the very same pages, or ended behind a full one as this did. With pages of one record there are no others. */
  areThoseOf({ inner, endsFull }: Borders): boolean {
    if (this.inner.size === 0 || this.longest < 2) return false;
    return (
      (this.endsFull && endsFull) || (inner.size === this.inner.size && [...inner].every((at) => this.inner.has(at)))
    );
  }

  /** Whether the last of several pages was one of the longest: what follows may have been passed over. */
  private get endsFull(): boolean {
    return this.inner.size > 0 && this.longest > 1 && this.last === this.longest;
  }
}
