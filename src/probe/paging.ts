/** Finds how a source pages: by a next link, a cursor, or a parameter that changes which records come. */

import type { Paging } from '../project/declaration.ts';
import { nextOfLink } from '../source/response-reader.ts';
import { emptyStatuses, headerText } from '../source/source-messages.ts';
import { type Envelope, leavesOf, parseBody, type ProbedRecord, readPointer, recordsIn } from './envelope.ts';
import type { Answer, Prober } from './prober.ts';

export interface FoundPaging {
  readonly paging: Paging;
  readonly why: string;
  /** Parts that no response confirmed. */
  readonly guesses: readonly string[];
  /** Most records of a page, if fewer came than requested and more follow. */
  readonly cap: { readonly size: number; readonly why: string } | null;
  /** All different records that the pages contained. */
  readonly records: readonly ProbedRecord[];
}

export interface ProbedList {
  readonly prober: Prober;
  readonly origin: string;
  readonly path: string;
  /** Parameters of every request. */
  readonly fixed: ReadonlyMap<string, string>;
  readonly envelope: Envelope;
  readonly first: Answer;
}

const positions = [
  ['offset', 'offset'],
  ['page', 'page'],
  ['skip', 'offset'],
  ['start', 'offset'],
  ['page_number', 'page'],
  ['pageNumber', 'page'],
  ['$skip', 'offset'],
  ['startIndex', 'offset'],
] as const;
const sizes = {
  offset: ['limit', 'max', 'size', 'count', 'rows', 'per_page', '$top'],
  page: ['per_page', 'page_size', 'pageSize', 'limit', 'size', 'count'],
  next: ['limit', 'size', 'per_page', 'page_size', 'pageSize', 'first'],
};
/** Names that position a page or set its size. They are no part of the declaration of a list. */
export const pagingNames: ReadonlySet<string> = new Set([
  ...positions.map(([name]) => name),
  ...Object.values(sizes).flat(),
  'cursor',
]);

const largeSize = 1000;

export function targetOf(
  { path, fixed }: Pick<ProbedList, 'path' | 'fixed'>,
  more: Readonly<Record<string, unknown>>,
): string {
  const query = new URLSearchParams(Object.fromEntries(fixed));
  for (const [name, value] of Object.entries(more)) query.set(name, String(value));
  const text = query.toString().replaceAll('%24', '$');
  return text === '' ? path : `${path}?${text}`;
}

export async function findPaging(list: ProbedList): Promise<FoundPaging> {
  const base = recordsIn(list.first.text, list.envelope);
  if (list.envelope.format === 'ndjson' && linkOf(list) === null)
    return { paging: { by: 'none' }, why: 'a dump with a record per line', guesses: [], cap: null, records: base };
  return (await findNext(list, base)) ?? (await findPosition(list, base)) ?? (await assumeNone(list, base));
}

function linkOf({ first }: ProbedList): string | null {
  return nextOfLink(headerText(first.headers['link']));
}

async function fetchRecords(list: ProbedList, target: string): Promise<ProbedRecord[] | null> {
  const answer = await list.prober.get(target);
  if (answer === null) return null;
  if (emptyStatuses.has(answer.status)) return [];
  return answer.status === 200 ? recordsIn(answer.text, list.envelope) : null;
}

