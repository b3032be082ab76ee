/** Handles requests to a data endpoint with faults: selects the faults of each request and responds accordingly. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../../project/declaration.ts';
import { answerData, typeOf, writeEnvelope } from '../data-endpoint.ts';
import { nextOf, parametersOf, readSelection } from '../selection.ts';
import { failed, Problem } from '../problem.ts';
import type { RecordSource } from '../record-source.ts';
import { driftingSource, selectBadly } from './bad-records.ts';
import { Chance } from './chance.ts';
import { faultList, type AnswerFault, type FaultName, type FaultSettings } from './fault-list.ts';

/** Delay of a slow response in milliseconds: longer than normal, but shorter than client timeouts. */
const lateness = 2_000;

const answerFaults = faultList.filter(({ spoils }) => spoils === 'answer').map(({ name }) => name as AnswerFault);
/** These damage a response with records. The others replace it. */
const spoilsBody = new Set<FaultName>(['stall', 'truncate', 'cut']);

/** Returns a handler that replaces `answerData`. Faults affect only valid GET requests. The header x-rekap-fault lists them. */
export function answerBadly(pipeline: AnyPipeline, source: RecordSource, maxLimit: number, settings: FaultSettings) {
  const { clock, onFault } = settings;
  const parameters = parametersOf(pipeline, maxLimit);
  const drifting = driftingSource(source);
  const answerWell = answerData(pipeline, drifting, maxLimit);
  const requested = new Map<string, number>();

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.method !== 'GET') return answerWell(request, reply);
    const selection = readSelection(request.query, pipeline, parameters);
    // Identifies a request by its selection, independent of the spelling of the URL.
    const what = `${pipeline.path} ${selection.partition ?? 'all'} ${selection.limit} ${selection.offset}`;
    const turn = (requested.get(what) ?? 0) + 1;
    requested.set(what, turn);
    const chance = new Chance(settings, what, turn);

    const met: FaultName[] = [];
    if (chance.strikes('drift') && drifting.drift(pipeline, chance, clock.now())) met.push('drift');
    if (chance.strikes('slow')) met.push('slow');
    const answerFault = answerFaults.find((name) => chance.strikes(name));
    const hasRecords = answerFault === undefined || spoilsBody.has(answerFault);
    const selected = hasRecords ? selectBadly(drifting.current(pipeline), selection, chance) : null;
    met.push(...(selected?.faults ?? []));
    if (answerFault !== undefined) met.push(answerFault);
    for (const name of met) onFault?.(name);
    if (met.length > 0) reply.header('x-rekap-fault', met.join(', '));

    if (met.includes('slow')) await clock.sleep(lateness);
    if (reply.raw.destroyed) return reply.hijack();
    if (answerFault === undefined && selected?.faults.length === 0) return answerWell(request, reply);
    // No ETag, because the same records may not come again.
    reply.headers({ 'cache-control': 'no-store', 'content-type': typeOf(pipeline) });
    // The next page continues after the records of this one.
    const given = { ...selection, limit: selected?.records.length ?? 0 };
    const next = nextOf(pipeline, given, parameters, selected?.hasMore ?? false);
    const body = selected === null ? '' : writeEnvelope(pipeline, { ...selected, next });
    return answerFault === undefined ? reply.send(body) : spoilAnswer(answerFault, body, { reply, chance, clock });
  };
}

type Spoiling = Pick<FaultSettings, 'clock'> & { readonly reply: FastifyReply; readonly chance: Chance };

/** Sends `body`, the correct response, with a fault. @throws Problem for faults that are a status, so that they look like real errors. */
function spoilAnswer(name: AnswerFault, body: string, { reply, chance, clock }: Spoiling): FastifyReply {
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
      throw new Problem(429, 'Too many requests. Retry-After says when to retry.', {
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
      beginAnswer(reply, bytes.length, part);
      // Otherwise the service's timeout would end the connection instead of the client's.
      socket?.setTimeout(0);
      return reply;
    case 'truncate':
      beginAnswer(reply, bytes.length, part);
      // Closes after these bytes are sent. `end` would throw because of the missing ones.
      socket?.destroySoon();
      return reply;
  }
}

/** Bypasses Fastify to send headers that promise `length` bytes, and only this part of them. */
function beginAnswer(reply: FastifyReply, length: number, part: Buffer): void {
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
