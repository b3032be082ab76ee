/** The list that a probe reads, and the requests that try its parameters. */

import type { Paging } from '../project/declaration.ts';
import { emptyStatuses } from '../source/source-messages.ts';
import { type Envelope, leavesOf, parseBody, type ProbedRecord, recordsIn } from './envelope.ts';
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

/** `guesses` and `cap` default to none. */
export type Found = Pick<FoundPaging, 'paging' | 'why' | 'records'> & Partial<FoundPaging>;

interface ListPlace {
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

export type ProbedList = ReturnType<typeof openList>;

/** Returns a list with the records of its first response, and the requests that try its parameters. */
export function openList(place: ListPlace) {
  const { prober, path, envelope, first, given } = place;
  const base: readonly ProbedRecord[] = recordsIn(first.text, envelope);
  const document = parseBody(first.text)?.value;
  const note = (target: string, text: string): void => prober.note(target, text);

  function targetOf(more: Readonly<Record<string, unknown>>, fixed = place.fixed): string {
    const query = new URLSearchParams(Object.fromEntries(fixed));
    for (const [name, value] of Object.entries(more)) query.set(name, String(value));
    const text = query.toString().replaceAll('%24', '$').replaceAll('%5B', '[').replaceAll('%5D', ']');
    return text === '' ? path : `${path}?${text}`;
  }

  function recordsOf(response: ProbeResponse | null): ProbedRecord[] {
    return response?.status === 200 ? recordsIn(response.text, envelope) : [];
  }

  async function fetchRecords(target: string): Promise<ProbedRecord[] | null> {
    const response = await prober.get(target);
    const isList = response !== null && (response.status === 200 || emptyStatuses.has(response.status));
    return isList ? recordsOf(response) : null;
  }

  async function fetchRest(target: string): Promise<ProbedRecord[] | null> {
    const records = await fetchRecords(target);
    note(target, records === null ? 'refused' : `${records.length} records`);
    return records;
  }

  /** Sorts the names of the given URL first. */
  function givenFirst<Item>(items: readonly Item[], nameOf: (item: Item) => string): Item[] {
    return items.toSorted((a, b) => Number(given.has(nameOf(b))) - Number(given.has(nameOf(a))));
  }

  /** Returns the name of the parameter for the page size; null if no tried one has an effect. */
  async function findSize(by: keyof typeof sizes): Promise<string | null> {
    if (base.length < 2) return null;
    const wanted = base.length === 2 ? 1 : 2;
    for (const name of givenFirst(sizes[by], (one) => one)) {
      const target = targetOf({ [name]: wanted });
      const records = await fetchRecords(target);
      if (records?.length === wanted) {
        note(target, `${wanted} records: ${name} is the page size`);
        return name;
      }
      note(target, records === null ? `${name} is not a parameter` : `${name} is ignored`);
    }
    return null;
  }

  /** Finds the page size, and returns the records of a large page with it; otherwise those of the first response. */
  async function findLarge(by: keyof typeof sizes) {
    const size = await findSize(by);
    const large = size === null ? null : await fetchRest(targetOf({ [size]: largeSize }));
    return { size, large: large ?? base };
  }

  const leaves = [...leavesOf(document, '', envelope.records)];
  const requests = { note, targetOf, recordsOf, fetchRecords, fetchRest, givenFirst, findSize, findLarge };
  return { ...place, ...requests, base, document, leaves };
}

export function capOf(name: string, large: readonly ProbedRecord[], hasMore: boolean): FoundPaging['cap'] {
  if (large.length >= largeSize || !hasMore) return null;
  return { size: large.length, why: `${name}=${largeSize} brought ${large.length} records, and more follow` };
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
