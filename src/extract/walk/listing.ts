/** The sweep's listing: what the unfiltered endpoint says there is, district by district, and when it is proof. */

import { readInteger } from '../../records/fields.ts';
import { placeOf, type AnyPipeline } from '../../pipeline.ts';
import type { Page } from '../../stages.ts';
import { Contents, KeySet, Tally, type Account, type Shown } from './tally.ts';

/** The district that a record names, or null where it names none. */
export function districtOf(page: Page, row: number, districtColumn: number): number | null {
  if (page.records.isObject[row] !== 1) return null;
  const dapil = readInteger(page, row, districtColumn);
  return dapil < 0 ? null : dapil;
}

/** What one page added to a listing. */
export interface PageListing {
  /** Rows that name no district. */
  readonly strays: readonly number[];
  /** Whether it repeats an earlier page. */
  readonly repeats: boolean;
}

/** What the sweep has brought of a district. */
interface ListedDistrict {
  total: number;
  /** Whether its first record is the first of a page. */
  readonly beginsPage: boolean;
  /** After how many of its records a page of the sweep ended. */
  readonly borders: Set<number>;
  readonly keys: KeySet;
  readonly contents: Contents;
}

/** Collects the pages of a sweep. */
export class Listing {
  private readonly listed = new Map<number, ListedDistrict>();
  readonly pipeline: AnyPipeline;
  private readonly districtColumn: number;
  private readonly tally: Tally;
  private last: number | null = null;
  private inOrder = true;
  /** Whether there were records that name no district. */
  hasStrays = false;

  constructor(pipeline: AnyPipeline) {
    this.pipeline = pipeline;
    this.districtColumn = placeOf(pipeline, pipeline.district);
    this.tally = new Tally(pipeline);
  }

  /** Records that the sweep brought. */
  get total(): number {
    return this.tally.total;
  }

  get districts(): number[] {
    return [...this.listed.keys()];
  }

  /** What the sweep listed of a district; null where it listed nothing. */
  accountOf(dapil: number): Account | null {
    const listed = this.listed.get(dapil);
    if (listed === undefined) return null;
    const { total, keys, contents } = listed;
    return { total, distinct: keys.size, set: keys.hash, content: contents.hash };
  }

  add(page: Page): PageListing {
    const strays: number[] = [];
    const { tally, pipeline } = this;
    tally.beginPage();
    const before = this.last === null ? undefined : this.listed.get(this.last);
    before?.borders.add(before.total);
    for (let row = 0; row < page.records.length; row += 1) {
      const isNew = tally.add(page, row);
      const dapil = districtOf(page, row, this.districtColumn);
      if (dapil === null) {
        this.hasStrays = true;
        strays.push(row);
        continue;
      }
      let listed = this.listed.get(dapil);
      if (listed === undefined) {
        listed = {
          total: 0,
          beginsPage: row === 0,
          borders: new Set(),
          keys: new KeySet(),
          contents: new Contents(pipeline),
        };
        this.listed.set(dapil, listed);
      } else if (dapil !== this.last) this.inOrder = false;
      this.last = dapil;
      listed.total += 1;
      listed.contents.add(page, row, tally.latest);
      if (isNew) listed.keys.add(tally.latest);
    }
    return { strays, repeats: tally.repeatsPage };
  }

  /** What the sweep has shown of a district, be it all or not; null where it has shown nothing. */
  shownOf(dapil: number): Shown | null {
    const listed = this.listed.get(dapil);
    // The district is a part of the key.
    return listed === undefined
      ? null
      : { said: 'the sweep listed', distinct: listed.keys.size, has: (key) => this.tally.has(key) };
  }

  /** A hash of the set of its records' keys, districts among them. */
  get keys(): string {
    return this.tally.set;
  }

  /** Whether its pages overlapped: then others may have been passed over, whole districts among them. */
  get overlaps(): boolean {
    return this.tally.overlaps;
  }

  /** Whether a page of the sweep begins with a district's first record. */
  beginsPage(dapil: number): boolean {
    return this.listed.get(dapil)?.beginsPage === true;
  }

  /** After how many records of a district a page of the sweep ended and another followed. */
  bordersOf(dapil: number): ReadonlySet<number> {
    return this.listed.get(dapil)?.borders ?? new Set();
  }

  /**
   * Whether the sweep surely passed all of a district's records: they stood in one run, and another district's followed.
   * A sweep that a server cuts short is cut within its last district, or anywhere when it jumps between districts. Where its pages
   * overlap, a record may have been passed over anywhere.
   */
  isClosed(dapil: number): boolean {
    return this.inOrder && !this.overlaps && dapil !== this.last && this.listed.has(dapil);
  }
}

/**
 * Whether a list names the same records as another one, of which `pageAt` gives the pages. A record that moved between two districts while
 * one of the two was read may be missing from that one, and not from the other.
 */
export async function namesTheSame(
  list: Listing,
  pipeline: AnyPipeline,
  pageAt: (offset: number) => Promise<Page | null>,
): Promise<boolean> {
  const other = new Listing(pipeline);
  for (;;) {
    const page = await pageAt(other.total);
    if (page === null || page.records.length === 0) return other.keys === list.keys;
    other.add(page);
  }
}
