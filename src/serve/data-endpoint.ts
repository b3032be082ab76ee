/** A data endpoint: reads the query strictly, selects records from memory, and answers them in the documented envelope. */

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../pipeline.ts';
import { defaultLimit, maxNumber, pieceBytes } from './limits.ts';
import { Problem } from './problem.ts';
import type { RecordSource } from './record-source.ts';

export const jsonType = 'application/json; charset=utf-8';

/** What a request asks for. */
export interface Selection {
  /** Null for all districts. */
  readonly district: number | null;
  readonly limit: number;
  readonly offset: number;
}

/** The query parameters of a pipeline's endpoint; the document at /openapi.json is written from the same list. */
export function parametersOf({ districtParameter }: AnyPipeline, maxLimit: number) {
  return {
    district: {
      name: districtParameter,
      minimum: 0,
      maximum: maxNumber,
      default: undefined,
      description:
        'Electoral district to return records for. For a district that does not exist, the response has no records.',
    },
    limit: {
      name: 'limit',
      minimum: 1,
      maximum: maxLimit,
      default: Math.min(defaultLimit, maxLimit),
      description: 'Maximum number of records to return.',
    },
    offset: {
      name: 'offset',
      minimum: 0,
      maximum: maxNumber,
      default: 0,
      description: 'Number of records to skip, for paging.',
    },
  };
}

type Parameters = ReturnType<typeof parametersOf>;

/**
 * Reads the decoded query of a request, in which a name that occurs more than once holds an array. It guesses, caps and
 * ignores nothing.
 *
 * @throws Problem 400 that names the parameter and says what is allowed; it never repeats the value.
 */
export function readSelection(query: unknown, { district, limit, offset }: Parameters): Selection {
  const given = new Map<string, unknown>(Object.entries(query ?? {}));
  const names = [district.name, limit.name, offset.name];
  const unknown = [...given.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const parameter = unknown.slice(0, 40);
    const detail = `Unknown parameter ${JSON.stringify(parameter)}. The parameters are ${names.join(', ')}.`;
    throw new Problem(400, detail, { parameter });
  }
  return {
    district: readNumber(given, district) ?? null,
    limit: readNumber(given, limit) ?? limit.default,
    offset: readNumber(given, offset) ?? offset.default,
  };
}

function readNumber(given: ReadonlyMap<string, unknown>, parameter: Parameters['district' | 'limit']) {
  const { name, minimum, maximum } = parameter;
  const value = given.get(name);
  if (value === undefined) return undefined;
  if (Array.isArray(value))
    throw new Problem(400, `The parameter ${name} is repeated. Send it once.`, { parameter: name });
  const number = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  throw new Problem(400, `${name} must be a whole number from ${minimum} to ${maximum}, written in plain digits.`, {
    parameter: name,
  });
}

/** The handler of a pipeline's endpoint, for GET and HEAD alike: Node leaves out the body of an answer to HEAD. */
export function answerData(pipeline: AnyPipeline, source: RecordSource, maxLimit: number) {
  const parameters = parametersOf(pipeline, maxLimit);
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { district, limit, offset } = readSelection(request.query, parameters);
    const set = source.current(pipeline);
    // The selection is part of the tag, because the default of limit can change without any record changing.
    const etag = `"${set.etag}-${district ?? 'all'}-${limit}-${offset}"`;
    reply.headers({
      etag,
      'last-modified': set.lastModified.toUTCString(),
      // Only the client itself may keep a copy, because the answer is behind a key; it asks each time whether it still holds.
      'cache-control': 'private, no-cache',
    });
    // A proxy that compressed an answer may have put W/ before the tag.
    const known = request.headers['if-none-match'];
    if (known === '*' || known?.includes(etag) === true) return reply.code(304).send();
    const records = district === null ? set.records : (set.byDistrict.get(district) ?? []);
    return sendEnvelope(reply.header('content-type', jsonType), records.slice(offset, offset + limit));
  };
}

/**
 * `{count, data}` with the records of an answer: one record by itself, as service.md documents it, several as an array,
 * none as an empty array. The records are JSON text already, so they are joined and not written again.
 */
export function writeEnvelope(records: readonly string[], count = records.length): string {
  return [...cutEnvelope(records, count)].join('');
}

/** Sends the envelope of `records`, a large one in pieces: each is made when the client has taken the one before. */
function sendEnvelope(reply: FastifyReply, records: readonly string[]): FastifyReply {
  const bytes = records.reduce((sum, record) => sum + Buffer.byteLength(record), 0);
  if (bytes <= pieceBytes || records.length === 1) return reply.send(writeEnvelope(records));
  const others = writeEnvelope(records.map(() => '')).length;
  return reply.header('content-length', bytes + others).send(Readable.from(cutEnvelope(records, records.length)));
}

function* cutEnvelope(records: readonly string[], count: number): Generator<string> {
  const [open, close] = records.length === 1 ? ['', ''] : ['[', ']'];
  let piece = `{"count":${count},"data":${open}`;
  for (const [index, record] of records.entries()) {
    if (piece.length >= pieceBytes) {
      yield piece;
      piece = '';
    }
    piece += index === 0 ? record : `,${record}`;
  }
  yield `${piece}${close}}`;
}
