/** Finds where the records of a response are, and the number of records that it reports. */

import { escapePointer, readPointer } from '../project/field-path.ts';
import type { EnvelopeValue } from '../stages.ts';

export type ProbedRecord = Readonly<Record<string, unknown>>;

export interface Envelope {
  readonly format: 'json' | 'ndjson';
  /** JSON pointer to the records. */
  readonly records: string;
  readonly why: string;
  readonly reportedCount?: { readonly pointer: string; readonly value: number };
}

/** Members of these names can contain the records, or a single record instead of an array. */
const listNames = /^(data|results?|items|records|rows|content|values?|list|features|entries|hits)$/i;
const countNames = /count|total|matched|hits|num_?results/i;
const maxDepth = 3;

/** Parses a body as JSON, or as one JSON record per line. Returns null if it is neither. */
export function parseBody(text: string): { readonly format: Envelope['format']; readonly value: unknown } | null {
  const body = text.replace(/^\uFEFF/, '').trim();
  const whole = parse(body);
  if (whole !== undefined) return { format: 'json', value: whole };
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  const values = lines.map(parse);
  return lines.length > 1 && values.every(isObject) ? { format: 'ndjson', value: values } : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns null if the response has no records, such as an empty list. */
export function findEnvelope({ format, value }: NonNullable<ReturnType<typeof parseBody>>): Envelope | null {
  if (format === 'ndjson')
    return { format, records: '', why: `${(value as unknown[]).length} lines with a record each` };
  const found = [...listsIn(value, '', 0)].toSorted((a, b) => b.size - a.size || a.records.length - b.records.length);
  const best = found[0];
  if (best === undefined) return null;
  const reportedCount = findCount(value, best);
  return { format, records: best.records, why: best.why, ...(reportedCount !== undefined && { reportedCount }) };
}

interface FoundList {
  readonly records: string;
  readonly size: number;
  readonly why: string;
}

function* listsIn(value: unknown, pointer: string, depth: number): Generator<FoundList> {
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every(isObject))
      yield { records: pointer, size: value.length, why: `an array of ${value.length} records` };
    // Some services return an array of metadata and records.
    else if (value.length <= maxDepth)
      for (const [at, member] of value.entries()) yield* listsIn(member, `${pointer}/${at}`, depth + 1);
    return;
  }
  if (!isObject(value) || depth > maxDepth) return;
  const members = Object.entries(value);
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  if (members.length > 1 && members.every(([, member]) => isObject(member) && haveSameFields(member, members[0]![1])))
    yield { records: pointer, size: members.length, why: `an object of ${members.length} records by key` };
  else if (listNames.test(name) && members.some(([, member]) => !isObject(member) && !Array.isArray(member)))
    yield { records: pointer, size: 1, why: 'one record without an array' };
  for (const [key, member] of members) yield* listsIn(member, `${pointer}/${escapePointer(key)}`, depth + 1);
}

function haveSameFields(a: unknown, b: unknown): boolean {
  return Object.keys(a as object).join() === Object.keys(b as object).join();
}

function findCount(value: unknown, { records, size }: FoundList): Envelope['reportedCount'] {
  for (const { pointer, name, leaf } of leavesOf(value, '', records)) {
    const count = typeof leaf === 'string' && /^\d{1,15}$/.test(leaf) ? Number(leaf) : leaf;
    if (countNames.test(name) && typeof count === 'number' && Number.isInteger(count) && count >= size)
      return { pointer, value: count };
  }
  return undefined;
}

/** Returns the values of a response outside its records that are not objects or arrays. */
export function* leavesOf(
  value: unknown,
  pointer: string,
  records: string,
): Generator<{ readonly pointer: string; readonly name: string; readonly leaf: EnvelopeValue }> {
  if (pointer === records || pointer.split('/').length > maxDepth + 1) return;
  for (const [name, member] of Object.entries(value ?? {}) as [string, EnvelopeValue | object][]) {
    const path = `${pointer}/${escapePointer(name)}`;
    if (typeof member === 'object' && member !== null) yield* leavesOf(member, path, records);
    else yield { pointer: path, name, leaf: member };
  }
}

/** Returns the records of a response at a place; none if the place is missing. */
export function recordsIn(text: string, { records, format }: Pick<Envelope, 'records' | 'format'>): ProbedRecord[] {
  const parsed = parseBody(text);
  if (parsed === null) return [];
  // A single line of NDJSON parses as JSON.
  if (format === 'ndjson') return (Array.isArray(parsed.value) ? parsed.value : [parsed.value]).filter(isObject);
  const value = readPointer(parsed.value, records);
  if (Array.isArray(value)) return value.filter(isObject);
  if (!isObject(value)) return [];
  const members = Object.values(value);
  return members.length > 0 && members.every(isObject) ? members : [value];
}

export function isObject(value: unknown): value is ProbedRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
