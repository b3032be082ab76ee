/** Answers a data endpoint: a selection of a record set in the documented envelope. */

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../pipeline.ts';
import { isNotModified } from './conditional.ts';
import { pieceBytes } from './limits.ts';
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
    return sendEnvelope(reply.header('content-type', jsonType), select(set, selection));
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

/** Sends the envelope of `records`, a large one in pieces: each is made when the client has taken the one before. */
function sendEnvelope(reply: FastifyReply, records: readonly string[]): FastifyReply {
  const bytes = records.reduce((sum, record) => sum + Buffer.byteLength(record), 0);
  if (bytes <= pieceBytes || records.length === 1) return reply.send(writeEnvelope(records));
  const others = writeEnvelope(records.map(() => '')).length;
  return reply.header('content-length', bytes + others).send(Readable.from(cutEnvelope(records)));
}

/** The same text as `writeEnvelope` gives for several records. */
function* cutEnvelope(records: readonly string[]): Generator<string> {
  let piece = `{"count":${records.length},"data":[`;
  for (const [index, record] of records.entries()) {
    if (piece.length >= pieceBytes) {
      yield piece;
      piece = '';
    }
    piece += index === 0 ? record : `,${record}`;
  }
  yield `${piece}]}`;
}

/** The selection is part of the tag: the default of limit may change when the service is restarted, without any record changing. */
function writeEtag(set: RecordSet, { district, limit, offset }: Selection): string {
  return `"${set.etag}-${district ?? 'all'}-${limit}-${offset}"`;
}
