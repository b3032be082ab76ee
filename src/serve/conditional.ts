/** Conditional requests: whether the client's copy is still good (RFC 9110, section 13). */

import type { IncomingHttpHeaders } from 'node:http';

/** What identifies the present state of a resource. */
interface Validators {
  /** With its quotes. */
  readonly etag: string;
  readonly lastModified: Date;
}

/** Whether a GET or HEAD with these headers is to be answered with 304. If-None-Match decides alone where it is given. */
export function isNotModified(headers: IncomingHttpHeaders, validators: Validators): boolean {
  const match = headers['if-none-match'];
  if (match !== undefined) {
    // The comparison for If-None-Match is weak: a proxy that compressed an answer may have put W/ before our tag.
    return match.trim() === '*' || [...match.matchAll(/"[^"]*"/g)].some(([tag]) => tag === validators.etag);
  }
  const since = headers['if-modified-since'];
  if (since === undefined) return false;
  // A date that cannot be read is NaN, and no comparison with NaN holds: the header is ignored, as it must be.
  return wholeSeconds(validators.lastModified) <= Date.parse(since);
}

/** HTTP dates have no fractions of a second. */
function wholeSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}
