/** Serves a data endpoint: selects records in memory, and writes them in the format that the pipeline declares. */

import { writeTable } from '../source/decode/tables.ts';
import { pipeline as connect, Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../project/declaration.ts';
import { headerOf, nameField, pointerPath, writeMember } from '../project/field-path.ts';
import { shapeOf } from '../source/decode/document-shape.ts';
import { compressedFrom, pagesKept, pieceBytes } from './limits.ts';
import type { RecordSource } from './record-source.ts';
import { nextOf, parametersOf, readSelection } from './selection.ts';

export const jsonType = 'application/json; charset=utf-8';

export function typeOf({ format }: AnyPipeline): string {
  if (format === 'csv') return 'text/csv; charset=utf-8';
  return format === 'json' || format === 'rows' ? jsonType : 'application/x-ndjson; charset=utf-8';
}

/** Returns the handler of a pipeline's endpoint for GET and HEAD. Node omits the body for HEAD. */
export function handleData(pipeline: AnyPipeline, source: RecordSource) {
  const parameters = parametersOf(pipeline);
  // By tag, which names the records and the selection, and by encoding. Writing a page takes longer than everything else in a request.
  const pages = new Map<string, Buffer>();
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const set = source.current(pipeline);
    const selection = readSelection(request.query, pipeline, parameters, set);
    const { partition, limit, offset, list } = selection;
    // The selection is part of the tag, because the default of limit can change without any record changing.
    const etag = `"${set.etag}-${encodeURIComponent(partition ?? 'all')}-${limit}-${offset}"`;
    reply.headers({
      etag,
      'last-modified': set.lastModified.toUTCString(),
      // Only the client may cache a response that requires a key. It must revalidate each time.
      'cache-control': 'private, no-cache',
      vary: 'accept-encoding',
    });
    const records = list.slice(offset, offset + limit);
    const hasMore = offset + limit < list.length;
    const next = nextOf(pipeline, selection, parameters, hasMore);
    const header = headerOf(pipeline.paging);
    if (next !== null && header !== null) reply.header(header, header === 'link' ? `<${next}>; rel="next"` : next);
    // A proxy that compressed the response may have added W/ to the tag.
    const tags = request.headers['if-none-match'];
    if (tags === '*' || tags?.includes(etag) === true) return reply.code(304).send();
    reply.header('content-type', typeOf(pipeline));
    const isCompressed = acceptsGzip.test(request.headers['accept-encoding'] ?? '');
    const envelope = { records, next, hasMore };
    const length = records.reduce((sum, record) => sum + record.length, 0);
    const isTable = pipeline.format === 'csv' || pipeline.format === 'rows';
    if (length > pieceBytes && !isTable) return sendPieces(reply, pipeline, envelope, isCompressed);
    const kept = isCompressed && length > compressedFrom ? `${etag}gzip` : etag;
    let page = pages.get(kept);
    if (page === undefined) {
      const text = writeEnvelope(pipeline, envelope);
      page = kept === etag ? Buffer.from(text) : gzipSync(text);
      if (pages.size >= pagesKept) pages.clear();
      pages.set(kept, page);
    }
    if (kept !== etag) reply.header('content-encoding', 'gzip');
    return reply.send(page);
  };
}

/** `gzip` without a weight of 0 (RFC 9110, section 12.5.3). */
const acceptsGzip = /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/i;

export interface Envelope {
  readonly records: readonly string[];
  /** Record count to report. Defaults to the number of records. */
  readonly count?: number;
  readonly next: string | null;
  /** True if another page follows. */
  readonly hasMore: boolean;
}

/** Returns a response as the pipeline declares it. A single record isn't wrapped in an array, as documented. Records are already JSON. */
export function writeEnvelope(pipeline: AnyPipeline, envelope: Envelope): string {
  if (pipeline.format === 'csv' || pipeline.format === 'rows') return writeTable(pipeline, envelope.records);
  return [...cutEnvelope(pipeline, envelope)].join('');
}

function sendPieces(
  reply: FastifyReply,
  pipeline: AnyPipeline,
  envelope: Envelope,
  isCompressed: boolean,
): FastifyReply {
  const pieces = Readable.from(cutEnvelope(pipeline, envelope));
  if (isCompressed)
    return reply.header('content-encoding', 'gzip').send(connect(pieces, createGzip(), () => undefined));
  const member = memberWriter(pipeline);
  const bytes = envelope.records.reduce((sum, record) => sum + Buffer.byteLength(member(record)), 0);
  const others = Buffer.byteLength(writeEnvelope(pipeline, { ...envelope, records: envelope.records.map(() => '') }));
  return reply.header('content-length', bytes + others).send(pieces);
}

function* cutEnvelope(pipeline: AnyPipeline, envelope: Envelope): Generator<string> {
  const { records } = envelope;
  const [before, between, after] =
    pipeline.format === 'ndjson' ? ['', '\n', records.length === 0 ? '' : '\n'] : frameOf(pipeline, envelope);
  const member = memberWriter(pipeline);
  let piece = before;
  for (const [index, record] of records.entries()) {
    if (piece.length >= pieceBytes) {
      yield piece;
      piece = '';
    }
    piece += index === 0 ? member(record) : between + member(record);
  }
  yield piece + after;
}

function frameOf(pipeline: AnyPipeline, envelope: Envelope): [string, string, string] {
  const { records } = envelope;
  const shape = shapeOf(pipeline);
  const place = JSON.stringify(recordsPlaceholder);
  const isRoot = shape.records === '';
  const text = JSON.stringify(isRoot ? recordsPlaceholder : documentOf(shape, envelope));
  const [before = '', after = ''] = text.split(place);
  const isAlone = records.length === 1 && !isRoot;
  const [open, close] = nameField(pipeline) !== undefined ? ['{', '}'] : isAlone ? ['', ''] : ['[', ']'];
  return [before + open, ',', close + after];
}

/** Returns a function that writes a record as a member of the object of records, if a column has its name. The record has it in a field. */
function memberWriter(pipeline: AnyPipeline): (record: string) => string {
  const field = nameField(pipeline);
  if (field === undefined) return (record) => record;
  const first = `{${JSON.stringify(field)}:`;
  return (record) => {
    if (record === '') return record;
    // As received, where numbers could be too large for JSON.parse.
    const [all, comma] =
      /^"(?:[^"\\]|\\.)*"(,?)/.exec(record.startsWith(first) ? record.slice(first.length) : '') ?? [];
    if (all !== undefined)
      return `${all.slice(0, all.length - comma!.length)}:{${record.slice(first.length + all.length)}`;
    const { [field]: value, ...others } = JSON.parse(record) as Record<string, unknown>;
    return `${JSON.stringify(String(value))}:${JSON.stringify(others)}`;
  };
}

const recordsPlaceholder = '\u0000records';

type Shape = ReturnType<typeof shapeOf>;

function documentOf(shape: Shape, { records, count = records.length, next, hasMore }: Envelope): object {
  const document = {};
  if (shape.reportedCount !== undefined) writeMember(document, pointerPath(shape.reportedCount), count);
  writeMember(document, pointerPath(shape.records), recordsPlaceholder);
  if (shape.next !== undefined) writeMember(document, pointerPath(shape.next), nextIn(shape, next));
  if (shape.hasMore !== undefined) writeMember(document, pointerPath(shape.hasMore), hasMore);
  return document;
}

function nextIn({ relation }: Shape, next: string | null): unknown {
  if (relation === undefined) return next;
  return [{ rel: 'self', href: '' }, ...(next === null ? [] : [{ rel: relation, href: next }])];
}
