/** Handles requests to a data endpoint with faults: selects the faults of each request and responds accordingly. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../../project/declaration.ts';
import { handleData, typeOf, writeEnvelope } from '../data-endpoint.ts';
import { nextOf, parametersOf, readSelection } from '../selection.ts';
import { failed, Problem } from '../problem.ts';
import type { RecordSource } from '../record-source.ts';
import { driftingSource, selectWithFaults } from './faulty-records.ts';
import { Chance } from './chance.ts';
import { faultList, type ResponseFault, type FaultName, type FaultSettings } from './fault-list.ts';

/** Delay of a slow response in milliseconds: longer than normal, but shorter than client timeouts. */
const slowDelay = 2_000;

const responseFaults = faultList
  .filter(({ affects }) => affects === 'response')
  .map(({ name }) => name as ResponseFault);
/** These damage a response with records. The others replace it. */
const damagesBody = new Set<FaultName>(['stall', 'truncate', 'cut']);

/** Returns a handler that replaces `handleData`. Faults affect only valid GET requests. The header x-rekap-fault lists them. */
export function handleWithFaults(pipeline: AnyPipeline, source: RecordSource, settings: FaultSettings) {
  const { clock, onFault } = settings;
  const parameters = parametersOf(pipeline);
  const drifting = driftingSource(source);
  const handleCorrectly = handleData(pipeline, drifting);
  const attempts = new Map<string, number>();

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.method !== 'GET') return handleCorrectly(request, reply);
    const selection = readSelection(request.query, pipeline, parameters, source.current(pipeline));
    // Identifies a request by its selection, independent of the spelling of the URL.
    const identity = `${pipeline.path} ${selection.partition ?? 'all'} ${selection.limit} ${selection.offset}`;
    const attempt = (attempts.get(identity) ?? 0) + 1;
    attempts.set(identity, attempt);
    const chance = new Chance(settings, identity, attempt);

    const faults: FaultName[] = [];
    if (chance.strikes('drift') && drifting.drift(pipeline, chance, clock.now())) faults.push('drift');
    if (chance.strikes('slow')) faults.push('slow');
    const responseFault = responseFaults.find((name) => chance.strikes(name));
    const hasRecords = responseFault === undefined || damagesBody.has(responseFault);
    const selected = hasRecords
      ? selectWithFaults(drifting.current(pipeline), selection, chance, parameters.position !== null)
      : null;
    faults.push(...(selected?.faults ?? []));
    if (responseFault !== undefined) faults.push(responseFault);
    for (const name of faults) onFault?.(name);
    if (faults.length > 0) reply.header('x-rekap-fault', faults.join(', '));

    if (faults.includes('slow')) await clock.sleep(slowDelay);
    if (reply.raw.destroyed) return reply.hijack();
    if (responseFault === undefined && selected?.faults.length === 0) return handleCorrectly(request, reply);
    // No ETag, because the same records may not come again.
    reply.headers({ 'cache-control': 'no-store', 'content-type': typeOf(pipeline) });
    // The next page continues after the records of this one.
    const page = { ...selection, limit: selected?.records.length ?? 0 };
    const next = nextOf(pipeline, page, parameters, selected?.hasMore ?? false);
    const body = selected === null ? '' : writeEnvelope(pipeline, { ...selected, next });
    return responseFault === undefined
      ? reply.send(body)
      : sendWithFault(responseFault, body, { reply, chance, clock });
  };
}

type FaultContext = Pick<FaultSettings, 'clock'> & { readonly reply: FastifyReply; readonly chance: Chance };

/** Sends `body`, the correct response, with a fault. Throws Problem for faults that are a status, so that they look like real errors. */
function sendWithFault(name: ResponseFault, body: string, { reply, chance, clock }: FaultContext): FastifyReply {
  const bytes = Buffer.from(body);
  // At least one byte, but never all of them.
  const part = bytes.subarray(0, chance.whole('part', 1, bytes.length - 1));
  const { socket } = reply.raw;
  switch (name) {
    case 'drop':
      reply.hijack();
      socket?.resetAndDestroy();
      return reply;
    case '429':
      throw new Problem(429, 'Too many requests. Retry after the time in Retry-After.', {
        headers: { 'retry-after': writeRetryAfter(chance, clock.now()) },
      });
    case '503':
      throw new Problem(503, 'The service is temporarily unavailable.');
    case '500':
      throw failed;
    case 'html':
      reply.header('content-type', 'text/html; charset=utf-8');
      return reply.send('<!doctype html><title>Maintenance</title><h1>We will be back soon</h1>');
    case 'cut':
      return reply.send(part);
    case 'stall':
      startResponse(reply, bytes.length, part);
      // Otherwise the service's timeout would end the connection instead of the client's.
      socket?.setTimeout(0);
      return reply;
    case 'truncate':
      startResponse(reply, bytes.length, part);
      // Closes after these bytes are sent. `end` would throw because of the missing ones.
      socket?.destroySoon();
      return reply;
  }
}

/** Bypasses Fastify to send headers that promise `length` bytes, and only this part of them. */
function startResponse(reply: FastifyReply, length: number, part: Buffer): void {
  reply.header('content-length', length).hijack();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  reply.raw.write(part);
}

/** Returns one second from now in one of the two valid forms. A date is rounded up to the next second. */
function writeRetryAfter(chance: Chance, now: Date): string {
  if (chance.number('retry-after') < 0.5) return '1';
  return new Date(Math.ceil(now.getTime() / 1000) * 1000 + 1000).toUTCString();
}
