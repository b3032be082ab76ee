/** The sweep's listing: what the unfiltered endpoint says there is, district by district, and when it is proof. */

import { readInteger } from '../fields.ts';
import type { AnyPipeline, Page } from '../pipeline.ts';
import { fingerprintRecord, FingerprintSet } from './fingerprints.ts';

/** What the sweep listed for one district. */
export interface Listed {
  distinct: number;
  total: number;
}

/** Counts the distinct records of a walk, over all districts or within one. */
export class Tally {
  /** Records met, and those of them whose key had not been met before. */
  total = 0;
  private readonly seen = new FingerprintSet();
  private readonly fingerprint = { high: 0, low: 0 };
  private readonly keyColumns: readonly number[];

  constructor(pipeline: AnyPipeline) {
    const names = Object.keys(pipeline.columns);
    this.keyColumns = pipeline.key.map((column) => names.indexOf(column));
  }

  get distinct(): number {
    return this.seen.size;
  }

  /** Adds a record and says whether its key is new. */
  add(page: Page, row: number): boolean {
    this.total += 1;
    fingerprintRecord(page, row, this.keyColumns, this.fingerprint);
    return this.seen.add(this.fingerprint);
  }
}

/** The district that a record names, or null where it names none. */
export function districtOf(page: Page, row: number, districtColumn: number): number | null {
  if (page.records.isObject[row] !== 1) return null;
  const dapil = readInteger(page, row, districtColumn);
  return dapil < 0 ? null : dapil;
}

/** Collects the pages of a sweep. */
export class Listing {
  readonly districts = new Map<number, Listed>();
  private readonly districtColumn: number;
  private readonly tally: Tally;
  private last: number | null = null;
  private inOrder = true;

  constructor(pipeline: AnyPipeline) {
    this.districtColumn = Object.keys(pipeline.columns).indexOf(pipeline.district);
    this.tally = new Tally(pipeline);
  }

  /** Records that the sweep brought. */
  get total(): number {
    return this.tally.total;
  }

  /** Adds a page; gives the districts met for the first time, the rows that name no district, and whether any record was new. */
  add(page: Page): { found: number[]; strays: number[]; brought: boolean } {
    const found: number[] = [];
    const strays: number[] = [];
    const before = this.tally.distinct;
    for (let row = 0; row < page.records.length; row += 1) {
      const isNew = this.tally.add(page, row);
      const dapil = districtOf(page, row, this.districtColumn);
      if (dapil === null) {
        strays.push(row);
        continue;
      }
      let listed = this.districts.get(dapil);
      if (listed === undefined) {
        listed = { distinct: 0, total: 0 };
        this.districts.set(dapil, listed);
        found.push(dapil);
      } else if (dapil !== this.last) this.inOrder = false;
      this.last = dapil;
      listed.total += 1;
      if (isNew) listed.distinct += 1;
    }
    return { found, strays, brought: this.tally.distinct > before };
  }

  /**
   * Whether the sweep surely passed all of a district's records: they stood in one run, and another district's followed.
   * A sweep that a server cuts short is cut within its last district, or anywhere when it jumps between districts.
   */
  isClosed(dapil: number): boolean {
    return this.inOrder && dapil !== this.last && this.districts.has(dapil);
  }
}
