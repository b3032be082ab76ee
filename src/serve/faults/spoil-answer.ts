/** Spoils or replaces a whole answer: statuses, other people's pages, bodies that end early, connections that break. */

import type { FastifyReply } from 'fastify';
import { jsonType } from '../data-route.ts';
import { Problem } from '../problem.ts';
import type { Chance } from './chance.ts';
import { faultList } from './fault-list.ts';

type AnswerFault = Extract<(typeof faultList)[number], { readonly spoils: 'answer' }>['name'];

const answerFaults = faultList.flatMap((fault) => (fault.spoils === 'answer' ? [fault.name] : []));

/** The header that names the faults of an answer, for those who debug their pipeline. */
export const faultHeader = 'x-rekap-fault';

/** What page a proxy might answer with while the service behind it is away. */
const htmlPage = `<!doctype html>
<html>
  <head><title>Maintenance</title></head>
  <body><h1>We will be back soon</h1></body>
</html>
`;

/** Which fault, if any, spoils the answer to a request. */
export function drawAnswerFault(chance: Chance): AnswerFault | null {
  return answerFaults.find((name) => chance.strikes(name)) ?? null;
}

/** Whether a fault leaves no room for records: then nothing else can be wrong with them. */
export function hasNoRecords(name: AnswerFault | null): boolean {
  return name !== null && !['stall', 'truncate', 'cut'].includes(name);
}

/** An answer that is about to be spoiled. */
export interface SpoiltAnswer {
  readonly reply: FastifyReply;
  readonly chance: Chance;
  readonly now: Date;
  /** The body that a faultless service would send; empty where the fault has no use for it. */
  readonly body: string;
}

/**
 * Sends the answer as the fault has it.
 *
 * @throws Problem for the faults that are a status, so that they look like the service's own.
 */
export function spoilAnswer(name: AnswerFault, { reply, chance, now, body }: SpoiltAnswer): FastifyReply {
  const bytes = Buffer.from(body);
  // Never nothing, for the client must see the answer begin, and never the whole.
  const takePart = (): Buffer => bytes.subarray(0, chance.whole('part', 1, bytes.length - 1));
  switch (name) {
    case 'drop':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return reply;
    case '429':
      throw new Problem(429, 'There were too many requests; Retry-After says when to go on.', {
        headers: { 'retry-after': writeRetryAfter(chance, now) },
      });
    case '503':
      throw new Problem(503, 'The service is not available just now.');
    case '500':
      throw new Problem(500, 'The service failed to answer this request; it is not the request that is wrong.');
    case 'html':
      return reply.header('content-type', 'text/html; charset=utf-8').send(htmlPage);
    case 'cut':
      return reply.header('content-type', jsonType).send(takePart());
    case 'stall':
      beginAnswer(reply, bytes.length);
      // The service's own bound on silent connections would end it, and the client would be spared the decision.
      reply.raw.socket?.setTimeout(0);
      reply.raw.write(takePart());
      return reply;
    case 'truncate':
      beginAnswer(reply, bytes.length);
      reply.raw.write(takePart());
      // Closes when these bytes are sent; `end` would complain that some are missing.
      reply.raw.socket?.destroySoon();
      return reply;
  }
}

/** Takes the answer out of Fastify's hands and sends its headers, which promise the whole. */
function beginAnswer(reply: FastifyReply, length: number): void {
  reply.header('content-type', jsonType).header('content-length', length).hijack();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
}

/** A second from now in one of the two forms that clients must understand; dates have no fractions, so they say the next whole second. */
function writeRetryAfter(chance: Chance, now: Date): string {
  if (chance.number('retry-after') < 0.5) return '1';
  return new Date(Math.ceil(now.getTime() / 1000) * 1000 + 1000).toUTCString();
}
