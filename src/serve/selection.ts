/** Reads the parameters of a request to a data endpoint strictly, as the pipeline declares them. */

import type { AnyPipeline, Paging } from '../project/declaration.ts';
import { defaultLimit, maxLimit, maxNumber } from './limits.ts';
import { Problem } from './problem.ts';

export interface Selection {
  /** Null for all partitions. */
  readonly partition: string | null;
  readonly limit: number;
  readonly offset: number;
}

interface NumberParameter {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number | undefined;
  readonly description: string;
}

interface TextParameter {
  readonly name: string;
  readonly description: string;
}

export interface Parameters {
  readonly partition: NumberParameter | TextParameter | null;
  /** Page size. Null if the page size is fixed or the list has no pages. */
  readonly size: NumberParameter | null;
  /** Start of the page. Null if the list has no pages. */
  readonly position: NumberParameter | null;
  /** Parameters that the source requires and that have no effect here. */
  readonly fixed: readonly TextParameter[];
}

/** The cursor for lists whose pages link to the next one. */
const ownCursor = 'after';

export function parametersOf(pipeline: AnyPipeline): Parameters {
  const { partition, columns, paging, parameters = {} } = pipeline;
  const size = sizeName(paging);
  return {
    partition:
      partition === undefined
        ? null
        : columns[partition.column]!.kind === 'integer'
          ? { name: partition.parameter, minimum: 0, maximum: maxNumber, default: undefined, description: filterText }
          : { name: partition.parameter, description: filterText },
    size:
      size === undefined
        ? null
        : {
            name: size,
            minimum: 1,
            maximum: maxLimit,
            default: defaultLimit,
            description: 'Maximum number of records to return.',
          },
    position: positionOf(paging),
    fixed: Object.keys(parameters).map((name) => ({ name, description: 'Has no effect in this service.' })),
  };
}

const filterText = 'Partition to return records for. For a partition that does not exist, the response has no records.';

function sizeName(paging: Paging): string | undefined {
  if (paging.by === 'none') return undefined;
  return paging.by === 'offset' ? paging.limit : paging.size;
}

function positionOf(paging: Paging): NumberParameter | null {
  const bounds = { maximum: maxNumber, minimum: 0, default: 0 };
  switch (paging.by) {
    case 'offset':
      return { ...bounds, name: paging.offset, description: 'Number of records to skip, for paging.' };
    case 'page': {
      const { first = 1 } = paging;
      return { ...bounds, name: paging.page, minimum: first, default: first, description: 'Number of the page.' };
    }
    case 'next':
      return {
        ...bounds,
        name: 'cursor' in paging ? paging.parameter : ownCursor,
        description: 'Cursor from the previous page.',
      };
    case 'none':
      return null;
  }
}

/**
 * Reads a decoded query, in which a repeated name has an array. Refuses invalid values instead of correcting them.
 * @throws Problem 400 naming the parameter and its valid values, but never the value.
 */
export function readSelection(query: unknown, { paging }: AnyPipeline, parameters: Parameters): Selection {
  const { partition, size, position, fixed } = parameters;
  const values = new Map<string, unknown>(Object.entries(query ?? {}));
  const names = [partition, size, position, ...fixed].flatMap((parameter) => parameter?.name ?? []);
  const unknown = [...values.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const parameter = unknown.slice(0, 40);
    const detail = `Unknown parameter ${JSON.stringify(parameter)}. The parameters are ${names.join(', ')}.`;
    throw new Problem(400, detail, { parameter });
  }
  const limit = size === null ? undefined : (readNumber(values, size) ?? size.default);
  const at = position === null ? 0 : (readNumber(values, position) ?? position.default!);
  const length = limit ?? (position === null ? Number.MAX_SAFE_INTEGER : defaultLimit);
  return {
    partition: partition === null ? null : readPartition(values, partition),
    limit: length,
    offset: paging.by === 'page' ? (at - (paging.first ?? 1)) * length : at,
  };
}

function readPartition(
  values: ReadonlyMap<string, unknown>,
  parameter: NumberParameter | TextParameter,
): string | null {
  if ('minimum' in parameter) {
    const number = readNumber(values, parameter);
    return number === undefined ? null : String(number);
  }
  return readOnce(values, parameter) ?? null;
}

function readOnce(values: ReadonlyMap<string, unknown>, { name }: TextParameter): string | undefined {
  const value = values.get(name);
  if (Array.isArray(value))
    throw new Problem(400, `The parameter ${name} is repeated. Send it once.`, { parameter: name });
  return typeof value === 'string' ? value : undefined;
}

function readNumber(values: ReadonlyMap<string, unknown>, parameter: NumberParameter): number | undefined {
  const { name, minimum, maximum } = parameter;
  const value = readOnce(values, parameter);
  if (value === undefined) return undefined;
  const number = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  throw new Problem(400, `${name} must be a whole number from ${minimum} to ${maximum}, written in plain digits.`, {
    parameter: name,
  });
}

/** Returns the cursor or URL of the next page. Null on the last page, or if the list isn't chained. */
export function nextOf(
  { path, paging, partition: declared }: AnyPipeline,
  { partition, limit, offset }: Selection,
  { size }: Parameters,
  hasMore: boolean,
): string | null {
  if (paging.by !== 'next' || !hasMore) return null;
  const cursor = String(offset + limit);
  if ('cursor' in paging) return cursor;
  const query = new URLSearchParams({
    ...(partition !== null && { [declared!.parameter]: partition }),
    ...(size !== null && { [size.name]: String(limit) }),
    [ownCursor]: cursor,
  });
  return `${path}?${query.toString()}`;
}
