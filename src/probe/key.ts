/** Finds columns that identify a record, and filters that split a list into partitions. */

import type { ProbedColumn } from './columns.ts';
import { type FoundPaging, largeSize, type ProbedList, pagingNames } from './listing.ts';
import { readField } from '../project/field-path.ts';

export interface KeyCandidate {
  readonly columns: readonly string[];
  /** Number of different values. */
  readonly different: number;
}

const kinds: ReadonlySet<string> = new Set(['text', 'integer', 'count', 'date', 'timestamp']);
const idName = /(^|_)(id|uuid|guid|key|code|kode|no|nr|number|sku|slug)($|_)/;
const maxColumns = 8;
const maxKeyLength = 3;
const shown = 5;

/**
 * Returns candidates, the best first: unique ones with the likeliest columns. If the first isn't unique, no combination of up to three
 * columns is.
 */
export function findKeys(columns: readonly ProbedColumn[], partition: string | null): KeyCandidate[] {
  const usable = columns
    .filter(({ definition, values }) => kinds.has(definition.kind) && !values.includes(null))
    .toSorted((a, b) => rankOf(a, partition) - rankOf(b, partition))
    .slice(0, maxColumns);
  const rows = columns[0]?.values.length ?? 0;
  const candidates: (KeyCandidate & { readonly rank: number })[] = [];
  for (let length = 1; length <= Math.min(maxKeyLength, usable.length); length += 1) {
    for (const chosen of combinations(usable, length)) {
      if (partition !== null && !chosen.some(({ name }) => name === partition)) continue;
      const names = chosen.map(({ name }) => name);
      const unique = candidates.filter(({ different }) => different === rows);
      if (unique.some((shorter) => shorter.columns.every((name) => names.includes(name)))) continue;
      const keys = new Set(chosen[0]!.values.map((_, row) => JSON.stringify(chosen.map(({ values }) => values[row]))));
      const rank = Math.max(...chosen.map((column) => rankOf(column, partition)));
      candidates.push({ columns: names, different: keys.size, rank });
    }
    // A day or a measure that differs in every record seen may not differ in the others.
    if (candidates.some(({ different, rank }) => different === rows && rank <= textRank)) break;
  }
  return candidates
    .toSorted(
      (a, b) =>
        Number(b.different === rows) - Number(a.different === rows) ||
        (a.different === rows ? a.rank - b.rank || a.columns.length - b.columns.length : b.different - a.different),
    )
    .slice(0, shown)
    .map(({ rank: _rank, ...candidate }) => candidate);
}

const textRank = 2;

/** Identifiers first, then whole numbers, texts, times, and measures last. */
function rankOf({ name, definition: { kind } }: ProbedColumn, partition: string | null): number {
  if (name === partition) return -1;
  if (idName.test(name)) return 0;
  return { integer: 1, text: textRank, date: 3, timestamp: 3 }[kind as string] ?? 4;
}

function* combinations<Item>(items: readonly Item[], length: number): Generator<Item[]> {
  if (length === 0) return yield [];
  for (const [place, item] of items.entries())
    for (const rest of combinations(items.slice(place + 1), length - 1)) yield [item, ...rest];
}

export interface FoundPartition {
  readonly parameter: string;
  readonly column: string;
  readonly why: string;
}

const maxTries = 3;

/**
 * Finds a parameter of the URL, or one with the name of a field, that selects the records with its value. The same records without the
 * parameter show that the source ignores it.
 */
export async function findPartition(
  list: ProbedList,
  columns: readonly ProbedColumn[],
  { records, paging }: FoundPaging,
): Promise<FoundPartition | null> {
  const size =
    paging === null || paging.by === 'none' ? undefined : paging.by === 'offset' ? paging.limit : paging.size;
  for (const [parameter, value] of list.fixed) {
    const column = columns.find(({ values }) => records.length > 0 && values.every((own) => own === value));
    if (column === undefined || !isFilter(column)) continue;
    const others = new Map([...list.fixed].filter(([name]) => name !== parameter));
    const target = list.targetOf(size === undefined ? {} : { [size]: largeSize }, others);
    const response = await list.prober.get(target);
    const isRequired = response !== null && [400, 404, 422].includes(response.status);
    const found = list.recordsOf(response);
    const selects = isRequired || found.some((record) => String(readField(record, column.definition.field)) !== value);
    list.note(target, selects ? `other records without ${parameter}: it is a filter` : `${parameter} does not filter`);
    if (selects)
      return { parameter, column: column.name, why: `only with ${parameter}=${value} do all records have this value` };
  }
  const split = columns.filter((column) => isFilter(column) && isSplitting(column)).slice(0, maxTries);
  for (const { name, definition, values } of split) {
    const { field } = definition;
    if (!/^[\w.-]+$/.test(field) || pagingNames.has(field)) continue;
    // A value that the first record doesn't have, so that the first page without the filter has other records.
    const value = values.findLast((one) => one !== values[0])!;
    const target = list.targetOf({ [field]: value });
    const response = await list.prober.get(target);
    if (response === null) return null;
    const found = list.recordsOf(response);
    const isFiltered = found.length > 0 && found.every((record) => String(readField(record, field)) === value);
    list.note(target, isFiltered ? `only records with ${value}: ${field} is a filter` : `${field} does not filter`);
    if (isFiltered)
      return { parameter: field, column: name, why: `${field}=${value} returns only records with this value` };
  }
  return null;
}

function isFilter({ definition: { kind }, values }: ProbedColumn): boolean {
  return (kind === 'text' || kind === 'integer') && !values.includes(null);
}

/** At least two values, each with at least two records on average. */
function isSplitting({ values }: ProbedColumn): boolean {
  const different = new Set(values).size;
  return different > 1 && different * 2 <= values.length;
}