/** Looks for a link or a cursor, and follows it once. */
async function findNext(list: ProbedList, base: readonly ProbedRecord[]): Promise<FoundPaging | null> {
  const link = linkOf(list);
  if (link !== null && (await leadsOn(list, base, link)) !== null)
    return withSize(list, base, { by: 'next', link: true }, 'the header Link has rel="next"');
  const document = parseBody(list.first.text)?.value;
  const leaves = [...leavesOf(document, '', list.envelope.records)].filter(({ name }) =>
    /next|cursor|after|continu|token/i.test(name),
  );
  for (const { pointer, leaf } of leaves) {
    if (typeof leaf !== 'string' && typeof leaf !== 'number') continue;
    const text = String(leaf);
    if (/^(https?:\/\/|\/|\?)/.test(text)) {
      if ((await leadsOn(list, base, text)) !== null)
        return withSize(list, base, { by: 'next', url: pointer }, `${pointer} is the URL of the next page`);
      continue;
    }
    if (text === '') continue;
    const name = pointer.slice(pointer.lastIndexOf('/') + 1);
    const short = name.replace(/^next_?/i, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase());
    for (const parameter of new Set(
      ['cursor', short, name, 'after', 'page_token', 'pageToken'].filter((one) => one !== ''),
    )) {
      const target = targetOf(list, { [parameter]: text });
      const records = await fetchRecords(list, target);
      if (records === null || !areDisjoint(records, base)) {
        list.prober.note(target, `${parameter} does not move the page`);
        continue;
      }
      list.prober.note(target, `${records.length} other records: the next page`);
      return withSize(
        list,
        base,
        { by: 'next', cursor: pointer, parameter },
        `${parameter} with the value of ${pointer} brings the next page`,
      );
    }
  }
  return null;
}

async function leadsOn(list: ProbedList, base: readonly ProbedRecord[], next: string): Promise<string | null> {
  const url = new URL(next, list.origin + list.path);
  if (url.origin !== list.origin) return null;
  const target = url.pathname + url.search;
  const records = await fetchRecords(list, target);
  if (records === null || !areDisjoint(records, base)) return null;
  list.prober.note(target, `${records.length} other records: the next page`);
  return target;
}

type NextPaging = Extract<Paging, { by: 'next' }>;

async function withSize(
  list: ProbedList,
  base: readonly ProbedRecord[],
  paging: NextPaging,
  why: string,
): Promise<FoundPaging> {
  const size = await findSize(list, base, 'next');
  const found = { ...paging, ...(size !== null && { size }) } as NextPaging;
  if (size === null) return { paging: found, why, guesses: [], cap: null, records: base };
  const large = await fetchLarge(list, size, base);
  const answer = await list.prober.get(targetOf(list, { [size]: largeSize }));
  const hasMore = answer !== null && large.length < largeSize && namesNext(answer, paging);
  return {
    paging: found,
    why,
    guesses: [],
    cap: hasMore
      ? { size: large.length, why: `${size}=${largeSize} brought ${large.length} records, and more follow` }
      : null,
    records: different([...base, ...large]),
  };
}

function namesNext({ headers, text }: Answer, paging: NextPaging): boolean {
  if ('link' in paging) return nextOfLink(headerText(headers['link'])) !== null;
  const next = readPointer(parseBody(text)?.value, 'url' in paging ? paging.url : paging.cursor);
  return next !== null && next !== undefined && next !== '';
}

/** Tries parameters that skip records or choose a page. */
async function findPosition(list: ProbedList, base: readonly ProbedRecord[]): Promise<FoundPaging | null> {
  for (const [name, by] of positions) {
    const target = targetOf(list, { [name]: by === 'offset' ? 1 : 2 });
    const records = await fetchRecords(list, target);
    if (records === null) {
      list.prober.note(target, `${name} is not a parameter`);
      continue;
    }
    const moves = by === 'offset' ? isShifted(records, base) : areDisjoint(records, base);
    if (!moves) {
      list.prober.note(target, `${name} is ignored`);
      continue;
    }
    list.prober.note(target, by === 'offset' ? 'starts at the second record' : `${records.length} other records`);
    return by === 'offset' ? describeOffset(list, base, name) : describePages(list, base, name);
  }
  return null;
}

async function describeOffset(list: ProbedList, base: readonly ProbedRecord[], offset: string): Promise<FoundPaging> {
  const size = await findSize(list, base, 'offset');
  const limit = size ?? 'limit';
  const large = size === null ? [...base] : await fetchLarge(list, limit, base);
  const rest = await fetchRest(list, targetOf(list, { [limit]: largeSize, [offset]: large.length }));
  return {
    paging: { by: 'offset', limit, offset },
    why: `${offset}=1 starts at the second record`,
    guesses: size === null ? [`no response showed the name of the page size; "limit" is a guess`] : [],
    cap: capOf(limit, large, rest),
    records: different([...base, ...large, ...(rest ?? [])]),
  };
}

