/**
 * The one rule: a district is complete when two readings of it have brought everything that any reading of it has brought, with the same
 * values. The full listing's part of it is a reading. Pure, so that every case is a test.
 */

import { FingerprintTable } from '../../records/fingerprint-table.ts';
import type { Fingerprint } from '../scan/fingerprints.ts';
import type { FullListing } from './full-listing.ts';
import type { Account } from './tally.ts';

/** How often a district is read by itself before it counts as incomplete. */
export const mostReadings = 4;

/** Everything that any reading of a district has shown, those of the full listing among them. */
export class Shown {
  private readonly union = new FingerprintTable();
  private readonly listings: readonly FullListing[];
  private readonly district: number;
  /** Of each listing, how many of its records the union holds. */
  private readonly met: number[];

  /** @param listings All readings of the full listing, also those that came to nothing. */
  constructor(listings: readonly FullListing[], district: number) {
    this.listings = listings;
    this.district = district;
    this.met = listings.map(() => 0);
  }

  /** What the listings alone have shown. */
  fresh(): Shown {
    return new Shown(this.listings, this.district);
  }

  add(element: Fingerprint): void {
    if (this.union.meet(element, 1) !== 0) return;
    for (const [index, listing] of this.listings.entries()) if (listing.has(element)) this.met[index]! += 1;
  }

  /** How many records have been shown; a reading that brought so many brought them all. */
  get size(): number {
    const unmet = this.listings.map((listing, index) => listing.of(this.district).total - this.met[index]!);
    return this.union.size + Math.max(0, ...unmet);
  }
}

export interface Evidence {
  /** What the newest reading brought. */
  readonly newest: Account;
  /** What the readings before it brought, the full listing's part among them; without those that came to nothing. */
  readonly earlier: readonly Account[];
  /** How many records any reading has shown. */
  readonly shown: number;
  /** How many readings must agree. */
  readonly needed: number;
}

/** Null where the district is complete; else what is missing, as the end of a sentence. */
export function lackOf({ newest, earlier, shown, needed }: Evidence): string | null {
  if (newest.total < shown)
    return `its readings showed ${shown} records, and the last one brought ${newest.total} of them`;
  const whole = earlier.filter(({ total }) => total === shown);
  const agreeing = whole.filter(({ content }) => content === newest.content);
  if (agreeing.length + 1 >= needed) return null;
  return agreeing.length < whole.length
    ? 'its readings brought the same records with different values'
    : `${agreeing.length + 1} of its readings brought all ${shown} records that were shown, and ${needed} must`;
}

/**
 * How many readings must agree: two, and three where nothing but a district's own pages shows how it is paged, and it takes several.
 *
 * @param listing The full listing; null where the source gives none.
 */
export function neededReadings(listing: FullListing | null, pages: number): number {
  return pages > 1 && listing?.isOrderly !== true ? 3 : 2;
}
