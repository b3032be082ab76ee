/** Sends errors as problem details (RFC 9457). */

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { maxHeaderBytes } from './limits.ts';

const problemType = 'application/problem+json; charset=utf-8';

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

/** Returns the path without the query, which may contain anything. */
export function pathOf(url = '/'): string {
  return url.replace(/[?#].*$/s, '');
}

export function sendProblem(problem: Problem, url: string | undefined, reply: FastifyReply): void {
  // These describe a response that failed before its first byte.
  for (const name of ['etag', 'content-disposition', 'content-encoding', 'content-length']) reply.removeHeader(name);
  reply
    .code(problem.status)
    .headers({ ...problem.extras.headers, 'cache-control': 'no-store', 'content-type': problemType })
    .send(writeProblem(problem, pathOf(url).slice(0, 200)));
}

/** `type` is about:blank because the status identifies the problem, so `title` is the status text. */
function writeProblem({ status, message, extras }: Problem, instance?: string): string {
  const title = STATUS_CODES[status] ?? 'Error';
  return JSON.stringify({ type: 'about:blank', title, status, detail: message, instance, parameter: extras.parameter });
}

export const headersTooLarge = new Problem(
  431,
  `The URL and the headers together are longer than ${maxHeaderBytes} bytes.`,
);

const clientErrors: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Problem(408, 'The request did not arrive in time.'),
  HPE_HEADER_OVERFLOW: headersTooLarge,
};

/** Responds to a request that Node's parser refused, then closes, because the rest of the data can't be parsed. */
export function sendClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = clientErrors[error.code ?? ''] ?? new Problem(400, 'This is not a valid HTTP request.');
  const body = writeProblem(problem);
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `content-type: ${problemType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
    '',
    body,
  ];
  socket.end(lines.join('\r\n'), () => socket.destroy());
}