async function describePages(list: ProbedList, base: readonly ProbedRecord[], page: string): Promise<FoundPaging> {
  const one = await fetchRecords(list, targetOf(list, { [page]: 1 }));
  const startsAtZero = one !== null && areDisjoint(one, base);
  list.prober.note(
    targetOf(list, { [page]: 1 }),
    startsAtZero ? 'other records: the first page is 0' : 'the first page',
  );
  const size = await findSize(list, base, 'page');
  const large = size === null ? [...base] : await fetchLarge(list, size, base);
  const second = { [page]: startsAtZero ? 1 : 2 };
  const target = targetOf(list, size === null ? second : { ...second, [size]: largeSize });
  const rest = await fetchRest(list, target);
  return {
    paging: {
      by: 'page',
      page,
      ...(size !== null && { size }),
      ...(startsAtZero && { first: 0 as const }),
    },
    why: `${page}=2 brings other records${startsAtZero ? `, and so does ${page}=1, so the first page is 0` : ''}`,
    guesses: [],
    cap: size === null ? null : capOf(size, large, rest),
    records: different([...base, ...large, ...(rest ?? [])]),
  };
}

function capOf(name: string, large: readonly ProbedRecord[], rest: readonly ProbedRecord[] | null): FoundPaging['cap'] {
  if (large.length >= largeSize || rest === null || rest.length === 0) return null;
  return { size: large.length, why: `${name}=${largeSize} brought ${large.length} records, and more follow` };
}

async function fetchLarge(
  list: ProbedList,
  name: string,
  base: readonly ProbedRecord[],
): Promise<readonly ProbedRecord[]> {
  const target = targetOf(list, { [name]: largeSize });
  const records = (await fetchRecords(list, target)) ?? base;
  list.prober.note(target, `${records.length} records`);
  return records;
}

async function fetchRest(list: ProbedList, target: string): Promise<ProbedRecord[] | null> {
  const records = await fetchRecords(list, target);
  list.prober.note(target, records === null ? 'refused' : `${records.length} records`);
  return records;
}

/** Returns the name of the parameter for the page size; null if no tried one has an effect. */
async function findSize(
  list: ProbedList,
  base: readonly ProbedRecord[],
  by: keyof typeof sizes,
): Promise<string | null> {
  if (base.length < 2) return null;
  const wanted = base.length === 2 ? 1 : 2;
  for (const name of sizes[by]) {
    const target = targetOf(list, { [name]: wanted });
    const records = await fetchRecords(list, target);
    if (records?.length === wanted) {
      list.prober.note(target, `${wanted} records: ${name} is the page size`);
      return name;
    }
    list.prober.note(target, records === null ? `${name} is not a parameter` : `${name} is ignored`);
  }
  return null;
}

/** A list without pages. A round number of records may be a page that no tried parameter turned. */
async function assumeNone({ envelope }: ProbedList, base: readonly ProbedRecord[]): Promise<FoundPaging> {
  const reported = envelope.reportedCount?.value;
  const isCut = reported === undefined ? base.length % 10 === 0 : reported > base.length;
  const told = reported === undefined ? '' : `, and the response reports ${reported}`;
  return {
    paging: { by: 'none' },
    why: 'no next link, and no parameter that was tried turns the page',
    guesses: isCut ? [`${base.length} records came${told}: the source may page in another way`] : [],
    cap: null,
    records: base,
  };
}

function texts(records: readonly ProbedRecord[]): string[] {
  return records.map((record) => JSON.stringify(record));
}

function different(records: readonly ProbedRecord[]): ProbedRecord[] {
  return [...new Map(records.map((record) => [JSON.stringify(record), record])).values()];
}

/** Returns whether a page has no record of the first page. An empty page counts. */
function areDisjoint(page: readonly ProbedRecord[], base: readonly ProbedRecord[]): boolean {
  const known = new Set(texts(base));
  return base.length > 0 && !texts(page).some((text) => known.has(text));
}

function isShifted(page: readonly ProbedRecord[], base: readonly ProbedRecord[]): boolean {
  if (base.length < 2) return areDisjoint(page, base);
  const [moved, still] = [texts(page), texts(base)];
  return moved[0] === still[1] && moved[0] !== still[0];
}
