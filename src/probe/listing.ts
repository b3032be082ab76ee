/** The list that a probe reads, and the requests that try its parameters. */

import type { Paging } from '../project/declaration.ts';
import { emptyStatuses } from '../source/source-messages.ts';
import { type Envelope, type ProbedRecord, recordsIn } from './envelope.ts';
import type { ProbeResponse, Prober } from './prober.ts';

export interface FoundPaging {
  /** Null if the list has pages, but nothing that was tried turns them. */
  readonly paging: Paging | null;
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
  readonly first: ProbeResponse;
  /** Parameters of the URL that page the list. They are tried first. */
  readonly given: ReadonlySet<string>;
}

/** Sorts the names of the given URL first. */
export function givenFirst<Item>(
  items: readonly Item[],
  { given }: Pick<ProbedList, 'given'>,
  nameOf: (item: Item) => string,
): Item[] {
  return items.toSorted((a, b) => Number(given.has(nameOf(b))) - Number(given.has(nameOf(a))));
}

export const positions = [
  ['offset', 'offset'],
  ['page', 'page'],
  ['$offset', 'offset'],
  ['$skip', 'offset'],
  ['page[number]', 'page'],
  ['skip', 'offset'],
  ['start', 'offset'],
  ['pageNumber', 'page'],
  ['resultOffset', 'offset'],
] as const;
/** Names of the parameter for the record after which a page begins. */
export const afterNames = ['starting_after', 'after', 'since_id', 'after_id'] as const;
const sizes = {
  offset: ['limit', '$limit', '$top', 'size', 'max', 'rows', 'count', 'resultRecordCount'],
  page: ['per_page', 'page_size', 'pageSize', 'limit', 'size', 'page[size]'],
  next: ['limit', 'per_page', 'page_size', 'pageSize', 'size', 'page[size]'],
  unknown: ['limit', 'per_page', '$limit', 'page_size'],
};
/** Names that position a page or set its size. They aren't part of the declaration of a list. */
export const pagingNames: ReadonlySet<string> = new Set([
  ...positions.map(([name]) => name),
  ...Object.values(sizes).flat(),
  ...afterNames,
  'cursor',
]);

export const largeSize = 1000;

export function targetOf(
  { path, fixed }: Pick<ProbedList, 'path' | 'fixed'>,
  more: Readonly<Record<string, unknown>>,
): string {
  const query = new URLSearchParams(Object.fromEntries(fixed));
  for (const [name, value] of Object.entries(more)) query.set(name, String(value));
  const text = query.toString().replaceAll('%24', '$').replaceAll('%5B', '[').replaceAll('%5D', ']');
  return text === '' ? path : `${path}?${text}`;
}

export async function fetchRecords(list: ProbedList, target: string): Promise<ProbedRecord[] | null> {
  const response = await list.prober.get(target);
  if (response === null) return null;
  if (emptyStatuses.has(response.status)) return [];
  return response.status === 200 ? recordsIn(response.text, list.envelope) : null;
}

export function capOf(name: string, large: readonly ProbedRecord[], hasMore: boolean): FoundPaging['cap'] {
  if (large.length >= largeSize || !hasMore) return null;
  return { size: large.length, why: `${name}=${largeSize} brought ${large.length} records, and more follow` };
}

export async function fetchLarge(
  list: ProbedList,
  name: string,
  base: readonly ProbedRecord[],
): Promise<readonly ProbedRecord[]> {
  return (await fetchRest(list, targetOf(list, { [name]: largeSize }))) ?? base;
}

export async function fetchRest(list: ProbedList, target: string): Promise<ProbedRecord[] | null> {
  const records = await fetchRecords(list, target);
  list.prober.note(target, records === null ? 'refused' : `${records.length} records`);
  return records;
}

/** Returns the name of the parameter for the page size; null if no tried one has an effect. */
export async function findSize(
  list: ProbedList,
  base: readonly ProbedRecord[],
  by: keyof typeof sizes,
): Promise<string | null> {
  if (base.length < 2) return null;
  const wanted = base.length === 2 ? 1 : 2;
  for (const name of givenFirst(sizes[by], list, (one) => one)) {
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

function texts(records: readonly ProbedRecord[]): string[] {
  return records.map((record) => JSON.stringify(record));
}

export function different(records: readonly ProbedRecord[]): ProbedRecord[] {
  return [...new Map(records.map((record) => [JSON.stringify(record), record])).values()];
}

/** Returns whether a page has no record of the first page. An empty page counts. */
export function areDisjoint(page: readonly ProbedRecord[], base: readonly ProbedRecord[]): boolean {
  const first = new Set(texts(base));
  return base.length > 0 && !texts(page).some((text) => first.has(text));
}

/** Returns the position in `base` where a page begins: 0 for the first record, -1 if it begins elsewhere. */
export function startOf(page: readonly ProbedRecord[], base: readonly ProbedRecord[]): number {
  return page.length === 0 ? -1 : texts(base).indexOf(JSON.stringify(page[0]));
}
