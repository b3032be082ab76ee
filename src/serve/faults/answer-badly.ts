/** The handler of a data endpoint that misbehaves: draws the faults of each request and answers accordingly. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../../project/declaration.ts';
import { answerData, typeOf, writeEnvelope } from '../data-endpoint.ts';
import { nextOf, parametersOf, readSelection } from '../selection.ts';
import { failed, Problem } from '../problem.ts';
import type { RecordSource } from '../record-source.ts';
import { driftingSource, selectBadly } from './bad-records.ts';
import { Chance } from './chance.ts';
import { faultList, type AnswerFault, type FaultName, type FaultSettings } from './fault-list.ts';

/** How late a slow answer comes, in milliseconds: longer than any honest one takes, shorter than any client's patience. */
const lateness = 2_000;

const answerFaults = faultList.filter(({ spoils }) => spoils === 'answer').map(({ name }) => name as AnswerFault);
/** These spoil an answer that holds records; the others put something else in its place. */
const spoilsBody = new Set<FaultName>(['stall', 'truncate', 'cut']);

/**
 * The handler that stands in for `answerData`. Key, rate limit and parameters are checked as ever; only a GET that would
 * have been answered with records can meet a fault. The header x-rekap-fault names the faults of an answer.
 */
export function answerBadly(pipeline: AnyPipeline, source: RecordSource, maxLimit: number, settings: FaultSettings) {
  const { clock, onFault } = settings;
  const parameters = parametersOf(pipeline, maxLimit);
  const drifting = driftingSource(source);
  const answerWell = answerData(pipeline, drifting, maxLimit);
  const requested = new Map<string, number>();

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.method !== 'GET') return answerWell(request, reply);
    const selection = readSelection(request.query, pipeline, parameters);
    // What is asked for counts, however the URL is spelled.
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
    // No ETag, which would promise that the same records come again.
    reply.headers({ 'cache-control': 'no-store', 'content-type': typeOf(pipeline) });
    // A source that gives fewer records goes on behind those.
    const given = { ...selection, limit: selected?.records.length ?? 0 };
    const next = nextOf(pipeline, given, parameters, selected?.hasMore ?? false);
    const body = selected === null ? '' : writeEnvelope(pipeline, { ...selected, next });
    return answerFault === undefined ? reply.send(body) : spoilAnswer(answerFault, body, { reply, chance, clock });
  };
}

type Spoiling = Pick<FaultSettings, 'clock'> & { readonly reply: FastifyReply; readonly chance: Chance };

/**
 * Sends the answer as the fault has it. `body` is what a faultless service would send.
 *
 * @throws Problem for the faults that are a status, so that they look like the service's own.
 */
function spoilAnswer(name: AnswerFault, body: string, { reply, chance, clock }: Spoiling): FastifyReply {
  const bytes = Buffer.from(body);
  // At least one byte, so that the client sees the answer begin, and never the whole.
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
      // The service's own bound on silent connections would end it and spare the client the decision.
      socket?.setTimeout(0);
      return reply;
    case 'truncate':
      beginAnswer(reply, bytes.length, part);
      // Closes when these bytes are sent; `end` would complain that some are missing.
      socket?.destroySoon();
      return reply;
  }
}

/** Takes the answer out of Fastify's hands: sends headers that promise `length` bytes, and then only this part. */
function beginAnswer(reply: FastifyReply, length: number, part: Buffer): void {
  reply.header('content-length', length).hijack();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  reply.raw.write(part);
}

/** A second from now, in one of the two forms that clients must understand; a date says the next whole second. */
function writeRetryAfter(chance: Chance, now: Date): string {
  if (chance.number('retry-after') < 0.5) return '1';
  return new Date(Math.ceil(now.getTime() / 1000) * 1000 + 1000).toUTCString();
}
