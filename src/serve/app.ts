/** Builds the service without listening: routes, the order of checks, and one format for all errors. */

import compress from '@fastify/compress';
import { fastifySwagger } from '@fastify/swagger';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../project/declaration.ts';
import type { ApiKeys } from './api-keys.ts';
import { checkKey, withoutKey } from './check-key.ts';
import { boundConnections } from './connections.ts';
import { handleData } from './data-endpoint.ts';
import { handleWithFaults } from './faults/faulty-endpoint.ts';
import type { FaultSettings } from './faults/fault-list.ts';
import * as limits from './limits.ts';
import { type About, documentEndpoint, documentService } from './openapi.ts';
import { failed, Problem, sendProblem } from './problem.ts';
import { servedLists, withPartitionLists } from './partition-lists.ts';
import type { RecordSource } from './record-source.ts';
import { readPointer } from '../project/field-path.ts';
import { listParameters, parametersOf } from './selection.ts';
import type { SiteOptions } from './site.ts';

export interface AppOptions {
  readonly pipelines: readonly AnyPipeline[];
  readonly about?: About | undefined;
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
  const { about = defaultAbout, faults, maxConnections = limits.maxConnections, onFailure, site } = options;
  const app = fastify({
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionTimeout: limits.idleSocketTimeout,
    exposeHeadRoutes: false,
    http: {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeout,
      connectionsCheckingInterval: limits.timeoutCheckInterval,
    },
    frameworkErrors(_error, request, reply) {
      sendProblem(new Problem(400, 'The path is not a valid URL path.'), request.raw.url, reply);
    },
  });
  const posts = new Set(
    options.pipelines.flatMap(({ path, request }) => (request === undefined ? [] : [routeOf(path)])),
  );
  const isOverLimit = boundConnections(app.server, maxConnections);
  // If the process has too many open files, accepting a connection fails but the service continues.
  app.server.on('error', (error) => {
    if (app.server.listening) onFailure?.(error);
  });
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    options.onRequest?.(withoutKey(request, about.auth));
    reply.headers({ 'x-content-type-options': 'nosniff', ...crossOrigin });
    if (isOverLimit(socket)) {
      throw new Problem(503, 'Too many requests are in progress. Retry after the number of seconds in Retry-After.', {
        headers: { 'retry-after': String(limits.retryAfterBusy), connection: 'close' },
      });
    }
    if (sendPreflight(request, reply)) return;
    checkRequest(request, reply, posts);
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof Problem)) onFailure?.(error);
    sendProblem(error instanceof Problem ? error : failed, withoutKey(request, about.auth), reply);
  });
  // Schemas only document. Requests are read strictly by the handlers, and responses are written as texts.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  if (faults === undefined)
    await app.register(compress, {
      encodings: ['gzip'],
      threshold: limits.compressedFrom,
      customTypes: /^text\/|json/,
      globalDecompression: false,
    });
  if (site !== undefined) await app.register(fastifySwagger, documentService(about));
  const requireKey = (request: FastifyRequest): void => checkKey(request, options.keys, about.auth);
  addEndpoints(app, options, requireKey);
  if (site !== undefined) {
    const { addSite } = await import('./site.ts');
    await addSite(app, { ...site, about, requireKey });
  }
  return app;
}

function addEndpoints(
  app: FastifyInstance,
  { pipelines, source: given, faults }: AppOptions,
  requireKey: (request: FastifyRequest) => void,
): void {
  const source = withPartitionLists(given, pipelines);
  const served = [...pipelines, ...servedLists(pipelines)];
  for (const path of new Set(served.map((pipeline) => pipeline.path))) {
    const atPath = served.filter((pipeline) => pipeline.path === path);
    const lists = atPath.map((pipeline) => ({
      fixed: Object.entries(pipeline.parameters ?? {}),
      handle: faults === undefined ? handleData(pipeline, source) : handleWithFaults(pipeline, source, faults),
    }));
    app.route({
      method: atPath.some(({ request }) => request !== undefined) ? 'POST' : ['GET', 'HEAD'],
      url: routeOf(path),
      schema: documentEndpoint(atPath[0]!),
      // The handler compresses, and keeps the result.
      compress: false,
      onRequest(request, _reply, done) {
        requireKey(request);
        done();
      },
      handler(request, reply) {
        // Lists at one path differ in the parameters that they declare.
        const query = Object.assign(
          request.query as Record<string, unknown>,
          request.params,
          valuesInBody(atPath[0]!, request.body),
        );
        const list = lists.find(({ fixed }) => fixed.every(([name, value]) => query[name] === value)) ?? lists[0]!;
        return list.handle(request, reply);
      },
    });
  }
}

function routeOf(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}

/** Returns the parameters that a request has in its body, as texts. */
function valuesInBody(pipeline: AnyPipeline, body: unknown): Record<string, string> {
  const values = listParameters(parametersOf(pipeline))
    .map(({ name }) => name)
    .filter((name) => name.startsWith('/'))
    .map((name) => [name, readPointer(body, name)] as const)
    .filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(values.map(([name, value]) => [name, String(value)]));
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

function checkRequest(
  { is404, method, raw, routeOptions }: FastifyRequest,
  reply: FastifyReply,
  posts: ReadonlySet<string>,
): void {
  const { headers, rawHeaders, url = '/' } = raw;
  const isLarge = Number(headers['content-length'] ?? 0) > limits.maxBodyBytes;
  // The service doesn't read bodies. Reusing the connection would require receiving a large body completely.
  if (headers['transfer-encoding'] !== undefined || isLarge) reply.header('connection', 'close');
  // A proxy may use the other Host (RFC 9112, section 3.2).
  if (rawHeaders.filter((name, place) => place % 2 === 0 && name.toLowerCase() === 'host').length > 1)
    throw new Problem(400, 'The header Host is repeated. Send it once.');
  if (url.length > limits.maxUrlLength)
    throw new Problem(414, `The URL is longer than ${limits.maxUrlLength} characters.`);
  const isPost = method === 'POST' && posts.has(routeOptions.url ?? '');
  if (method !== 'GET' && method !== 'HEAD' && !isPost) {
    const allow = 'GET, HEAD';
    throw new Problem(405, `${method} is not allowed. Use one of ${allow}.`, { headers: { allow } });
  }
  if (is404) throw new Problem(404, 'The path does not exist. The page / shows all paths.');
  const detail = `The request body is larger than ${limits.maxBodyBytes} bytes. Send the request without a body.`;
  if (isLarge) throw new Problem(413, detail);
}

const defaultAbout: About = {
  title: 'Data service',
  description: 'Records of the endpoints below.',
  auth: { header: 'x-api-key' },
};
