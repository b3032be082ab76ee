/** Puts the service together, without listening: routes, the order of the checks, and one shape for every error. */

import type { Socket } from 'node:net';
import rateLimit from '@fastify/rate-limit';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../pipeline.ts';
import { Secret } from '../secret.ts';
import { digest, type ApiKeys } from './api-keys.ts';
import { boundConnections } from './connections.ts';
import { answerData, jsonType } from './data-route.ts';
import { answerBadly } from './faults/answer-badly.ts';
import type { FaultSettings } from './faults/fault-list.ts';
import * as limits from './limits.ts';
import { documentService } from './openapi.ts';
import { Problem, problemOfClientError, problemType, writeProblem, writeRawProblem } from './problem.ts';
import type { RecordSource } from './record-source.ts';

export interface AppOptions {
  /** One endpoint each. */
  readonly pipelines: readonly AnyPipeline[];
  /** Where records come from; whoever opened it closes it, after the service. */
  readonly source: RecordSource;
  readonly keys: ApiKeys;
  /** The largest `limit` a client may ask for. */
  readonly maxLimit: number;
  /** Requests per minute and key; undefined for no such limit. */
  readonly rateLimit?: number | undefined;
  /** Open connections, unless `limits.maxConnections` of them. */
  readonly maxConnections?: number | undefined;
  /** Milliseconds from a clock that never goes back. */
  readonly monotonic?: () => number;
  /** Told of every failure that a client only sees as a 500. It never holds a key. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** How the data endpoints shall misbehave, for testing clients; undefined for not at all. */
  readonly faults?: FaultSettings | undefined;
}

/** Builds the service. Its checks come in this order: room, path, method, size, key, rate, parameters. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    // Another machine's claim about a client's address is worth nothing here, and nothing depends on it.
    trustProxy: false,
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionTimeout: limits.idleSocketTimeout,
    // maxRequestsPerSocket stays off: a whole sync over one connection is what this service is for.
    // While closing, requests under way are answered as usual; the built-in 503 would not be a problem document.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    http: {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      connectionsCheckingInterval: limits.timeoutCheckInterval,
      // Checked below instead, because Node's own answer has no body.
      requireHostHeader: false,
    },
    clientErrorHandler: answerClientError,
    frameworkErrors(_error, request, reply) {
      sendProblem(new Problem(400, 'The path is not a valid URL path.'), request.raw.url, reply);
    },
  });
  const { maxConnections = limits.maxConnections, monotonic = () => performance.now() } = options;
  const connections = boundConnections(app.server, maxConnections, monotonic);
  // A connection that cannot be accepted, for want of file descriptors, is no reason to stop.
  app.server.on('error', (error) => {
    if (app.server.listening) options.onFailure?.(error);
  });
  // Refused below like every other request.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  const methods = new Map<string, string>();
  app.addHook('onRoute', (route) => {
    methods.set(route.url, [route.method].flat().join(', '));
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    if (connections.areTooMany(request.raw.socket)) throw tooBusy();
    checkRequest(request, reply, methods);
  });
  app.setErrorHandler((error, request, reply) => {
    sendProblem(asProblem(error, request, options.onFailure), request.raw.url, reply);
  });
  if (options.rateLimit !== undefined) await limitRate(app, options.rateLimit);
  addRoutes(app, options);
  return app;
}

function tooBusy(): Problem {
  const headers = { 'retry-after': String(limits.retryAfterBusy), connection: 'close' };
  return new Problem(503, 'Too many requests are under way; Retry-After says when to try again.', { headers });
}

function addRoutes(app: FastifyInstance, options: AppOptions): void {
  const authenticate = async (request: FastifyRequest): Promise<void> => checkKey(request, options.keys);
  const { source, maxLimit, faults } = options;
  for (const pipeline of options.pipelines) {
    app.route({
      method: ['GET', 'HEAD'],
      url: pipeline.endpoint,
      // The rate limiter adds itself after this hook, so that only accepted keys are counted.
      onRequest: [authenticate],
      handler:
        faults === undefined ? answerData(pipeline, source, maxLimit) : answerBadly(pipeline, source, maxLimit, faults),
    });
  }
  const open = {
    '/': { service: 'Electoral voter data', openapi: '/openapi.json' },
    '/health': { status: 'ok' },
    '/openapi.json': documentService(options),
  };
  for (const [url, document] of Object.entries(open)) {
    const body = Buffer.from(JSON.stringify(document));
    app.route({
      method: ['GET', 'HEAD'],
      url,
      config: { rateLimit: false },
      handler: (_request, reply) => reply.headers({ 'content-type': jsonType, 'cache-control': 'no-cache' }).send(body),
    });
  }
}

async function limitRate(app: FastifyInstance, max: number): Promise<void> {
  await app.register(rateLimit, {
    max,
    timeWindow: 60_000,
    enableDraftSpec: true,
    keyGenerator: (request) => digest(offeredKey(request) ?? '').toString('base64url'),
    errorResponseBuilder: () =>
      new Problem(429, `This key may be used ${max} times a minute; Retry-After says when to go on.`),
  });
}

/** Refuses what is no route, and whatever is larger than any honest request. */
function checkRequest(request: FastifyRequest, reply: FastifyReply, methods: ReadonlyMap<string, string>): void {
  const { headers, url = '/' } = request.raw;
  const bodyBytes = Number(headers['content-length'] ?? 0);
  // A body is never read. One of unknown or great length would have to be received to its end to reuse the connection.
  if (headers['transfer-encoding'] !== undefined || bodyBytes > limits.maxBodyBytes)
    reply.header('connection', 'close');
  if (!/^$|\b100-continue\b/i.test(headers.expect ?? ''))
    throw new Problem(417, 'The only expectation that is met is 100-continue.');
  if (headers.host === undefined && request.raw.httpVersion === '1.1')
    throw new Problem(400, 'The header Host is missing.');
  // What stands before this service may go by the other one (RFC 9112, section 3.2).
  if ((request.raw.headersDistinct['host']?.length ?? 0) > 1)
    throw new Problem(400, 'The header Host is given more than once.');
  if (url.length > limits.maxUrlLength)
    throw new Problem(414, `A URL may have at most ${limits.maxUrlLength} characters.`);
  // The router takes the target * for the root.
  if (request.is404 || url === '*') {
    const allow = methods.get(decodedPath(url));
    if (allow === undefined)
      throw new Problem(404, 'There is nothing at this path; /openapi.json lists the paths there are.');
    throw new Problem(405, `${request.method} is not allowed here; use one of ${allow}.`, { headers: { allow } });
  }
  if (bodyBytes > limits.maxBodyBytes) {
    throw new Problem(413, `A request needs no body; one of more than ${limits.maxBodyBytes} bytes is refused.`);
  }
}

