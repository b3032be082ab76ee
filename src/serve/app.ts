/** Builds the service without listening: routes, the order of checks, and one format for all errors. */

import compress from '@fastify/compress';
import { fastifySwagger } from '@fastify/swagger';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { AnyPipeline, Auth, Project } from '../project/declaration.ts';
import type { ApiKeys } from './api-keys.ts';
import { boundConnections } from './connections.ts';
import { handleData } from './data-endpoint.ts';
import { handleWithFaults } from './faults/faulty-endpoint.ts';
import type { FaultSettings } from './faults/fault-list.ts';
import * as limits from './limits.ts';
import { documentEndpoint, documentService } from './openapi.ts';
import { sendClientError, failed, headersTooLarge, pathOf, Problem, sendProblem } from './problem.ts';
import { partitionLists, withPartitionLists } from './partition-lists.ts';
import type { RecordSource } from './record-source.ts';
import type { SiteOptions } from './site.ts';

export interface AppOptions {
  readonly pipelines: readonly AnyPipeline[];
  readonly about?: Pick<Project, 'title' | 'description' | 'auth'> | undefined;
  /** The caller closes it after the service. */
  readonly source: RecordSource;
  readonly keys: ApiKeys;
  /** Start page, API reference and files of a snapshot. Undefined to serve only the endpoints. */
  readonly site?: SiteOptions | undefined;
  readonly maxConnections?: number | undefined;
  /** Receives the error behind each response with status 500. It never contains a key. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Receives the path and query of each request, without the key. */
  readonly onRequest?: ((target: string) => void) | undefined;
  /** Faults of the data endpoints, for testing clients. */
  readonly faults?: FaultSettings | undefined;
}

/** Builds the service. Checks in this order: connections, headers, path, method, size, key, parameters. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionTimeout: limits.idleSocketTimeout,
    // While closing, running requests get normal responses. Fastify's 503 isn't a problem document.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    http: {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeout,
      connectionsCheckingInterval: limits.timeoutCheckInterval,
      requireHostHeader: false,
    },
    clientErrorHandler: sendClientError,
    frameworkErrors(_error, request, reply) {
      sendProblem(new Problem(400, 'The path is not a valid URL path.'), request.raw.url, reply);
    },
  });
  // Otherwise Node drops headers silently. The limit on their bytes also limits their number.
  app.server.maxHeadersCount = 0;
  const { maxConnections = limits.maxConnections, onFailure } = options;
  const isOverLimit = boundConnections(app.server, maxConnections, () => performance.now());
  // If the process has too many open files, accepting a connection fails but the service continues.
  app.server.on('error', (error) => {
    if (app.server.listening) onFailure?.(error);
  });
  // An unknown expectation may be ignored. Node's response would bypass the connection limits.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  const paths = new Set<string>();
  app.addHook('onRoute', ({ url }) => void paths.add(url));
  app.addHook('onRequest', (request, reply, done) => {
    options.onRequest?.(withoutKey(request.raw.url ?? '/', options.about?.auth ?? null));
    reply.headers({ 'x-content-type-options': 'nosniff', ...crossOrigin });
    if (isOverLimit(request.raw.socket)) {
      throw new Problem(503, 'Too many requests are in progress. Retry after the number of seconds in Retry-After.', {
        headers: { 'retry-after': String(limits.retryAfterBusy), connection: 'close' },
      });
    }
    if (isKnown(paths, request) && sendPreflight(request, reply)) return;
    checkRequest(paths, request, reply);
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof Problem)) onFailure?.(error);
    sendProblem(error instanceof Problem ? error : failed, request.raw.url, reply);
  });
  // Schemas only document. Requests are read strictly by the handlers, and responses are written as texts.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  if (options.faults === undefined)
    await app.register(compress, { encodings: ['gzip'], threshold: 1024, customTypes: /^text\/|json/ });
  const { about = defaultAbout, site } = options;
  if (site !== undefined) await app.register(fastifySwagger, documentService(about));
  addEndpoints(app, options);
  if (site !== undefined) {
    const { addSite } = await import('./site.ts');
    await addSite(app, { ...site, about, requireKey: (request) => checkKey(request, options.keys, about.auth) });
  }
  return app;
}

function addEndpoints(app: FastifyInstance, options: AppOptions): void {
  const { keys, faults, about = defaultAbout } = options;
  const { auth } = about;
  const source = withPartitionLists(options.source, options.pipelines);
  const served = [...options.pipelines, ...partitionLists(options.pipelines)];
  for (const path of new Set(served.map((pipeline) => pipeline.path))) {
    const atPath = served.filter((pipeline) => pipeline.path === path);
    const lists = atPath.map((pipeline) => ({
      fixed: Object.entries(pipeline.parameters ?? {}),
      handle: faults === undefined ? handleData(pipeline, source) : handleWithFaults(pipeline, source, faults),
    }));
    app.route({
      method: ['GET', 'HEAD'],
      url: path,
      schema: documentEndpoint(atPath[0]!),
      onRequest: (request, _reply, done) => {
        checkKey(request, keys, auth);
        done();
      },
      handler(request, reply) {
        // Lists at one path differ in the parameters that they declare.
        const query = request.query as Readonly<Record<string, unknown>>;
        const list = lists.find(({ fixed }) => fixed.every(([name, value]) => query[name] === value)) ?? lists[0]!;
        return list.handle(request, reply);
      },
    });
  }
}

/** Pages of other origins may read open paths, and others with a key. The service has no cookies. */
const crossOrigin = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, last-modified, retry-after',
};

