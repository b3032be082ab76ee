/**
 * Recognizes well-known members beside the records, and headers, by their names: that more records follow, how many there are, and that the
 * source failed. `rekap probe`, the paging and the proof use the same lists.
 */

import type { EnvelopeValue, Page } from '../stages.ts';
import { formatNumber } from '../runtime/text.ts';

type Envelope = Page['envelope'];

export interface EnvelopeSign {
  /** A JSON pointer, or the name of a header. */
  readonly at: string;
  readonly what: string;
  readonly kind: 'flag' | 'next' | 'total' | 'pages';
}

const flags =
  /^(has(more|next|nextpage|moreitems|moreresults|morepages)|more(available|items|results)?|(is)?truncated|exceededtransferlimit)$/;
const lastFlags = /^((is)?last(page)?|done|endof(records|stream|results|list))$/;
const nextNames =
  /^(next(page|records?|results?|set|max)?(link|url|uri|href|cursor|cursormark|token|offset|start|marker|key|number|id)?|continuationtoken|resumptiontoken|lastevaluatedkey|scrollid|bookmark|moretopicsurl)$/;
/** Names that mean the next page in some services, and this one in others, so that only a text counts. */
const cursorNames = /^(cursor|after|marker|continue|offset)$/;
const totals =
  /^(total(s|count|elements|results|items|records|hits|rows|size|matched|entries|resultscount)?|count|found|nbhits|hitcount|estimatedtotalhits|numbermatched|numfound|numresults|records(total|filtered)|contentrange)$/;
const pageTotals = /^(pages|(total|num|nb)pages|pagecount|pagestotal|lastpage|numberofpages)$/;

/** Values of an error member that mean success. */
const harmless = new Set(['', '0', '200', 'null', 'false', 'none', 'no error', 'ok', 'success', 'successful']);

/** Headers that `Page.envelope` contains beside the members of the body. */
export const knownHeaders =
  /^(?:x-(?:wp-)?total[\w-]*|x-next-(?:page|cursor|token)|x-(?:ms-)?continuation-?token|x-has-(?:more|next)|content-range)$/;

/**
 * Returns the signs that more records follow.
 *
 * @param link Target of rel="next" in the header `Link`; null if there is none.
 */
export function signsOfMore(
  { envelope, records }: { readonly envelope: Envelope; readonly records: { readonly length: number } },
  link: string | null,
): EnvelopeSign[] {
  const found = [...envelope].flatMap(([at, value]) => signAt(at, value, records.length, envelope) ?? []);
  return link === null ? found : [{ at: 'Link', what: 'the header Link has rel="next"', kind: 'next' }, ...found];
}

/** Returns the totals of a list: numbers beside the records that count all of them. */
export function* totalsIn(envelope: Envelope): Generator<readonly [at: string, total: number]> {
  for (const [at, value] of envelope) {
    const { name, parent, depth } = namesOf(at);
    const isTotal = totals.test(name === 'value' ? parent : name) && name !== 'recordstotal';
    const total = totalOf(value);
    // A count further in may count something else.
    if (isTotal && total !== null && depth <= (name === 'count' || name === 'found' ? 1 : 3)) yield [at, total];
  }
}

function signAt(at: string, value: EnvelopeValue, received: number, envelope: Envelope): EnvelopeSign | null {
  const { name, parent } = namesOf(at);
  const text = String(value).toLowerCase();
  if (flags.test(name) && (text === 'true' || text === '1')) return { at, what: `${at} is ${text}`, kind: 'flag' };
  if (lastFlags.test(name) && text === 'false') return { at, what: `${at} is false`, kind: 'flag' };
  if (namesNext(at, value, envelope)) return { at, what: `${at} names a next page`, kind: 'next' };
  const total = totalOf(value);
  if (total === null || received === 0) return null;
  const what = `${at} is ${formatNumber(total)}`;
  if (totals.test(name === 'value' ? parent : name) && total > received) return { at, what, kind: 'total' };
  if (/^remaining(item)?(s|count)?$/.test(name) && total > 0) return { at, what, kind: 'total' };
  return pageTotals.test(name) && total > 1 ? { at, what, kind: 'pages' } : null;
}

function namesNext(at: string, value: EnvelopeValue, envelope: Envelope): boolean {
  if ((typeof value !== 'string' && typeof value !== 'number') || ['', '0', 0].includes(value)) return false;
  const { name, parent } = namesOf(at);
  if (nextNames.test(name)) return true;
  const isText = typeof value === 'string' && !/^\d+$/.test(value);
  if (isText && (cursorNames.test(name) || parent === 'continue')) return true;
  if (nextNames.test(parent)) return /^(href|url|link|uri|cursor|after|token|offset|start)$/.test(name);
  const folder = at.slice(0, at.lastIndexOf('/') + 1);
  return (
    /^(href|url)$/.test(name) && ['rel', 'relation'].some((relation) => envelope.get(folder + relation) === 'next')
  );
}

/** Returns what says that the source failed, although its status is 200; null if nothing does. */
export function faultIn({ envelope, records }: Pick<Page, 'envelope' | 'records'>): string | null {
  for (const [at, value] of envelope) {
    const { name, parent } = namesOf(at);
    const text = String(value).toLowerCase();
    const isPartial =
      (/^(incompleteresults|timedout)$/.test(name) && text === 'true') ||
      (name === 'failed' && parent === 'shards' && Number(value) > 0);
    const isError =
      records.length === 0 &&
      ((/\/(errors?|fault|exception|error_?(message|msg|code))(\/|$)/i.test(at) && !harmless.has(text)) ||
        (/^(success|ok)$/.test(name) && text === 'false') ||
        (name === 'status' && /^(error|fail|failed|failure)$/.test(text)));
    if (isPartial || isError) return `${at} is ${JSON.stringify(value)}`;
  }
  return null;
}

/** Returns whether a total is only a lower bound, as in Elasticsearch: its member `relation` is "gte". */
export function isLowerBound(envelope: Envelope, pointer: string): boolean {
  return envelope.get(`${pointer.slice(0, pointer.lastIndexOf('/'))}/relation`) === 'gte';
}

/** Returns the last two names of a place in lower-case letters, without prefixes such as `hydra:`, `@odata.` and `x-`. */
function namesOf(at: string): { readonly name: string; readonly parent: string; readonly depth: number } {
  const path = at.startsWith('/') ? at.split('/').slice(1) : [at.replace(/^x-(wp-|ms-)?/, '')];
  const [name = '', parent = ''] = path.toReversed().map((part) =>
    part
      .replace(/^.*:|^@?odata\./i, '')
      .replaceAll(/[^a-z]/gi, '')
      .toLowerCase(),
  );
  return { name, parent, depth: path.length };
}

/** Reads a number or digits; of `Content-Range`, the part behind the slash. */
function totalOf(value: EnvelopeValue): number | null {
  if (typeof value === 'number') return value;
  const digits = typeof value === 'string' ? /^(?:[\w ]*[\d*-]+\/)?(\d{1,15})$/.exec(value)?.[1] : undefined;
  return digits === undefined ? null : Number(digits);
}
