/** Reads the query parameters of a data endpoint, strictly: nothing is guessed, capped or ignored. */

import type { AnyPipeline } from '../pipeline.ts';
import { defaultLimit, maxNumber } from './limits.ts';
import { Problem } from './problem.ts';

/** What a request asks for. */
export interface Selection {
  /** Null for all districts. */
  readonly district: number | null;
  readonly limit: number;
  readonly offset: number;
}

/** One query parameter: the numbers it may take and what stands in for it when it is absent. */
export interface Parameter {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number | null;
  readonly description: string;
}

/** The parameters of a pipeline's endpoint; the document at /openapi.json is written from the same list. */
export function parametersOf(pipeline: AnyPipeline, maxLimit: number) {
  return {
    district: {
      name: pipeline.districtParameter,
      minimum: 0,
      maximum: maxNumber,
      default: null,
      description: 'Restricts the answer to one electoral district; a district that does not exist has no records.',
    },
    limit: {
      name: 'limit',
      minimum: 1,
      maximum: maxLimit,
      default: Math.min(defaultLimit, maxLimit),
      description: 'Number of records to return at most.',
    },
    offset: {
      name: 'offset',
      minimum: 0,
      maximum: maxNumber,
      default: 0,
      description: 'Number of records to pass over, for paging.',
    },
  } as const satisfies Record<string, Parameter>;
}

/** Longest piece of a client's own text that is sent back to it. */
const longestEcho = 40;

/**
 * Reads the decoded query of a request, in which a name that occurs more than once holds an array.
 *
 * @throws Problem 400 that names the parameter and says what is allowed; it never repeats the value.
 */
export function readSelection(query: unknown, parameters: ReturnType<typeof parametersOf>): Selection {
  const given = new Map<string, unknown>(Object.entries(query ?? {}));
  const known = Object.values(parameters);
  for (const name of given.keys()) {
    if (known.some((parameter) => parameter.name === name)) continue;
    const shown = name.length > longestEcho ? `${name.slice(0, longestEcho)}…` : name;
    throw new Problem(
      400,
      `There is no parameter ${JSON.stringify(shown)}; there are ${known.map((parameter) => parameter.name).join(', ')}.`,
      { parameter: shown },
    );
  }
  return {
    district: readNumber(given, parameters.district),
    limit: readNumber(given, parameters.limit),
    offset: readNumber(given, parameters.offset),
  };
}

function readNumber<Default extends number | null>(
  given: ReadonlyMap<string, unknown>,
  parameter: Parameter & { readonly default: Default },
): number | Default {
  const { name, minimum, maximum } = parameter;
  const value = given.get(name);
  if (value === undefined) return parameter.default;
  if (Array.isArray(value)) throw new Problem(400, `${name} may be given only once.`, { parameter: name });
  if (typeof value === 'string' && /^[0-9]+$/.test(value)) {
    const number = Number(value);
    if (number >= minimum && number <= maximum) return number;
  }
  throw new Problem(400, `${name} must be a whole number from ${minimum} to ${maximum}, written in plain digits.`, {
    parameter: name,
  });
}
