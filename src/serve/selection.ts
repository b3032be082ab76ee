/** Reads the parameters of a request to a data endpoint strictly, as the pipeline declares them. */

import type { AnyPipeline, Paging } from '../project/declaration.ts';
import { readField } from '../project/field-path.ts';
import { joinPartition, partitionParameters, splitPartition } from '../project/partition-list.ts';
import { defaultLimit, maxLimit, maxNumber } from './limits.ts';
import { Problem } from './problem.ts';
import type { RecordSet } from './record-source.ts';

export interface Selection {
  /** Null for all partitions. */
  readonly partition: string | null;
  readonly limit: number;
  readonly offset: number;
  /** The records of the partition, or of all. */
  readonly list: readonly string[];
}

/** A parameter of the query: a whole number in a range, or a text if it has no range. */
interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export interface Parameters {
  /** Together they name a partition. */
  readonly partition: readonly Parameter[];
  /** Page size. Null if the page size is fixed or the list has no pages. */
  readonly size: Parameter | null;
  /** Start of the page. Null if the list has no pages. */
  readonly position: Parameter | null;
  /** Parameters that the source requires and that have no effect here. */
  readonly fixed: readonly Parameter[];
}

/** The cursor for lists whose pages link to the next one. */
const ownCursor = 'after';

export function parametersOf(pipeline: AnyPipeline): Parameters {
  const { columns, paging, parameters = {}, incremental } = pipeline;
  const fixed = [...Object.keys(parameters), ...(incremental?.parameter === undefined ? [] : [incremental.parameter])];
  const size = paging.by === 'none' ? undefined : paging.by === 'offset' ? paging.limit : paging.size;
  return {
    partition: partitionParameters(pipeline).map(({ parameter, column }) => ({
      name: parameter,
      description: 'Partition to return records for. For a partition that does not exist, the response has no records.',
      ...(columns[column]!.kind === 'integer' && { minimum: 0, maximum: maxNumber }),
    })),
    size:
      size === undefined
        ? null
        : {
            name: size,
            description: 'Maximum number of records to return.',
            minimum: 1,
            maximum: maxLimit,
            default: defaultLimit,
          },
    position: positionOf(paging),
    fixed: fixed.map((name) => ({ name, description: 'Has no effect in this service.' })),
  };
}

export function listParameters({ partition, size, position, fixed }: Parameters): Parameter[] {
  return [...partition, size, position, ...fixed].flatMap((parameter) => parameter ?? []);
}

function positionOf(paging: Paging): Parameter | null {
  const range = (first: number) => ({ minimum: first, maximum: maxNumber, default: first });
  switch (paging.by) {
    case 'after':
      return { name: paging.parameter, description: `Value of ${paging.field} after which the page begins.` };
    case 'offset':
      return {
        name: paging.offset,
        description: 'Number of records to skip, for paging.',
        ...range(paging.first ?? 0),
      };
    case 'page':
      return { name: paging.page, description: 'Number of the page.', ...range(paging.first ?? 1) };
    case 'next': {
      const name = 'cursor' in paging ? paging.parameter : ownCursor;
      return { name, description: 'Cursor from the previous page.', ...range(0) };
    }
    case 'none':
      return null;
  }
}

/**
 * Reads a decoded query, in which a repeated name has an array. Refuses invalid values instead of correcting them.
 * @throws Problem 400 naming the parameter and its valid values, but never the value.
 */
export function readSelection(
  query: unknown,
  { paging }: AnyPipeline,
  parameters: Parameters,
  set: RecordSet,
): Selection {
  const { size, position } = parameters;
  const known = listParameters(parameters).map(({ name }) => name);
  const values = (query ?? {}) as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(values).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const parameter = unknown.slice(0, 40);
    const detail = `Unknown parameter ${JSON.stringify(parameter)}. The parameters are ${known.join(', ')}.`;
    throw new Problem(400, detail, { parameter });
  }
  const whole = position === null ? Number.MAX_SAFE_INTEGER : defaultLimit;
  const limit = Number(readValue(values, size) ?? whole);
  const given = readValue(values, position);
  const partition = readPartition(values, parameters.partition);
  const list = partition === null ? set.records : (set.byPartition.get(partition) ?? []);
  const offset =
    paging.by === 'after'
      ? placeAfter(paging, given, list)
      : offsetOf(paging, Number(given ?? position?.default ?? 0), limit);
  return { partition, limit, offset, list };
}

/** Returns the partition that the parameters name; null without them. @throws Problem 400 if only some are given. */
function readPartition(values: Readonly<Record<string, unknown>>, parameters: readonly Parameter[]): string | null {
  const given = parameters.flatMap((parameter) => readValue(values, parameter) ?? []);
  if (given.length === 0) return null;
  if (given.length === parameters.length) return joinPartition(given);
  const names = parameters.map(({ name }) => name);
  throw new Problem(400, `Send ${names.join(' and ')} together, or none of them.`, { parameter: names[0]! });
}

function offsetOf(paging: Paging, at: number, limit: number): number {
  if (paging.by === 'offset') return at - (paging.first ?? 0);
  if (paging.by !== 'page') return at;
  const pages = at - (paging.first ?? 1);
  return paging.step === 'size' ? pages : pages * limit;
}

/** Places of records by the value of the field of the paging `after`, for each list. */
const placesAfter = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

/** Returns the offset of the record after the one with a value; 0 without a value. @throws Problem 400 if no record has it. */
function placeAfter(
  { field, parameter }: Extract<Paging, { by: 'after' }>,
  value: string | undefined,
  list: readonly string[],
): number {
  if (value === undefined) return 0;
  const places =
    placesAfter.get(list) ??
    new Map(list.map((text, index) => [String(readField(JSON.parse(text), field)), index] as const));
  placesAfter.set(list, places);
  const place = places.get(value);
  if (place === undefined) throw new Problem(400, `No record has this value of ${parameter}.`, { parameter });
  return place + 1;
}

/** Returns a text as it is, and a number without leading zeros. */
function readValue(values: Readonly<Record<string, unknown>>, parameter: Parameter | null): string | undefined {
  if (parameter === null) return undefined;
  const { name, minimum, maximum } = parameter;
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (Array.isArray(value))
    throw new Problem(400, `The parameter ${name} is repeated. Send it once.`, { parameter: name });
  if (typeof value !== 'string') return undefined;
  if (minimum === undefined || maximum === undefined) return value;
  const number = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= minimum && number <= maximum) return String(number);
  const detail = `${name} must be a whole number from ${minimum} to ${maximum}, written in plain digits.`;
  throw new Problem(400, detail, { parameter: name });
}

/** Returns the cursor or URL of the next page. Null on the last page, or if the list isn't chained. */
export function nextOf(
  pipeline: AnyPipeline,
  { partition, limit, offset }: Selection,
  { size, partition: parameters }: Parameters,
  hasMore: boolean,
): string | null {
  const { path, paging } = pipeline;
  if (paging.by !== 'next' || !hasMore) return null;
  const cursor = String(offset + limit);
  if ('cursor' in paging) return cursor;
  const query = new URLSearchParams({
    ...(partition !== null &&
      Object.fromEntries(splitPartition(pipeline, partition).map((value, place) => [parameters[place]!.name, value]))),
    ...(size !== null && { [size.name]: String(limit) }),
    [ownCursor]: cursor,
  });
  return `${path}?${query.toString()}`;
}
