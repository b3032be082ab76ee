/** Puts the service together, without listening: routes, the order of the checks, and one shape for every error. */

import rateLimit from '@fastify/rate-limit';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../pipeline.ts';
import { digest, type ApiKeys } from './api-keys.ts';
import { boundConnections } from './connections.ts';
import { answerData, jsonType } from './data-endpoint.ts';
import { answerBadly } from './faults/answer-badly.ts';
import type { FaultSettings } from './faults/fault-list.ts';
import * as limits from './limits.ts';
import { documentService } from './openapi.ts';
import { answerClientError, failed, pathOf, Problem, sendProblem } from './problem.ts';
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
  /** Told of every failure that a client only sees as a 500. It never holds a key. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** How the data endpoints shall misbehave, for testing clients; undefined for not at all. */
  readonly faults?: FaultSettings | undefined;
}

/** Builds the service. Its checks come in this order: room, headers, path, method, size, key, rate, parameters. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionTimeout: limits.idleSocketTimeout,
    // While closing, requests under way are answered as usual; the built-in 503 would not be a problem document.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    http: {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeout,
      connectionsCheckingInterval: limits.timeoutCheckInterval,
      // `checkRequest` looks at it, because Node's own answer has no body.
      requireHostHeader: false,
    },
    clientErrorHandler: answerClientError,
    frameworkErrors(_error, request, reply) {
      sendProblem(new Problem(400, 'The path is not a valid URL path.'), request.raw.url, reply);
    },
  });
  const { maxConnections = limits.maxConnections, onFailure } = options;
  const areTooMany = boundConnections(app.server, maxConnections, () => performance.now());
  // The service goes on when a connection cannot be accepted for want of open files.
  app.server.on('error', (error) => {
    if (app.server.listening) onFailure?.(error);
  });
  // An expectation that is not met may be ignored. Node's own answer would go around the bounds on connections.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  const paths = new Set<string>();
  app.addHook('onRoute', ({ url }) => void paths.add(url));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    if (areTooMany(request.raw.socket)) {
      throw new Problem(503, 'Too many requests are under way; Retry-After says when to try again.', {
        headers: { 'retry-after': String(limits.retryAfterBusy), connection: 'close' },
      });
    }
    checkRequest(paths, request, reply);
  });
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof Problem)) onFailure?.(error);
    sendProblem(error instanceof Problem ? error : failed, request.raw.url, reply);
  });
  if (options.rateLimit !== undefined) await limitRate(app, options.rateLimit);
  addRoutes(app, options);
  return app;
}

function addRoutes(app: FastifyInstance, options: AppOptions): void {
  const { source, keys, maxLimit, faults } = options;
  for (const pipeline of options.pipelines) {
    app.route({
      method: ['GET', 'HEAD'],
      url: pipeline.endpoint,
      // The rate limiter adds itself after this hook, so that it counts accepted keys only.
      onRequest: async (request) => checkKey(request, keys),
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
function checkRequest(paths: ReadonlySet<string>, request: FastifyRequest, reply: FastifyReply): void {
  const { headers, headersDistinct, httpVersion, url = '/' } = request.raw;
  const bodyBytes = Number(headers['content-length'] ?? 0);
  const isLarge = bodyBytes > limits.maxBodyBytes;
  // No body is read. To use the connection again, one of great or unknown length would have to be received to its end.
  if (headers['transfer-encoding'] !== undefined || isLarge) reply.header('connection', 'close');
  // A server in front of this one may go by the other Host (RFC 9112, section 3.2). HTTP/1.0 needs none.
  const hosts = headersDistinct['host']?.length ?? 0;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    throw new Problem(400, 'The header Host must be given, and only once.');
  if (url.length > limits.maxUrlLength)
    throw new Problem(414, `A URL may have at most ${limits.maxUrlLength} characters.`);
  if (request.is404) {
    if (!paths.has(pathOf(url)))
      throw new Problem(404, 'There is nothing at this path; /openapi.json lists the paths there are.');
    const allow = 'GET, HEAD';
    throw new Problem(405, `${request.method} is not allowed here; use one of ${allow}.`, { headers: { allow } });
  }
  if (isLarge)
    throw new Problem(413, `A request needs no body; one of more than ${limits.maxBodyBytes} bytes is refused.`);
}

function checkKey(request: FastifyRequest, keys: ApiKeys): void {
  const key = offeredKey(request);
  if (keys.accepts(key)) return;
  const detail = key === undefined ? 'The header x-api-key is missing.' : 'The key in x-api-key is not accepted.';
  throw new Problem(401, detail, { headers: { 'www-authenticate': 'ApiKey header="x-api-key"' } });
}

function offeredKey(request: FastifyRequest): string | undefined {
  return request.headers['x-api-key']?.toString();
}
