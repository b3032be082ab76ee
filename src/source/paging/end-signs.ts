/**
 * Signs of the end of a list in a response: the declared total and flag, and well-known members that say that more records follow. A sign
 * counts only after a response of the run has shown that it can say the opposite.
 */

import { RekapError } from '../../errors.ts';
import type { EnvelopeValue, Page } from '../../stages.ts';
import { formatNumber } from '../../runtime/text.ts';

export class EndSigns {
  private countsAll = false;
  private hasBeenTrue = false;

  note({ count, hasMore, records }: Page): void {
    if (records.length > 0) this.countsAll ||= count > records.length;
    this.hasBeenTrue ||= hasMore === true;
  }

  /** Returns whether the flag says that no page follows, after it was true on another page. */
  isLast({ hasMore }: Page): boolean {
    return hasMore === false && this.hasBeenTrue;
  }

  /** Returns whether all records that the response counts were received. A count of the records of one response shows nothing. */
  isTotal({ count }: Page, received: number): boolean {
    return this.countsAll && count === received;
  }
}

/** @throws `unprovable-source` if the last page says that another one follows. */
export function requireNoMore({ hasMore, url }: Page): void {
  if (hasMore === true) throw contradiction(`${url} says that another page follows ("hasMore"), but there is none.`);
}

export function contradiction(message: string): RekapError {
  return new RekapError(
    'unprovable-source',
    message,
    'Check "hasMore" in the declaration: it must be true on every page that another one follows, and false on the last.',
  );
}

export interface SignOfMore {
  /** A JSON pointer, or `Link` for the header. */
  readonly at: string;
  readonly what: string;
  readonly isFlag: boolean;
}

const flags =
  /^(hasmore|hasnext|hasnextpage|hasmoreitems|hasmoreresults|more|istruncated|truncated|exceededtransferlimit|incompleteresults)$/;
const lastFlags = /^(last|islast|islastpage|lastpage|done)$/;
const nextNames =
  /^next(page|records?|results?|set)?(link|url|uri|href|cursor|token|offset|start|marker|key|number|id)?$|^(continuationtoken|resumptiontoken)$/;
const totals =
  /^(total(s|count|elements|results|items|records|hits|rows|size|matched)?|count|numbermatched|numfound|numresults|recordstotal)$/;
const pageTotals = /^(pages|totalpages|pagecount|pagestotal|lastpage|numpages|numberofpages)$/;

/**
 * Returns the members that say that more records follow. `rekap probe` and `by: 'none'` use the same list.
 *
 * @param link Target of rel="next" in the header `Link`; null if there is none.
 */
export function signsOfMore(
  { envelope, records }: { readonly envelope: Page['envelope']; readonly records: { readonly length: number } },
  link: string | null,
): SignOfMore[] {
  const signs: SignOfMore[] =
    link === null ? [] : [{ at: 'Link', what: 'the header Link has rel="next"', isFlag: false }];
  for (const [at, value] of envelope) {
    const what = whatSaysMore(at, value, records.length, envelope);
    if (what !== null) signs.push({ at, what: `${at} ${what}`, isFlag: typeof value === 'boolean' });
  }
  return signs;
}

function whatSaysMore(at: string, value: EnvelopeValue, received: number, envelope: Page['envelope']): string | null {
  const path = at.split('/').slice(1);
  const [name = '', parent = ''] = path.toReversed().map((part) =>
    part
      .replace(/^@?odata\./i, '')
      .replaceAll(/[^a-z]/gi, '')
      .toLowerCase(),
  );
  if (value === true && flags.test(name)) return 'is true';
  if (value === false && lastFlags.test(name)) return 'is false';
  const isNamed =
    nextNames.test(name) || (nextNames.test(parent) && /^(href|url|link|uri|cursor|after|token)$/.test(name));
  const isRelation = name === 'href' && envelope.get(`${at.slice(0, -'href'.length)}rel`) === 'next';
  if (
    (isNamed || isRelation) &&
    (typeof value === 'string' || typeof value === 'number') &&
    !['', '0', 0].includes(value)
  )
    return 'names a next page';
  const total = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof total !== 'number' || received === 0) return null;
  if (totals.test(name) && total > received) return `is ${formatNumber(total)}`;
  return pageTotals.test(name) && total > 1 ? `is ${formatNumber(total)}` : null;
}