function sendPreflight(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  reply
    .code(204)
    .headers({
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'x-api-key, authorization, if-none-match',
      'access-control-max-age': '86400',
    })
    .send();
  return true;
}

function isKnown(paths: ReadonlySet<string>, request: FastifyRequest): boolean {
  const path = pathOf(request.raw.url);
  return paths.has(path) || paths.has(path.replace(/[^/]+$/, ':file'));
}

function checkRequest(paths: ReadonlySet<string>, request: FastifyRequest, reply: FastifyReply): void {
  const { headers, headersDistinct, httpVersion, rawHeaders, url = '/' } = request.raw;
  // Node counts only names and values, so many short headers would pass. A colon, a space and a line end follow.
  const headerBytes = rawHeaders.join('').length + 2 * rawHeaders.length;
  if (url.length + headerBytes > limits.maxHeaderBytes) throw headersTooLarge;
  const bodyBytes = Number(headers['content-length'] ?? 0);
  const isLarge = bodyBytes > limits.maxBodyBytes;
  // The service doesn't read bodies. Reusing the connection would require receiving a large body completely.
  if (headers['transfer-encoding'] !== undefined || isLarge) reply.header('connection', 'close');
  // A proxy may use the other Host (RFC 9112, section 3.2). HTTP/1.0 requires none.
  const hosts = headersDistinct['host']?.length ?? 0;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    throw new Problem(400, 'The header Host is missing or repeated. Send it once.');
  if (url.length > limits.maxUrlLength)
    throw new Problem(414, `The URL is longer than ${limits.maxUrlLength} characters.`);
  if (request.is404) {
    if (!isKnown(paths, request)) throw new Problem(404, 'The path does not exist. The page / shows all paths.');
    const allow = 'GET, HEAD';
    throw new Problem(405, `${request.method} is not allowed for this path. Use one of ${allow}.`, {
      headers: { allow },
    });
  }
  if (isLarge)
    throw new Problem(
      413,
      `The request body is larger than ${limits.maxBodyBytes} bytes. Send the request without a body.`,
    );
}

function checkKey(request: FastifyRequest, keys: ApiKeys, auth: Auth | null): void {
  if (auth === null) return;
  const key = requestKey(request, auth);
  if (keys.accepts(key)) {
    // The key is not a parameter of the endpoint.
    if ('query' in auth) delete (request.query as Record<string, unknown>)[auth.query];
    return;
  }
  const { where, challenge } = describeAuth(auth);
  const detail =
    key === undefined ? `The ${where} is missing.` : `The key in ${where.replace(/^header /, '')} is not accepted.`;
  throw new Problem(401, detail, { headers: { 'www-authenticate': challenge } });
}

function describeAuth(auth: Auth): { readonly where: string; readonly challenge: string } {
  if ('header' in auth) return { where: `header ${auth.header}`, challenge: `ApiKey header="${auth.header}"` };
  if ('bearer' in auth) return { where: 'header authorization', challenge: 'Bearer' };
  if ('basic' in auth) return { where: 'header authorization', challenge: 'Basic realm="rekap"' };
  return { where: `parameter ${auth.query}`, challenge: `ApiKey query="${auth.query}"` };
}

function requestKey({ headers, raw }: FastifyRequest, auth: Auth | null): string | undefined {
  if (auth === null) return undefined;
  if ('header' in auth) return headers[auth.header.toLowerCase()]?.toString();
  if ('query' in auth) return new URLSearchParams(raw.url?.split('?')[1]).get(auth.query) ?? undefined;
  const [, scheme, value] = /^(\S+) +(.+)$/.exec(headers.authorization ?? '') ?? [];
  if (scheme?.toLowerCase() !== ('bearer' in auth ? 'bearer' : 'basic')) return undefined;
  return 'bearer' in auth ? value : Buffer.from(value!, 'base64').toString();
}

function withoutKey(target: string, auth: Auth | null): string {
  if (auth === null || !('query' in auth)) return target;
  const [path = '', query = ''] = target.split('?');
  const others = query.split('&').filter((pair) => pair !== '' && pair.split('=')[0] !== auth.query);
  return others.length === 0 ? path : `${path}?${others.join('&')}`;
}

const defaultAbout: NonNullable<AppOptions['about']> = {
  title: 'Data service',
  description: 'Records of the endpoints below.',
  auth: { header: 'x-api-key' },
};
