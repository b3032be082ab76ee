/** Finds a link or a cursor that names the next page. */

import type { Paging } from '../project/declaration.ts';
import { nextOfLink } from '../source/response-reader.ts';
import { headerText } from '../source/source-messages.ts';
import { leavesOf, parseBody, type ProbedRecord, readPointer } from './envelope.ts';
import {
  areDisjoint,
  different,
  fetchLarge,
  fetchRecords,
  findSize,
  type FoundPaging,
  largeSize,
  type ProbedList,
  targetOf,
} from './listing.ts';
import type { Answer } from './prober.ts';

/** Looks for a link or a cursor, and follows it once. */
export async function findNext(list: ProbedList, base: readonly ProbedRecord[]): Promise<FoundPaging | null> {
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

export function linkOf({ first }: ProbedList): string | null {
  return nextOfLink(headerText(first.headers['link']));
}
