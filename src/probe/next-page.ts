/** Finds a link or a cursor that names the next page. */

import type { Paging } from '../project/declaration.ts';
import { nextOfLink, valuesOf } from '../source/response-reader.ts';
import { headerOf, nextPointer, nextRelation, readPointer } from '../project/field-path.ts';
import { leavesOf, parseBody, type ProbedRecord, recordsIn } from './envelope.ts';
import {
  areDisjoint,
  capOf,
  different,
  fetchLarge,
  findSize,
  type FoundPaging,
  largeSize,
  type ProbedList,
  targetOf,
} from './listing.ts';
import type { ProbeResponse } from './prober.ts';

/** Pages to follow, so that kinds and keys are guessed from more records. */
const maxFollowed = 3;

type NextPaging = Extract<Paging, { by: 'next' }>;

/** Looks for a link or a cursor, and follows it. */
export async function findNext(list: ProbedList, base: readonly ProbedRecord[]): Promise<FoundPaging | null> {
  const document = parseBody(list.first.text)?.value;
  const leaves = [...leavesOf(document, '', list.envelope.records)].filter(({ name }) =>
    /next|cursor|after|continu|token/i.test(name),
  );
  const candidates: (readonly [NextPaging, why: string])[] = [
    [{ by: 'next', link: true }, 'the header Link has rel="next"'],
    ...leaves.flatMap(({ pointer, leaf }) => candidatesOf(pointer, leaf)),
    ...linkListsOf(document, list.envelope.records),
    ...[...valuesOf(list.first.headers)].flatMap(([header, value]) => cursorsOf({ header }, header, value)),
  ];
  for (const [paging, why] of candidates) {
    const followed = await follow(list, base, paging);
    if (followed !== null) return withSize(list, [...base, ...followed], paging, why);
  }
  return null;
}

function candidatesOf(pointer: string, leaf: unknown): (readonly [NextPaging, why: string])[] {
  if ((typeof leaf !== 'string' && typeof leaf !== 'number') || leaf === '') return [];
  if (/^(https?:\/\/|\/|\?)/.test(String(leaf)))
    return [[{ by: 'next', url: pointer }, `${pointer} is the URL of the next page`]];
  return cursorsOf(pointer, pointer.slice(pointer.lastIndexOf('/') + 1), leaf);
}

/** Lists of links that have one with rel="next". */
function* linkListsOf(document: unknown, records: string): Generator<readonly [NextPaging, why: string]> {
  for (const { pointer, name, leaf } of leavesOf(document, '', records))
    if (name === 'rel' && leaf === 'next') {
      const place = pointer.split('/').slice(0, -2).join('/');
      yield [{ by: 'next', url: { rel: 'next', in: place } }, `a link in ${place} has rel="next"`];
    }
}

function cursorsOf(
  cursor: string | { readonly header: string },
  name: string,
  value: unknown,
): (readonly [NextPaging, why: string])[] {
  if (typeof cursor !== 'string' && (!/next|continuation/.test(name) || value === '')) return [];
  const plain = name.replace(/^x-/, '');
  const short = plain.replace(/^next[_-]?/i, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  const at = typeof cursor === 'string' ? cursor : `the header ${name}`;
  const parameters = new Set(['cursor', short, plain, 'after', 'page_token', 'pageToken'].filter((one) => one !== ''));
  return [...parameters].map((parameter) => [
    { by: 'next', cursor, parameter },
    `${parameter} with the value of ${at} returns the next page`,
  ]);
}

/** Returns the records of the next pages; null if there is no next page, or it has no records, or the same ones. */
async function follow(
  list: ProbedList,
  base: readonly ProbedRecord[],
  paging: NextPaging,
): Promise<ProbedRecord[] | null> {
  const followed: ProbedRecord[] = [];
  let response: ProbeResponse | null = list.first;
  for (let page = 1; page <= maxFollowed; page += 1) {
    const target: string | null = response === null ? null : nextTarget(list, response, paging);
    if (target === null) break;
    response = await list.prober.get(target);
    const records = response?.status === 200 ? recordsIn(response.text, list.envelope) : [];
    const isNext = records.length > 0 && areDisjoint(records, [...base, ...followed]);
    list.prober.note(target, isNext ? `${records.length} other records: the next page` : 'not the next page');
    if (!isNext) break;
    followed.push(...records);
  }
  return followed.length === 0 ? null : followed;
}

/** Returns the target of the next page on the same host; null on the last page. */
function nextTarget(list: ProbedList, { headers, text }: ProbeResponse, paging: NextPaging): string | null {
  const header = headerOf(paging);
  const found = header === null ? readPointer(parseBody(text)?.value, nextPointer(paging)!) : headers[header];
  const relation = nextRelation(paging);
  const links =
    relation === null ? [] : Object.values((found ?? {}) as Record<string, Readonly<Record<string, unknown>>>);
  const named = relation === null ? found : links.find(({ rel }) => rel === relation)?.['href'];
  const next = header === 'link' ? nextOfLink(headers['link']) : named;
  if ((typeof next !== 'string' && typeof next !== 'number') || next === '') return null;
  if ('cursor' in paging) return targetOf(list, { [paging.parameter]: next });
  const url = URL.canParse(String(next), list.origin + list.path)
    ? new URL(String(next), list.origin + list.path)
    : null;
  return url?.origin === list.origin ? url.pathname + url.search : null;
}

async function withSize(
  list: ProbedList,
  records: readonly ProbedRecord[],
  paging: NextPaging,
  why: string,
): Promise<FoundPaging> {
  const first = recordsIn(list.first.text, list.envelope);
  const size = await findSize(list, first, 'next');
  const found = { ...paging, ...(size !== null && { size }) } as NextPaging;
  if (size === null) return { paging: found, why, guesses: [], cap: null, records: different(records) };
  const large = await fetchLarge(list, size, first);
  const response = await list.prober.get(targetOf(list, { [size]: largeSize }));
  return {
    paging: found,
    why,
    guesses: [],
    cap: capOf(size, large, response !== null && nextTarget(list, response, paging) !== null),
    records: different([...records, ...large]),
  };
}

export function linkOf({ first }: ProbedList): string | null {
  return nextOfLink(first.headers['link']);
}
