/** Finds a link or a cursor that names the next page. */

import type { Paging } from '../project/declaration.ts';
import { nextOfLink, valuesOf } from '../source/response-reader.ts';
import { headerOf, nextPointer, nextRelation, readPointer } from '../project/field-path.ts';
import { parseBody, type ProbedRecord } from './envelope.ts';
import { areDisjoint, capOf, different, type Found, largeSize, type ProbedList } from './listing.ts';
import type { ProbeResponse } from './prober.ts';

/** Pages to follow, so that kinds and keys are guessed from more records. */
const maxFollowed = 3;

type NextPaging = Extract<Paging, { by: 'next' }>;
type Candidate = readonly [NextPaging, why: string];

/** Looks for a link or a cursor, and follows it. */
export async function findNext(list: ProbedList): Promise<Found | null> {
  const named = list.leaves.filter(({ name }) => /next|cursor|after|continu|token/i.test(name));
  const candidates: Candidate[] = [
    [{ by: 'next', link: true }, 'the header Link has rel="next"'],
    ...named.flatMap(({ pointer, leaf }) => candidatesOf(pointer, leaf)),
    ...linkListsOf(list),
    ...[...valuesOf(list.first.headers)].flatMap(([header, value]) => cursorsOf({ header }, header, value)),
  ];
  for (const [paging, why] of candidates) {
    const followed = await follow(list, paging);
    if (followed.length > 0) return withSize(list, [...list.base, ...followed], paging, why);
  }
  return null;
}

function candidatesOf(pointer: string, leaf: unknown): Candidate[] {
  if ((typeof leaf !== 'string' && typeof leaf !== 'number') || leaf === '') return [];
  if (/^(https?:\/\/|\/|\?)/.test(String(leaf)))
    return [[{ by: 'next', url: pointer }, `${pointer} is the URL of the next page`]];
  return cursorsOf(pointer, pointer.slice(pointer.lastIndexOf('/') + 1), leaf);
}

/** Lists of links that have one with rel="next". */
function linkListsOf({ leaves }: ProbedList): Candidate[] {
  return leaves.flatMap(({ pointer, name, leaf }): Candidate[] => {
    const place = pointer.split('/').slice(0, -2).join('/');
    const isNext = name === 'rel' && leaf === 'next';
    return isNext ? [[{ by: 'next', url: { rel: 'next', in: place } }, `a link in ${place} has rel="next"`]] : [];
  });
}

function cursorsOf(cursor: string | { readonly header: string }, name: string, value: unknown): Candidate[] {
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

/** Returns the records of the next pages; none if there is no next page, or it has no records, or the same ones. */
async function follow(list: ProbedList, paging: NextPaging): Promise<ProbedRecord[]> {
  const followed: ProbedRecord[] = [];
  let response: ProbeResponse | null = list.first;
  for (let page = 1; page <= maxFollowed; page += 1) {
    const target: string | null = response === null ? null : nextTarget(list, response, paging);
    if (target === null) break;
    response = await list.prober.get(target);
    const records = list.recordsOf(response);
    const isNext = records.length > 0 && areDisjoint(records, [...list.base, ...followed]);
    list.note(target, isNext ? `${records.length} other records: the next page` : 'not the next page');
    if (!isNext) break;
    followed.push(...records);
  }
  return followed;
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
  if ('cursor' in paging) return list.targetOf({ [paging.parameter]: next });
  const base = list.origin + list.path;
  const url = URL.canParse(String(next), base) ? new URL(String(next), base) : null;
  return url?.origin === list.origin ? url.pathname + url.search : null;
}

async function withSize(
  list: ProbedList,
  records: readonly ProbedRecord[],
  paging: NextPaging,
  why: string,
): Promise<Found> {
  const { size, large } = await list.findLarge('next');
  if (size === null) return { paging, why, records: different(records) };
  const response = await list.prober.get(list.targetOf({ [size]: largeSize }));
  return {
    paging: { ...paging, size },
    why,
    cap: capOf(size, large, response !== null && nextTarget(list, response, paging) !== null),
    records: different([...records, ...large]),
  };
}

export function linkOf({ first }: ProbedList): string | null {
  return nextOfLink(first.headers['link']);
}
