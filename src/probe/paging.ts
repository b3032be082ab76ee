/** Finds how a source pages: by a next link, a cursor, or a parameter that changes which records come. */

import { leavesOf, parseBody, type ProbedRecord, recordsIn } from './envelope.ts';
import {
  afterNames,
  areDisjoint,
  capOf,
  different,
  fetchLarge,
  fetchRecords,
  fetchRest,
  findSize,
  givenFirst,
  type FoundPaging,
  largeSize,
  positions,
  type ProbedList,
  startOf,
  targetOf,
} from './listing.ts';
import { signsOfMore } from '../source/envelope-signs.ts';
import { valuesOf } from '../source/response-reader.ts';
import { findNext, linkOf } from './next-page.ts';

export async function findPaging(list: ProbedList): Promise<FoundPaging> {
  const base = recordsIn(list.first.text, list.envelope);
  if (list.envelope.format === 'ndjson' && linkOf(list) === null)
    return { paging: { by: 'none' }, why: 'a dump with a record per line', guesses: [], cap: null, records: base };
  return (
    (await findNext(list, base)) ??
    (await findPosition(list, base)) ??
    (await findAfter(list, base)) ??
    (await assumeNone(list, base))
  );
}

/** Tries parameters that skip records or choose a page. */
async function findPosition(list: ProbedList, base: readonly ProbedRecord[]): Promise<FoundPaging | null> {
  // The service that has this flag has only one name of an offset.
  const tried = 'exceededTransferLimit' in Object(parseBody(list.first.text)?.value) ? positions.slice(-1) : positions;
  for (const [name, by] of givenFirst(tried, list, ([one]) => one)) {
    const value = by === 'offset' && base.length < 3 ? 1 : 2;
    const target = targetOf(list, { [name]: value });
    const records = await fetchRecords(list, target);
    if (records === null) {
      list.prober.note(target, `${name} is not a parameter`);
      continue;
    }
    const start = startOf(records, base);
    // An offset that counts from 1 starts at the second record.
    const moves = by === 'offset' && base.length > 1 ? start === 1 || start === value : areDisjoint(records, base);
    if (!moves) {
      list.prober.note(target, `${name} is ignored`);
      continue;
    }
    const place = `starts at the ${start === 2 ? 'third' : 'second'} record`;
    list.prober.note(target, by === 'offset' ? place : `${records.length} other records`);
    if (by === 'page') return describePages(list, base, name);
    const first = start === 1 && value === 2 ? 1 : 0;
    return describeOffset(list, base, { offset: name, first, why: `${name}=${value} ${place}` });
  }
  return null;
}

async function describeOffset(
  list: ProbedList,
  base: readonly ProbedRecord[],
  { offset, first, why }: { readonly offset: string; readonly first: 0 | 1; readonly why: string },
): Promise<FoundPaging> {
  const size = await findSize(list, base, 'offset');
  const limit = size ?? 'limit';
  const large = size === null ? [...base] : await fetchLarge(list, limit, base);
  const rest = await fetchRest(list, targetOf(list, { [limit]: largeSize, [offset]: large.length + first }));
  return {
    paging: { by: 'offset', limit, offset, ...(first === 1 && { first }) },
    why,
    guesses: size === null ? [`no response showed the name of the page size; "limit" is a guess`] : [],
    cap: capOf(limit, large, rest !== null && rest.length > 0),
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
    why: `${page}=2 returns other records${startsAtZero ? `, and so does ${page}=1, so the first page is 0` : ''}`,
    guesses: [],
    cap: size === null ? null : capOf(size, large, rest !== null && rest.length > 0),
    records: different([...base, ...large, ...(rest ?? [])]),
  };
}

/** Tries parameters for the record after which a page begins. Its ID is the first field with such a name. */
async function findAfter(list: ProbedList, base: readonly ProbedRecord[]): Promise<FoundPaging | null> {
  const [field, id] = Object.entries(base[0] ?? {}).find(([name]) => /^(.*_)?id$/i.test(name)) ?? [];
  if (field === undefined || base.length < 2 || (typeof id !== 'string' && typeof id !== 'number')) return null;
  for (const parameter of givenFirst(afterNames, list, (name) => name)) {
    const target = targetOf(list, { [parameter]: id });
    const records = (await fetchRecords(list, target)) ?? [];
    const moves = startOf(records, base) === 1;
    list.prober.note(target, moves ? 'starts at the second record' : `${parameter} is ignored`);
    if (!moves) continue;
    const size = await findSize(list, base, 'next');
    const large = size === null ? [...base] : await fetchLarge(list, size, base);
    const hasMore = flagOf(list);
    return {
      paging: { by: 'after', field, parameter, ...(size !== null && { size }), ...(hasMore !== null && { hasMore }) },
      why: `${parameter} with the ${field} of the first record starts at the second`,
      guesses: [],
      cap: null,
      records: different([...base, ...large, ...records]),
    };
  }
  return null;
}

/** Returns the JSON pointer to a flag that says whether more records follow; null if there is none. */
function flagOf(list: ProbedList): string | null {
  const leaves = [...leavesOf(parseBody(list.first.text)?.value, '', list.envelope.records)];
  return leaves.find(({ name, leaf }) => /^has_?more$/i.test(name) && typeof leaf === 'boolean')?.pointer ?? null;
}

/** A list without pages, unless a parameter changes its length, or the response says that more follows. */
async function assumeNone(list: ProbedList, base: readonly ProbedRecord[]): Promise<FoundPaging> {
  const size = await findSize(list, base, 'unknown');
  const leaves = leavesOf(parseBody(list.first.text)?.value, '', list.envelope.records);
  const envelope = new Map([
    ...[...leaves].map(({ pointer, leaf }) => [pointer, leaf] as const),
    ...valuesOf(list.first.headers),
  ]);
  const signs = signsOfMore({ envelope, records: base }, linkOf(list));
  const unproved = [
    ...(size === null ? [] : [`${size}=2 brought 2 records, so the list has pages, but no tried parameter turns them`]),
    ...signs.map(({ what }) => `${what}, so more records follow than the ${base.length} that came`),
  ];
  const isRound = base.length > 0 && (base.length % 10 === 0 || base.length % 25 === 0);
  const page = isRound ? [`${base.length} records came: this may be a page of a longer list`] : [];
  return {
    paging: unproved.length === 0 ? { by: 'none' } : null,
    why: 'no next link, and no parameter that was tried turns the page',
    guesses: unproved.length === 0 ? page : unproved,
    cap: null,
    records: base,
  };
}
