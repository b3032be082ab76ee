/**
 * What a source's `count` says of a whole list. Sources do not agree on what it counts, so it proves nothing; but one that says more
 * than what came contradicts the end.
 */

import type { Page } from '../../stages.ts';

/** What a list that was read to its end claims to hold. */
export interface CountClaim {
  /** Null for the list of all districts. */
  readonly dapil: number | null;
  readonly claimed: number;
  /** Records that its pages brought, repeats and all. */
  readonly received: number;
}

/** Collects what `count` says on the pages of one list. */
export class CountReading {
  /** What all pages with records say alike; null where they differ or say nothing. */
  private alike: number | null = null;
  private pages = 0;
  /** What the empty page says. */
  private atEnd: number | null = null;

  note(page: Page): void {
    // A count that repeats the limit counts nothing.
    const said = page.count === page.request.limit ? null : page.count;
    if (page.records.length === 0) {
      this.atEnd = said;
      return;
    }
    this.alike = this.pages === 0 || this.alike === said ? said : null;
    this.pages += 1;
  }

  /** A total stands on every page alike; where there is nothing left, a source may say 0. */
  claim(dapil: number | null, received: number): CountClaim | null {
    if (this.alike === null && this.atEnd === null) return null;
    return { dapil, claimed: Math.max(this.alike ?? 0, this.atEnd ?? 0), received };
  }
}

/**
 * The claims that more should have come. One is not believed where it is the same for a district as for the whole list, or the same for all:
 * then `count` does not count what was asked for.
 */
export function brokenClaims(claims: readonly CountClaim[]): CountClaim[] {
  const saysAlwaysTheSame = claims.length > 1 && new Set(claims.map(({ claimed }) => claimed)).size === 1;
  if (saysAlwaysTheSame) return [];
  const ofAll = claims.find(({ dapil }) => dapil === null)?.claimed ?? null;
  return claims.filter(({ dapil, claimed, received }) => claimed > received && (dapil === null || claimed !== ofAll));
}
