/**
 * What a source's `count` says once a list has come to its end. Sources do not agree on what it counts, so it proves nothing; but one
 * that says more than what came contradicts the end.
 */

/** A list that was read to an empty page. */
export interface CountClaim {
  /** Null for the list of all districts. */
  readonly dapil: number | null;
  /** `count` of the empty page. */
  readonly claimed: number;
  /** Records that the pages before it brought, repeats and all. */
  readonly received: number;
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