function checkKey(request: FastifyRequest, keys: ApiKeys): void {
  const key = offeredKey(request);
  if (keys.accepts(key)) return;
  throw new Problem(
    401,
    key === undefined ? 'The header x-api-key is missing.' : 'The key in x-api-key is not accepted.',
    {
      headers: { 'www-authenticate': 'ApiKey header="x-api-key"' },
    },
  );
}

function offeredKey(request: FastifyRequest): string | undefined {
  return request.headers['x-api-key']?.toString();
}

function asProblem(error: unknown, request: FastifyRequest, onFailure: AppOptions['onFailure']): Problem {
  if (error instanceof Problem) return error;
  // Nothing here writes the client's key into an error; should that change, it still goes no further.
  if (error instanceof Error) error.message = new Secret(offeredKey(request) ?? '').redact(error.message);
  onFailure?.(error);
  return new Problem(500, 'The service failed to answer this request; it is not the request that is wrong.');
}

/** Every route is shorter; of a longer path its beginning shows well enough what was asked for. */
const longestInstance = 200;

function sendProblem(problem: Problem, url: string | undefined, reply: FastifyReply): void {
  reply
    .code(problem.status)
    .headers({ ...problem.headers, 'cache-control': 'no-store', 'content-type': problemType })
    .send(writeProblem(problem, undecodedPath(url ?? '/').slice(0, longestInstance)));
}

/** Answers what Node's parser refused, then closes: the rest of what this connection brings cannot be understood. */
function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(writeRawProblem(problemOfClientError(error.code)), () => socket.destroy());
}

/** The path of a request target: without the query, and without the origin that the form for proxies carries. */
function undecodedPath(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
}

/** The same path as the router compares it. */
function decodedPath(url: string): string {
  const path = undecodedPath(url);
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
