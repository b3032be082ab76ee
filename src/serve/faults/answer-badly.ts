/** The handler of a data endpoint that misbehaves: draws the faults of each request and answers accordingly. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../../pipeline.ts';
import { answerData, jsonType, writeEnvelope } from '../data-route.ts';
import { parametersOf, readSelection, type Selection } from '../parameters.ts';
import type { RecordSource } from '../record-source.ts';
import { Chance } from './chance.ts';
import { driftingSource } from './drifting-source.ts';
import type { FaultName, FaultSettings } from './fault-list.ts';
import { selectBadly } from './select-badly.ts';
import { drawAnswerFault, faultHeader, hasNoRecords, spoilAnswer } from './spoil-answer.ts';

/** How late a slow answer comes, in milliseconds: longer than any honest one takes, shorter than any client's patience. */
const lateness = 2_000;

/**
 * The handler that stands in for `answerData`. Key, rate limit and parameters are checked as ever; only a GET that would
 * have been answered with records can meet a fault.
 */
export function answerBadly(pipeline: AnyPipeline, source: RecordSource, maxLimit: number, settings: FaultSettings) {
  const parameters = parametersOf(pipeline, maxLimit);
  const drifting = driftingSource(source);
  const answerWell = answerData(pipeline, drifting, maxLimit);
  const asked = new Map<string, number>();

  /** The chances of this request; it goes by what is asked for, however the URL is spelled. */
  function chanceOf({ district, limit, offset }: Selection): Chance {
    const what = `${pipeline.endpoint} ${district ?? 'all'} ${limit} ${offset}`;
    const turn = (asked.get(what) ?? 0) + 1;
    asked.set(what, turn);
    return new Chance(settings, what, turn);
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.method !== 'GET') return answerWell(request, reply);
    const selection = readSelection(request.query, parameters);
    const chance = chanceOf(selection);
    const met: FaultName[] = [];
    if (chance.strikes('drift') && drifting.drift(pipeline, chance, settings.clock.now())) met.push('drift');
    if (chance.strikes('slow')) met.push('slow');
    const answerFault = drawAnswerFault(chance);
    const selected = hasNoRecords(answerFault) ? null : selectBadly(drifting.current(pipeline), selection, chance);
    met.push(...(selected?.faults ?? []));
    if (answerFault !== null) met.push(answerFault);
    for (const name of met) settings.onFault?.(name);
    if (met.length > 0) reply.header(faultHeader, met.join(', '));

    if (met.includes('slow') && !(await waitUnlessGone(reply, settings))) return reply.hijack();
    const body = selected === null ? '' : writeEnvelope(selected.records, selected.count);
    if (answerFault !== null) {
      reply.header('cache-control', 'no-store');
      return spoilAnswer(answerFault, { reply, chance, now: settings.clock.now(), body });
    }
    // No ETag: it would promise that the same records come again.
    if (selected !== null && selected.faults.length > 0)
      return reply.headers({ 'cache-control': 'no-store', 'content-type': jsonType }).send(body);
    return answerWell(request, reply);
  };
}

/** Waits for as long as a slow answer is late; false where the client did not wait so long. */
async function waitUnlessGone(reply: FastifyReply, { clock }: FaultSettings): Promise<boolean> {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Error('the client is gone'));
  reply.raw.once('close', leave);
  try {
    await clock.sleep(lateness, gone.signal);
    return true;
  } catch (error) {
    if (gone.signal.aborted) return false;
    throw error;
  } finally {
    reply.raw.off('close', leave);
  }
}
