/** Answers a data endpoint: a selection of a record set in the documented envelope. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../pipeline.ts';
import { isNotModified } from './conditional.ts';
import { parametersOf, readSelection, type Selection } from './parameters.ts';
import type { RecordSet, RecordSource } from './record-source.ts';

export const jsonType = 'application/json; charset=utf-8';

/** The handler of a pipeline's endpoint, for GET and HEAD alike: Node leaves out the body of an answer to HEAD. */
export function answerData(pipeline: AnyPipeline, source: RecordSource, maxLimit: number) {
  const parameters = parametersOf(pipeline, maxLimit);
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const selection = readSelection(request.query, parameters);
    const set = source.current(pipeline);
    const etag = writeEtag(set, selection);
    reply.headers({
      etag,
      'last-modified': set.lastModified.toUTCString(),
      // Only the client itself may keep a copy, because the answer is behind a key; it asks each time whether it still holds.
      'cache-control': 'private, no-cache',
    });
    if (isNotModified(request.headers, { etag, lastModified: set.lastModified })) return reply.code(304).send();
    return reply.header('content-type', jsonType).send(writeEnvelope(select(set, selection)));
  };
}

/** The records that a selection names; none for a district that does not exist. */
function select(set: RecordSet, { district, limit, offset }: Selection): readonly string[] {
  const records = district === null ? set.records : (set.byDistrict.get(district) ?? []);
  return records.slice(offset, offset + limit);
}

/**
 * `{count, data}` with the records of this answer: one record by itself, as service.md documents it, several as an array,
 * none as an empty array. The records are JSON text already, so they are joined and not written again.
 */
export function writeEnvelope(records: readonly string[], count = records.length): string {
  const data = records.length === 1 ? records[0] : `[${records.join(',')}]`;
  return `{"count":${count},"data":${data}}`;
}

/** The selection is part of the tag: the default of limit may change when the service is restarted, without any record changing. */
function writeEtag(set: RecordSet, { district, limit, offset }: Selection): string {
  return `"${set.etag}-${district ?? 'all'}-${limit}-${offset}"`;
}
