/** The errors that the service answers with, as problem details (RFC 9457). */

import { STATUS_CODES } from 'node:http';

export const problemType = 'application/problem+json; charset=utf-8';

interface ProblemExtras {
  /** Headers that belong to this answer, such as Allow. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The query parameter that is wrong. */
  readonly parameter?: string;
}

/** An answer that is an error. Its detail goes to the client: it must hold neither the key nor anything from inside. */
export class Problem extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly parameter: string | undefined;

  constructor(status: number, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.name = 'Problem';
    this.status = status;
    this.headers = extras.headers ?? {};
    this.parameter = extras.parameter;
  }
}

/**
 * The body of a problem. `type` is about:blank because the status says it all; `title` is then the status's own phrase
 * (RFC 9457, section 4.2.1). `instance` is the path without its query, because a query may hold anything; null where
 * the request could not be read far enough to have one.
 */
export function writeProblem(problem: Problem, instance: string | null): string {
  return JSON.stringify({
    type: 'about:blank',
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    detail: problem.message,
    ...(instance === null ? {} : { instance }),
    ...(problem.parameter === undefined ? {} : { parameter: problem.parameter }),
  });
}

/** A complete answer for a connection on which no request could be read, and which is closed afterwards. */
export function writeRawProblem(problem: Problem): string {
  const body = writeProblem(problem, null);
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}`,
    `content-type: ${problemType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

/** What a client is told about a request that Node's parser gave up on. */
export function problemOfClientError(code: string | undefined): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem(408, 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      return new Problem(431, 'The URL and the headers together are too long.');
    default:
      return new Problem(400, 'This is not a valid HTTP request.');
  }
}
