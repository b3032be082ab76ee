/** Finds how a source pages: by a next link, a cursor, or a parameter that changes which records come. */

import {
  areDisjoint,
  capOf,
  different,
  type Found,
  type FoundPaging,
  largeSize,
  positions,
  afterNames,
  type ProbedList,
  startOf,
} from './listing.ts';
import { signsOfMore } from '../source/envelope-signs.ts';
import { valuesOf } from '../source/response-reader.ts';
import { findNext, linkOf } from './next-page.ts';

export async function findPaging(list: ProbedList): Promise<FoundPaging> {
  const isDump = list.envelope.format === 'ndjson' && linkOf(list) === null;
  const dump: Found = { paging: { by: 'none' }, why: 'a dump with a record per line', records: list.base };
  const found = isDump
    ? dump
    : ((await findNext(list)) ?? (await findPosition(list)) ?? (await findAfter(list)) ?? (await assumeNone(list)));
  return { guesses: [], cap: null, ...found };
}

/** Tries parameters that skip records or choose a page. */
async function findPosition(list: ProbedList): Promise<Found | null> {
  const { base, note } = list;
  // The service that has this flag has only one name of an offset.
  const tried = 'exceededTransferLimit' in Object(list.document) ? positions.slice(-1) : positions;
  for (const [name, by] of list.givenFirst(tried, ([one]) => one)) {
    const value = by === 'offset' && base.length < 3 ? 1 : 2;
    const target = list.targetOf({ [name]: value });
    const records = await list.fetchRecords(target);
    if (records === null) {
      note(target, `${name} is not a parameter`);
      continue;
    }
    const start = startOf(records, base);
    // An offset that counts from 1 starts at the second record.
    const moves = by === 'offset' && base.length > 1 ? start === 1 || start === value : areDisjoint(records, base);
    if (!moves) {
      note(target, `${name} is ignored`);
      continue;
    }
    const place = `starts at the ${start === 2 ? 'third' : 'second'} record`;
    note(target, by === 'offset' ? place : `${records.length} other records`);
    if (by === 'page') return describePages(list, name);
    return describeOffset(list, name, start === 1 && value === 2 ? 1 : 0, `${name}=${value} ${place}`);
  }
  return null;
}

async function describeOffset(list: ProbedList, offset: string, first: 0 | 1, why: string): Promise<Found> {
  const { size, large } = await list.findLarge('offset');
  const limit = size ?? 'limit';
  const rest = (await list.fetchRest(list.targetOf({ [limit]: largeSize, [offset]: large.length + first }))) ?? [];
  return {
    paging: { by: 'offset', limit, offset, ...(first === 1 && { first }) },
    why,
    guesses: size === null ? [`no response showed the name of the page size; "limit" is a guess`] : [],
    cap: capOf(limit, large, rest.length > 0),
    records: different([...list.base, ...large, ...rest]),
  };
}

async function describePages(list: ProbedList, page: string): Promise<Found> {
  const target = list.targetOf({ [page]: 1 });
  const one = await list.fetchRecords(target);
  const startsAtZero = one !== null && areDisjoint(one, list.base);
  list.note(target, startsAtZero ? 'other records: the first page is 0' : 'the first page');
  const { size, large } = await list.findLarge('page');
  const second = { [page]: startsAtZero ? 1 : 2, ...(size !== null && { [size]: largeSize }) };
  const rest = (await list.fetchRest(list.targetOf(second))) ?? [];
  return {
    paging: { by: 'page', page, ...(size !== null && { size }), ...(startsAtZero && { first: 0 as const }) },
    why: `${page}=2 returns other records${startsAtZero ? `, and so does ${page}=1, so the first page is 0` : ''}`,
    cap: size === null ? null : capOf(size, large, rest.length > 0),
    records: different([...list.base, ...large, ...rest]),
  };
}

/** Tries parameters for the record after which a page begins. Its ID is the first field with such a name. */
async function findAfter(list: ProbedList): Promise<Found | null> {
  const { base } = list;
  const [field, id] = Object.entries(base[0] ?? {}).find(([name]) => /^(.*_)?id$/i.test(name)) ?? [];
  if (field === undefined || base.length < 2 || (typeof id !== 'string' && typeof id !== 'number')) return null;
  for (const parameter of list.givenFirst(afterNames, (name) => name)) {
    const target = list.targetOf({ [parameter]: id });
    const records = (await list.fetchRecords(target)) ?? [];
    const moves = startOf(records, base) === 1;
    list.note(target, moves ? 'starts at the second record' : `${parameter} is ignored`);
    if (!moves) continue;
    const { size, large } = await list.findLarge('next');
    // Says whether more records follow.
    const flag = list.leaves.find(({ name, leaf }) => /^has_?more$/i.test(name) && typeof leaf === 'boolean');
    const declared = { ...(size !== null && { size }), ...(flag !== undefined && { hasMore: flag.pointer }) };
    return {
      paging: { by: 'after', field, parameter, ...declared },
      why: `${parameter} with the ${field} of the first record starts at the second`,
      records: different([...base, ...large, ...records]),
    };
  }
  return null;
}

/** A list without pages, unless a parameter changes its length, or the response says that more follows. */
async function assumeNone(list: ProbedList): Promise<Found> {
  const { base, leaves, first } = list;
  const size = await list.findSize('unknown');
  const values = leaves.map(({ pointer, leaf }) => [pointer, leaf] as const);
  const signs = signsOfMore(
    { envelope: new Map([...values, ...valuesOf(first.headers)]), records: base },
    linkOf(list),
  );
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
    records: base,
  };
}
