/** The pages and files beside the data endpoints: what a browser, a monitor and a BI tool ask for. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AnyPipeline } from '../pipeline.ts';
import { jsonType } from './data-endpoint.ts';
import { retryAfterBusy } from './limits.ts';
import { dictionaryPage, docsPage, homePage, pagePolicy } from './pages.ts';
import { Problem } from './problem.ts';
import { type ServedSite, tableFormats } from './served-site.ts';

interface SiteOptions {
  readonly pipelines: readonly AnyPipeline[];
  readonly site?: ServedSite | undefined;
  /** The document at /openapi.json. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly now: () => Date;
  /** Receives the error of a table whose response was cut off. */
  readonly onFailure: ((error: unknown) => void) | undefined;
  readonly requireKey: (request: FastifyRequest) => void;
}

const noSnapshot = 'This service serves records of its own and no snapshot; only "rekap serve --warehouse" has this.';

/** @param app Gets the routes. Those of tables need the key, the others are open. */
export function addSite(app: FastifyInstance, options: SiteOptions): void {
  const { pipelines, site, document, now, requireKey } = options;
  const open = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void =>
    void app.route({ method: ['GET', 'HEAD'], url, config: { rateLimit: false }, handler });
  const page = (reply: FastifyReply, text: string | Buffer) =>
    reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': pagePolicy,
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
      })
      .send(text);
  const json = (reply: FastifyReply, value: unknown) =>
    reply.headers({ 'content-type': jsonType, 'cache-control': 'no-cache' }).send(JSON.stringify(value));

  open('/', async (request, reply) => {
    const wantsPage = /text\/html/.test(request.headers.accept ?? '');
    reply.header('vary', 'accept');
    return wantsPage
      ? page(reply, homePage({ pipelines, snapshot: site?.snapshot() ?? null, now: now() }))
      : json(reply, { service: 'Electoral voter data', openapi: '/openapi.json', docs: '/docs' });
  });
  open('/health', async (_, reply) => json(reply, { status: 'ok', ...describeAge(site, now()) }));
  const openapi = Buffer.from(JSON.stringify(document));
  const docs = Buffer.from(docsPage(document));
  open('/openapi.json', async (_, reply) =>
    reply.headers({ 'content-type': jsonType, 'cache-control': 'no-cache' }).send(openapi),
  );
  open('/docs', async (_, reply) => page(reply, docs));
  open('/report', async (_, reply) => {
    const report = (await site?.report()) ?? null;
    if (report === null) throw new Problem(404, noSnapshot);
    return page(reply, report);
  });
  open('/metrics', async (_, reply) => {
    if (site === undefined) throw new Problem(404, noSnapshot);
    const text = await site.metrics();
    return reply
      .headers({ 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' })
      .send(text);
  });
  open('/dictionary', async (_, reply) => {
    if (site === undefined) throw new Problem(404, noSnapshot);
    return page(reply, dictionaryPage(await site.dictionary()));
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/tables/:file',
    onRequest: async (request) => requireKey(request),
    handler: async (request, reply) => sendTable(options, request, reply),
  });
}

/** How old the data are, in whole seconds since the run that read them began. */
function describeAge(site: ServedSite | undefined, now: Date): object {
  if (site === undefined) return {};
  const { id, readAt } = site.snapshot();
  const age = Math.max(0, Math.round((now.getTime() - readAt.getTime()) / 1000));
  return { snapshot: id, read_at: readAt.toISOString(), age_seconds: age };
}

async function sendTable(
  { site, onFailure }: SiteOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (site === undefined) throw new Problem(404, noSnapshot);
  const { file } = request.params as { file: string };
  const [, name = '', ending = ''] = /^(\w+)\.(\w+)$/.exec(file) ?? [];
  const format = tableFormats.find((known) => known === ending);
  const table = format === undefined ? null : await site.table(name, format);
  if (table === null)
    throw new Problem(
      404,
      `There is no such table; /dictionary names all, and the ending is one of ${tableFormats.join(', ')}.`,
    );
  const etag = `"${table.etag}"`;
  const caching = { etag, 'cache-control': 'private, no-cache' };
  const known = request.headers['if-none-match'];
  if (known === '*' || known?.includes(etag) === true) return reply.code(304).headers(caching).send();
  // HTTP/1.0 ends a body by closing the connection, so that a table which is cut off would look whole.
  if (table.bytes === null && request.raw.httpVersion === '1.0')
    throw new Problem(
      505,
      'CSV and Arrow tables need HTTP/1.1; a proxy in front may have to be told (proxy_http_version).',
    );
  const stream = request.method === 'HEAD' ? undefined : await table.open();
  if (stream === null)
    throw new Problem(503, 'Too many tables are being made; Retry-After says when to try again.', {
      headers: { 'retry-after': String(retryAfterBusy) },
    });
  reply.headers({
    ...caching,
    'content-type': table.type,
    'content-disposition': `attachment; filename="${name}.${ending}"`,
  });
  // The response has begun, so that only the log can say why it is cut off.
  stream?.once('error', (error) => onFailure?.(error));
  if (table.bytes !== null) reply.header('content-length', table.bytes);
  return reply.send(stream);
}
