/** Sends errors as problem details (RFC 9457). */

import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';

interface ProblemExtras {
  readonly headers?: Readonly<Record<string, string>>;
  readonly parameter?: string;
}

/** An error response. Its detail is sent to the client, so it must not contain a key or internal data. */
export class Problem extends Error {
  readonly status: number;
  readonly extras: ProblemExtras;

  constructor(status: number, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.status = status;
    this.extras = extras;
  }
}

export const failed = new Problem(500, 'The service failed to process the request. The request itself is valid.');

/** `type` is about:blank because the status identifies the problem, so `title` is the status text. `url` may contain a key in its query. */
export function sendProblem({ status, message, extras }: Problem, url = '/', reply: FastifyReply): void {
  // These describe a response that failed before its first byte.
  for (const name of ['etag', 'content-disposition', 'content-encoding', 'content-length']) reply.removeHeader(name);
  const title = STATUS_CODES[status] ?? 'Error';
  const instance = url.replace(/[?#].*$/s, '').slice(0, 200);
  const { headers, parameter } = extras;
  reply
    .code(status)
    .headers({ ...headers, 'cache-control': 'no-store', 'content-type': 'application/problem+json; charset=utf-8' })
    .send(JSON.stringify({ type: 'about:blank', title, status, detail: message, instance, parameter }));
}
